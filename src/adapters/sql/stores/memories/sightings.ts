import { type SQL, sql } from 'drizzle-orm'
import type { Kind } from '../../../../domain/entry/kind'
import type { Scope } from '../../../../domain/identity/scope'
import type { Glimpse } from '../../../../domain/recall/memory'
import type { Clock } from '../../../../ports/clock'
import type { Sightings } from '../../../../ports/sightings'
import type { Row, SqlConnection } from '../../core/connection'
import { listed } from '../../core/visibility'
import { beginningOf } from '../../tables/texts/long-texts'

/** Marks of one owner; each call of an unknown project would leave another. */
const MOST_MARKS = 1_000
/** A store takes its time before it sets it, and commits later; the id says whether it was before the mark. */
const LONGEST_STORE = 600_000

const toGlimpse = (row: Row): Glimpse => ({
  id: Number(row.id),
  kind: row.kind as Kind,
  content: row.content as string,
  createdAt: Number(row.created_at),
  tags: JSON.parse(row.tags as string) as string[],
})

/** Last-seen marks over any SQL connection. */
export function createSqlSightings(connection: SqlConnection, clock: Clock): Sightings {
  const { dialect } = connection

  const marks = (scope: Scope): SQL => sql`m.org = ${scope.org} AND m.owner = ${scope.owner ?? ''}`
  const mark = (scope: Scope, project: string | null, column: string): SQL =>
    sql`(SELECT m.${sql.raw(column)} FROM last_seen m WHERE ${marks(scope)} AND m.project = ${project ?? ''})`

  /** Each layer by itself, so that an index leads to what came since. */
  const added = (scope: Scope, project: string | null, columns: SQL): SQL => {
    const ofProject = project === null ? sql`` : sql` AND e.project = ${project}`
    const inLayer = (layer: number) => sql`
      SELECT ${columns} FROM entries e
      WHERE ${listed(dialect, scope, clock.now())} AND e.layer = ${sql.raw(String(layer))}${ofProject}
        AND e.created_at >= ${mark(scope, project, 'seen_at')} - ${sql.raw(String(LONGEST_STORE))}
        AND e.id > ${mark(scope, project, 'last_id')}`
    return sql`${inLayer(2)} UNION ALL ${inLayer(3)}`
  }

  return {
    async since(scope, project, most) {
      const newest = sql`
        SELECT e.id FROM entries e WHERE ${dialect.rangeOf(sql`e.org`, sql`${scope.org}`)} AND e.listed = 1
        ORDER BY ${dialect.inOrder(sql`e.org`, sql`e.id DESC`)} LIMIT 1`
      const [here, counted, rows = []] = await connection.batch([
        sql`
          SELECT ${mark(scope, project, 'seen_at')} AS seen_at, ${mark(scope, project, 'last_id')} AS last_id,
            coalesce((${newest}), 0) AS newest_id`,
        sql`SELECT count(*) AS added FROM (${added(scope, project, sql`e.id`)}) AS since`,
        sql`
          WITH newest AS (
            SELECT since.id FROM (${added(scope, project, sql`e.id, e.created_at`)}) AS since
            ORDER BY since.created_at DESC, since.id DESC LIMIT ${most.memories}
          )
          SELECT e.id, e.kind, e.created_at, e.tags, ${beginningOf(dialect, most.content)} AS content
          FROM newest ${dialect.follow('entries', 'e', sql`e.id = newest.id`)}
          ORDER BY e.created_at, e.id`,
      ])
      const row = here?.[0] as Row
      return {
        last: row.seen_at === null ? null : { seenAt: Number(row.seen_at), lastId: Number(row.last_id) },
        newestId: Number(row.newest_id),
        added: Number(counted?.[0]?.added ?? 0),
        recent: rows.map(toGlimpse),
      }
    },

    async note(scope, project, { seenAt, lastId }) {
      const later = (column: string) => {
        const [old, given] = [sql.raw(`last_seen.${column}`), sql.raw(`excluded.${column}`)]
        return sql`${sql.raw(column)} = CASE WHEN ${given} > ${old} THEN ${given} ELSE ${old} END`
      }
      await connection.batch([
        sql`
          INSERT INTO last_seen (org, owner, project, seen_at, last_id)
          VALUES (${scope.org}, ${scope.owner ?? ''}, ${project ?? ''}, ${seenAt}, ${lastId})
          ON CONFLICT (org, owner, project) DO UPDATE SET ${later('seen_at')}, ${later('last_id')}`,
        sql`
          DELETE FROM last_seen
          WHERE org = ${scope.org} AND owner = ${scope.owner ?? ''} AND project IN (
            SELECT m.project FROM last_seen m WHERE ${marks(scope)}
            ORDER BY m.seen_at DESC, m.project DESC LIMIT ${MOST_MARKS} OFFSET ${MOST_MARKS}
          )`,
      ])
    },
  }
}
