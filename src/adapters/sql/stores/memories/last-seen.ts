import { type SQL, sql } from 'drizzle-orm'
import type { MemorySummary } from '../../../../domain/recall/memory'
import type { Clock } from '../../../../ports/clock'
import type { LastSeen, Visit, Visitor } from '../../../../ports/memories'
import { Batch } from '../../core/batch'
import type { Row, SqlConnection } from '../../core/connection'
import { countOf, each, json, num, onlyRow, str } from '../../core/rows'
import { inProject, listed } from '../../core/visibility'
import { kindOf, successorOf } from '../../tables/entries/entry-rows'
import { layerEntries } from '../../tables/entries/project-scope-rows'
import { supersededBy } from '../../tables/links/links'
import { previewOf } from '../../tables/texts/long-texts'

/** Maximum number of last-seen rows of one owner; each unknown project or session would add another. */
const MAX_POSITIONS = 1_000
/** A store gets its time before it commits; the ID decides whether it was before the last-seen row. */
const LONGEST_STORE = 600_000
/** Newest memories of each layer that are searched for new ones. */
const RECENT_OF_LAYER = 1_000

const toGlimpse = (row: Row): MemorySummary => ({
  id: num(row, 'id'),
  kind: kindOf(row, 'kind'),
  content: str(row, 'content'),
  createdAt: num(row, 'created_at'),
  tags: json<string[]>(row, 'tags'),
  ...successorOf(row),
})

const toMark = (row: Row) => ({
  last: row.seen_at === null ? null : { seenAt: num(row, 'seen_at'), lastId: num(row, 'last_id') },
  newestId: num(row, 'newest_id'),
})

/** Creates the store of last-seen positions over any SQL connection. */
export function createSqlLastSeen(connection: SqlConnection, clock: Clock): LastSeen {
  const { dialect } = connection

  const ofOwner = (visitor: Visitor): SQL => sql`m.org = ${visitor.org} AND m.owner = ${visitor.owner ?? ''}`

  /**
   * Returns a column of the session's own row, otherwise of the newest row of that owner and agent; null for the first visit.
   */
  const mark = (visitor: Visitor, { project, sessionId }: Visit, column: 'seen_at' | 'last_id'): SQL => {
    const name = sql.raw(`m.${column}`)
    const here = sql`${ofOwner(visitor)} AND m.agent = ${visitor.agent ?? ''} AND m.project = ${project ?? ''}`
    const newest = sql`(SELECT ${name} FROM last_seen m WHERE ${here} ORDER BY m.seen_at DESC LIMIT 1)`
    if (sessionId === null) return newest
    return sql`coalesce((SELECT ${name} FROM last_seen m WHERE ${here} AND m.session = ${sessionId}), ${newest})`
  }

  /** Returns memories of one layer, of a project if one is given, with a further condition. */
  const inLayer = (visitor: Visitor, project: string | null, layer: 2 | 3, columns: SQL, condition: SQL): SQL => {
    const ofProject = project === null ? sql`` : sql` AND ${inProject(dialect, visitor, project, sql`e.project`)}`
    const from = layer === 3 && project !== null ? dialect.plan.entriesOfProject : layerEntries(dialect, project, layer)
    return sql`SELECT ${columns} FROM ${from}
      WHERE ${listed(dialect, visitor, clock.now())} AND e.layer = ${sql.raw(String(layer))}${ofProject} AND ${condition}`
  }

  /**
   * Returns whether an entry is new since the last visit. @param isFirst result for the first visit: all entries, or none
   */
  const isSince = (visitor: Visitor, visit: Visit, isFirst: 0 | null): SQL => {
    const [seenAt, lastId] = (['seen_at', 'last_id'] as const).map((column) => mark(visitor, visit, column))
    const [earliest, lowest] = [seenAt, lastId].map((value) => (isFirst === null ? value : sql`coalesce(${value}, 0)`))
    return sql`e.created_at >= ${earliest} - ${sql.raw(String(LONGEST_STORE))} AND e.id > ${lowest}`
  }

  /**
   * Returns tables up to `newest`: the newest memories; captured ones come last, and are only read if the others are too few.
   */
  function newest(visitor: Visitor, visit: Visit, most: number): SQL {
    const captured = sql`CASE WHEN coalesce(${dialect.textAt(['source'])}, '') = 'system_auto' THEN 1 ELSE 0 END AS captured`
    const columns = sql`e.id, e.created_at, ${captured}`
    const limit = sql.raw(String(most))
    const inOrder = sql`recent.created_at DESC, recent.id DESC`
    const those = (isCaptured: 0 | 1, wanted: SQL): SQL => {
      const layers = ([2, 3] as const).map((layer) => {
        const all = inLayer(visitor, visit.project, layer, columns, isSince(visitor, visit, 0))
        const first = sql`${all} ORDER BY e.created_at DESC, e.id DESC LIMIT ${sql.raw(String(RECENT_OF_LAYER))}`
        const found = sql`SELECT recent.* FROM (${first}) AS recent WHERE recent.captured = ${sql.raw(String(isCaptured))}
          ${dialect.plan.asListed(inOrder)} LIMIT ${wanted}`
        return sql`SELECT * FROM (${found}) AS ${sql.raw(`layer_${layer}`)}`
      })
      return sql.join(layers, sql` UNION ALL `)
    }
    return sql`deliberate AS MATERIALIZED (${those(0, limit)}),
      captured AS MATERIALIZED (${those(1, sql`CASE WHEN (SELECT count(*) FROM deliberate) < ${limit} THEN ${limit} ELSE 0 END`)}),
      newest AS (
        SELECT recent.id FROM (SELECT * FROM deliberate UNION ALL SELECT * FROM captured) AS recent
        ORDER BY recent.captured, ${inOrder} LIMIT ${most}
      )`
  }

  return {
    async since(visitor, visit, most) {
      const newestOfOrg = sql`
        SELECT e.id FROM entries e WHERE ${dialect.plan.rangeOf(sql`e.org`, sql`${visitor.org}`)} AND e.listed = 1
        ORDER BY ${dialect.plan.inOrder(sql`e.org`, sql`e.id DESC`)} LIMIT 1`
      const since = ([2, 3] as const).map((layer) =>
        inLayer(visitor, visit.project, layer, sql`e.id`, isSince(visitor, visit, null)),
      )
      const batch = new Batch()
      const mine = batch.add(
        sql`
          SELECT ${mark(visitor, visit, 'seen_at')} AS seen_at, ${mark(visitor, visit, 'last_id')} AS last_id,
            coalesce((${newestOfOrg}), 0) AS newest_id`,
        onlyRow(toMark),
      )
      const added = batch.add(sql`SELECT count(*) AS n FROM (${sql.join(since, sql` UNION ALL `)}) AS since`, countOf())
      const recent = batch.add(
        sql`
          WITH ${newest(visitor, visit, most.memories)}
          SELECT e.id, e.kind, e.created_at, e.tags, ${previewOf(dialect, most.content)} AS content,
            ${supersededBy(dialect, visitor, clock.now())} AS superseded_by
          FROM newest ${dialect.plan.follow('entries', 'e', sql`e.id = newest.id`)}
          ORDER BY e.created_at, e.id`,
        each(toGlimpse),
      )
      const result = await batch.run(connection)
      return { ...result.of(mine), added: result.of(added), recent: result.of(recent) }
    },

    async note(visitor, { project, sessionId }, { seenAt, lastId }) {
      const later = (column: string) => {
        const [old, given] = [sql.raw(`last_seen.${column}`), sql.raw(`excluded.${column}`)]
        return sql`${sql.raw(column)} = CASE WHEN ${given} > ${old} THEN ${given} ELSE ${old} END`
      }
      const { org, owner, agent } = visitor
      await new Batch(
        sql`
          INSERT INTO last_seen (org, owner, agent, project, session, seen_at, last_id)
          VALUES (${org}, ${owner ?? ''}, ${agent ?? ''}, ${project ?? ''}, ${sessionId ?? ''}, ${seenAt}, ${lastId})
          ON CONFLICT (org, owner, agent, project, session) DO UPDATE SET ${later('seen_at')}, ${later('last_id')}`,
        sql`
          DELETE FROM last_seen
          WHERE org = ${org} AND owner = ${owner ?? ''} AND (agent, project, session) IN (
            SELECT m.agent, m.project, m.session FROM last_seen m WHERE ${ofOwner(visitor)}
            ORDER BY m.seen_at DESC LIMIT ${MAX_POSITIONS} OFFSET ${MAX_POSITIONS}
          )`,
      ).run(connection)
    },
  }
}
