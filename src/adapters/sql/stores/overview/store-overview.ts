import { type SQL, sql } from 'drizzle-orm'
import type { Scope } from '../../../../domain/identity/scope'
import type { Counted, LinkedEntry } from '../../../../domain/statistics'
import { compareCodePoints } from '../../../../domain/text'
import { DAY_MS, type Millis } from '../../../../domain/time'
import type { Clock } from '../../../../ports/clock'
import type { ActivityRequest, StoreOverview } from '../../../../ports/directory'
import { readOne } from '../../core/batch'
import type { Row, SqlConnection } from '../../core/connection'
import type { SqlDialect } from '../../core/dialect'
import { asRows, each, num, str, strOrNull } from '../../core/rows'
import { listed, visible } from '../../core/visibility'
import { previewOf } from '../../tables/texts/long-texts'

/** Reads of the dashboard over any SQL connection; each statement reads a bounded number of rows. */
interface Context {
  readonly dialect: SqlDialect
  readonly scope: Scope
  readonly now: Millis
}

const number = (value: number): SQL => sql.raw(String(value))

/**
 * Returns rows with `day` (NULL for totals), and `kind`, `agent`, `project` (NULL except for stored entries), each with `count`.
 */
function activityStatement({ dialect, scope, now }: Context, { newest, since }: ActivityRequest): SQL {
  const day = sql`CAST(created_at / ${number(DAY_MS)} AS BIGINT)`
  return sql`
    WITH newest AS MATERIALIZED (
      SELECT e.created_at, e.kind, coalesce(e.agent, '') AS agent, coalesce(e.project, '') AS project
      FROM entries e WHERE ${listed(dialect, scope, now)}
      ORDER BY e.created_second DESC, e.id DESC LIMIT ${number(newest)}
    )
    SELECT NULL AS day, kind, agent, project, count(*) AS count FROM newest GROUP BY kind, agent, project
    UNION ALL SELECT ${day}, NULL, NULL, NULL, count(*) FROM newest WHERE created_at >= ${number(since)} GROUP BY ${day}`
}

/** Returns the names of a column with the sums of their counts, largest first. */
function summed(rows: readonly Row[], column: 'kind' | 'agent' | 'project'): Counted[] {
  const sums = new Map<string, number>()
  for (const row of rows) {
    const name = String(row[column])
    sums.set(name, (sums.get(name) ?? 0) + num(row, 'count'))
  }
  const all = [...sums].map(([name, count]) => ({ name, count }))
  return all.sort((a, b) => b.count - a.count || compareCodePoints(a.name, b.name))
}

const isoDay = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10)

/** Maximum code points of a name. */
const NAME = 200
/** Links that are read in each direction. */
const SCANNED_LINKS = 500

/** Returns both ends of links, newest first, if the scope may read both. */
function linksStatement({ dialect, scope, now }: Context, id: number, limit: number): SQL {
  const ofOrg = sql`l.org = ${scope.org}`
  return sql`
    SELECT e.id, e.title, e.kind, e.project, link.relation, link.direction, ${previewOf(dialect, NAME)} AS text
    FROM (
      SELECT * FROM (
        SELECT DISTINCT l.relation, 'outgoing' AS direction, l.to_id AS id FROM links l
        WHERE ${ofOrg} AND l.from_id = ${id} ORDER BY l.to_id DESC LIMIT ${number(SCANNED_LINKS)}
      ) AS outgoing
      UNION ALL SELECT * FROM (
        SELECT DISTINCT l.relation, 'incoming' AS direction, l.from_id AS id FROM links l
        WHERE l.to_id = ${id} AND ${dialect.plan.filterOnly(ofOrg)} ORDER BY l.from_id DESC LIMIT ${number(SCANNED_LINKS)}
      ) AS incoming
    ) AS link ${dialect.plan.follow('entries', 'e', sql`e.id = link.id`)}
    WHERE ${visible(dialect, scope, now)}
      AND EXISTS (SELECT 1 FROM entries o WHERE o.id = ${id} AND ${visible(dialect, scope, now, 'o')})
    ORDER BY e.id DESC, link.direction, link.relation LIMIT ${number(limit)}`
}

const toLinked = (row: Row): LinkedEntry => ({
  id: num(row, 'id'),
  title: strOrNull(row, 'title'),
  kind: row.kind as LinkedEntry['kind'],
  project: strOrNull(row, 'project'),
  relation: str(row, 'relation'),
  direction: row.direction as LinkedEntry['direction'],
  text: str(row, 'text'),
})

export function createSqlStoreOverview(connection: SqlConnection, clock: Clock): StoreOverview {
  const contextOf = (scope: Scope): Context => ({ dialect: connection.dialect, scope, now: clock.now() })
  return {
    async activity(scope, request) {
      const rows = await readOne(connection, activityStatement(contextOf(scope), request), asRows)
      const stored = rows.filter(({ day }) => day === null)
      const agents = summed(stored, 'agent')
      return {
        entries: stored.reduce((sum, { count }) => sum + Number(count), 0),
        agentCount: agents.filter(({ name }) => name !== '').length,
        days: rows
          .filter(({ day }) => day !== null)
          .toSorted((a, b) => Number(a.day) - Number(b.day))
          .map(({ day, count }) => ({ name: isoDay(Number(day)), count: Number(count) })),
        agents: agents.slice(0, request.names),
        kinds: summed(stored, 'kind').slice(0, request.names),
        projects: summed(stored, 'project').slice(0, request.names),
      }
    },

    async prefixes(scope, { newest, codePoints }) {
      const { dialect, now } = contextOf(scope)
      return readOne(
        connection,
        sql`SELECT ${previewOf(dialect, codePoints)} AS text FROM entries e WHERE ${listed(dialect, scope, now)}
          ORDER BY e.created_second DESC, e.id DESC LIMIT ${number(newest)}`,
        each((row) => str(row, 'text')),
      )
    },

    async links(scope, id, limit) {
      return readOne(connection, linksStatement(contextOf(scope), id, limit), each(toLinked))
    },
  }
}
