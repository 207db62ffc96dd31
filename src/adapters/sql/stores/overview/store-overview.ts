import { type SQL, sql } from 'drizzle-orm'
import type { Scope } from '../../../../domain/identity/scope'
import type { Counted, DeletedEntry, GraphNode, LinkedEntry } from '../../../../domain/statistics'
import { compareCodePoints } from '../../../../domain/text'
import { DAY_MS, type Millis } from '../../../../domain/time'
import type { Clock } from '../../../../ports/clock'
import type { ActivityRequest, StoreOverview } from '../../../../ports/directory'
import { Batch, readOne } from '../../core/batch'
import type { Row, SqlConnection } from '../../core/connection'
import type { SqlDialect } from '../../core/dialect'
import { asRows, each, num, onlyRow, str, strOrNull } from '../../core/rows'
import { listed, visible, wasChangeable } from '../../core/visibility'
import { previewOf } from '../../tables/texts/long-texts'
import { retainedText } from '../../tables/writes/history-statements'

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

/** Links of all direct neighbors that are read in each direction, in addition to those with the entry itself. */
const SCANNED_OF_NEAR = 200

/** Returns one row for each visible end of each link of the direct neighbors. */
function graphStatement({ dialect, scope, now }: Context, id: number, near: number): SQL {
  const ofOrg = sql`l.org = ${scope.org}`
  const linkOfNear = (on: SQL): SQL => sql`SELECT l.from_id, l.relation, l.to_id FROM near n
    ${dialect.plan.follow('links', 'l', on)} WHERE ${dialect.plan.filterOnly(ofOrg)}`
  return sql`
    WITH near AS MATERIALIZED (
      SELECT DISTINCT e.id FROM (
        SELECT * FROM (SELECT l.to_id AS id FROM links l WHERE ${ofOrg} AND l.from_id = ${id}
          ORDER BY l.to_id DESC LIMIT ${number(SCANNED_LINKS)}) AS outgoing
        UNION ALL SELECT * FROM (SELECT l.from_id AS id FROM links l WHERE l.to_id = ${id} AND ${dialect.plan.filterOnly(ofOrg)}
          ORDER BY l.from_id DESC LIMIT ${number(SCANNED_LINKS)}) AS incoming
      ) AS link ${dialect.plan.follow('entries', 'e', sql`e.id = link.id`)}
      WHERE ${visible(dialect, scope, now)} AND e.id <> ${id}
        AND EXISTS (SELECT 1 FROM entries o WHERE o.id = ${id} AND ${visible(dialect, scope, now, 'o')})
      ORDER BY e.id DESC LIMIT ${number(near)}
    ), edges AS MATERIALIZED (
      SELECT * FROM (SELECT l.from_id, l.relation, l.to_id FROM near n
        ${dialect.plan.follow('links', 'l', sql`${ofOrg} AND l.from_id = n.id`)} LIMIT ${number(SCANNED_OF_NEAR)}) AS outgoing
      UNION SELECT * FROM (${linkOfNear(sql`l.to_id = n.id`)} LIMIT ${number(SCANNED_OF_NEAR)}) AS incoming
      UNION ${linkOfNear(sql`l.to_id = n.id AND l.from_id = ${id}`)}
      UNION ${linkOfNear(sql`l.to_id = ${id} AND l.from_id = n.id`)}
    ), ends AS (
      SELECT from_id, relation, to_id, from_id AS id FROM edges UNION ALL SELECT from_id, relation, to_id, to_id FROM edges
    )
    SELECT ends.from_id, ends.relation, ends.to_id, e.id, e.title, e.kind, ${previewOf(dialect, NAME)} AS text
    FROM ends ${dialect.plan.follow('entries', 'e', sql`e.id = ends.id`)}
    WHERE ${visible(dialect, scope, now)}
    ORDER BY ends.from_id DESC, ends.to_id DESC, ends.relation, e.id`
}

const toNode = (row: Row): GraphNode => ({
  id: num(row, 'id'),
  title: strOrNull(row, 'title'),
  kind: row.kind as GraphNode['kind'],
  text: str(row, 'text'),
})

/** Retained versions that one call of `deleted` checks. */
const SCANNED_VERSIONS = 2_000

/** Returns the retained versions that are checked, newest first, and those of deleted entries that the scope may restore. */
function deletedStatements({ dialect, scope, now }: Context, before: number | null, limit: number) {
  const below = before === null ? sql`` : sql` AND v.id < ${before}`
  // The condition on the number is that of the index.
  const checked = sql`SELECT v.id, v.deleted FROM entry_versions v WHERE v.org = ${scope.org} AND v.id > 0${below}
    ORDER BY v.id DESC LIMIT ${number(SCANNED_VERSIONS)}`
  return {
    bounds: sql`SELECT min(id) AS lowest, count(*) AS checked FROM (${checked}) AS checked`,
    found: sql`
      SELECT v.id AS place, v.entry_id AS id, v.title, v.kind, v.project, v.thread_id, v.ended_at,
        coalesce(v.ended_agent, v.ended_by) AS ended_by, substr(${retainedText}, 1, ${number(NAME)}) AS text
      FROM (${checked}) AS checked ${dialect.plan.follow('entry_versions', 'v', sql`v.id = checked.id`)}
      WHERE checked.deleted = 1 AND (v.expires_at IS NULL OR v.expires_at > ${now})
        AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.id = v.entry_id)
        AND NOT EXISTS (SELECT 1 FROM entry_versions n WHERE n.entry_id = v.entry_id AND n.version > v.version)
        AND ${dialect.plan.filterOnly(sql`v.org = ${scope.org}`)} AND ${wasChangeable(dialect, scope, 'v')}
      ORDER BY v.id DESC LIMIT ${number(limit)}`,
  }
}

const toDeleted = (row: Row): DeletedEntry & { readonly place: number } => ({
  place: num(row, 'place'),
  id: num(row, 'id'),
  title: strOrNull(row, 'title'),
  kind: row.kind as DeletedEntry['kind'],
  project: strOrNull(row, 'project'),
  threadId: str(row, 'thread_id'),
  text: strOrNull(row, 'text') ?? '',
  deletedAt: num(row, 'ended_at'),
  deletedBy: strOrNull(row, 'ended_by') ?? '',
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

    async graph(scope, id, near) {
      const rows = await readOne(connection, graphStatement(contextOf(scope), id, near), asRows)
      const nodes = new Map(rows.map((row) => [num(row, 'id'), toNode(row)]))
      const edges = rows.map((row) => ({
        from: num(row, 'from_id'),
        to: num(row, 'to_id'),
        relation: str(row, 'relation'),
      }))
      const both = edges.filter(({ from, to }) => from !== to && nodes.has(from) && nodes.has(to))
      const byText = new Map(both.map((edge) => [`${edge.from} ${edge.relation} ${edge.to}`, edge]))
      return { nodes: [...nodes.values()], edges: [...byText.values()] }
    },

    async deleted(scope, { before, limit }) {
      const { found, bounds } = deletedStatements(contextOf(scope), before, limit)
      const batch = new Batch()
      const rows = batch.add(found, each(toDeleted))
      const lowest = batch.add(
        bounds,
        onlyRow((row) => (num(row, 'checked') === SCANNED_VERSIONS ? num(row, 'lowest') : null)),
      )
      const result = await batch.read(connection)
      const listing = result.of(rows)
      const older = listing.length === limit ? (listing.at(-1)?.place ?? null) : result.of(lowest)
      return { entries: listing.map(({ place: _, ...entry }) => entry), older }
    },
  }
}
