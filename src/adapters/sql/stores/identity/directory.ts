import { type SQL, sql } from 'drizzle-orm'
import { IN_FLIGHT, WORK_KINDS } from '../../../../domain/entry/work'
import type { Scope } from '../../../../domain/identity/scope'
import { compareText, unstorable } from '../../../../domain/text'
import type { Clock } from '../../../../ports/clock'
import type { Directory, EndedSessions, OverviewRequest } from '../../../../ports/directory'
import { Batch, readOne, runOne } from '../../core/batch'
import type { SqlConnection } from '../../core/connection'
import type { IndexedFields, SqlDialect } from '../../core/dialect'
import { asRows, countOf, each, howMany, num, str, textsOf } from '../../core/rows'
import { inProject, listed } from '../../core/visibility'
import { ENTRY_COLUMNS, kindOf, readWithin, toEntry } from '../../tables/entries/entry-rows'
import type { ReadContext } from '../../tables/entries/read-statements'
import {
  LAST,
  NAMES,
  tagNamesStatement,
  tailStatement,
  tailTotalStatement,
  threadNamesStatement,
  threadPageStatement,
} from '../../tables/identity/directory-statements'
import { previewText } from '../../tables/texts/long-texts'

/** Statements that read names of projects, and counts of their entries. */

/** Returns the time of the newest listed entry of a project, by the index of each layer. */
const lastUse = ({ dialect, scope, now }: ReadContext, project: SQL): SQL => {
  const ofLayer = (layer: number): SQL => sql`coalesce((
    SELECT e.created_at FROM entries e
    WHERE e.project = ${project} AND e.layer = ${sql.raw(String(layer))} AND ${listed(dialect, scope, now)}
    ORDER BY e.created_at DESC LIMIT 1), 0)`
  return sql`${ofLayer(1)} AS used_1, ${ofLayer(2)} AS used_2, ${ofLayer(3)} AS used_3`
}

/**
 * Returns projects whose names have a prefix, with the last use in each layer (0 for none). It steps from name to name along an index, so
 * that the size of a project does not matter. The projects of a narrowed scope are known.
 */
function projectNamesStatement(context: ReadContext, prefix: string): SQL {
  const { dialect, scope } = context
  if (scope.projects !== null) {
    const known = scope.projects.filter((project) => project.startsWith(prefix))
    return sql`
      SELECT names.value AS project, ${lastUse(context, sql`names.value`)}
      FROM ${dialect.jsonRows(sql`${JSON.stringify(known)}`)} names`
  }
  const next = (condition: SQL): SQL => sql`(
    SELECT e.project FROM entries e WHERE e.org = ${scope.org} AND e.listed = 1 AND ${condition} AND e.project < ${prefix + LAST}
    ORDER BY e.project LIMIT 1)`
  return sql`
    WITH RECURSIVE names (project, place) AS (
      SELECT ${next(sql`e.project >= ${prefix}`)}, 1
      UNION ALL
      SELECT ${next(sql`e.project > names.project`)}, names.place + 1 FROM names
      WHERE names.project IS NOT NULL AND names.place < ${sql.raw(String(NAMES))}
    )
    SELECT names.project, ${lastUse(context, sql`names.project`)}
    FROM names WHERE names.project IS NOT NULL`
}

/** Returns the counts of a project, from a covering index. */
const projectCountsStatement = ({ dialect, scope, now }: ReadContext, project: string): SQL => sql`
  SELECT e.kind, count(*) AS count FROM entries e
  WHERE ${listed(dialect, scope, now)} AND ${inProject(dialect, scope, project, sql`e.project`)}
  GROUP BY e.kind`

/** Selects IDs first, so that the texts of skipped entries are not read. */
const chosen = (dialect: SqlDialect, ids: SQL, previewLength: number, order: SQL): SQL => sql`
  WITH chosen AS (${ids})
  SELECT ${ENTRY_COLUMNS}, ${previewText(dialect, previewLength)}
  FROM chosen ${dialect.plan.follow('entries', 'e', sql`e.id = chosen.id`)}
  ORDER BY ${order}, e.id DESC`

function newestDecisionsStatement(
  { dialect, scope, now }: ReadContext,
  project: string,
  { decisions, previewLength }: OverviewRequest,
): SQL {
  const ids = sql`
    SELECT e.id FROM entries e
    WHERE ${listed(dialect, scope, now)} AND ${inProject(dialect, scope, project, sql`e.project`)} AND e.kind = 'decision'
      AND NOT ${dialect.plan.exists(sql`
        SELECT 1 FROM links l ${dialect.plan.follow('entries', 'later', sql`later.id = l.from_id`)}
        WHERE l.to_id = e.id AND l.relation = 'supersedes' AND ${dialect.plan.filterOnly(sql`l.org = ${scope.org}`)}
          AND ${listed(dialect, scope, now, 'later')}`)}
    ORDER BY e.created_at DESC, e.id DESC LIMIT ${decisions}`
  return chosen(dialect, ids, previewLength, sql`e.created_at DESC`)
}

const quoted = (words: readonly string[]): SQL => sql.raw(words.map((word) => `'${word}'`).join(', '))

export function inFlightStatement(
  { dialect, scope, now }: ReadContext,
  project: string,
  { inFlight, previewLength }: OverviewRequest,
): SQL {
  const ids = sql`
    SELECT e.id FROM entries e
    WHERE ${listed(dialect, scope, now)} AND ${inProject(dialect, scope, project, sql`e.project`)}
      AND e.kind IN (${quoted(WORK_KINDS)}) AND e.status IN (${quoted(IN_FLIGHT)})
    ORDER BY e.updated_at DESC, e.id DESC LIMIT ${inFlight}`
  return chosen(dialect, ids, previewLength, sql`e.updated_at DESC`)
}

/** These reads do not filter by metadata. */
const NO_FIELDS: IndexedFields = new Map()

/** Creates the directory of threads and projects over any SQL connection. */
export function createSqlDirectory(connection: SqlConnection, clock: Clock): Directory {
  const { dialect } = connection
  const reading = (scope: Scope): ReadContext => ({ dialect, scope, now: clock.now(), indexedFields: NO_FIELDS })

  return {
    async threads(scope, after, limit) {
      return runOne(
        connection,
        threadPageStatement(reading(scope), after, limit),
        each((row) => ({
          threadId: str(row, 'thread_id'),
          lastSecond: num(row, 'last_second'),
          lastId: num(row, 'last_id'),
          entries: num(row, 'entries'),
        })),
      )
    },

    async threadsBeginning(scope, prefix, limit) {
      if (unstorable(prefix) !== null) return []
      if (prefix === '') return (await this.threads(scope, null, limit)).map(({ threadId }) => threadId)
      return runOne(connection, threadNamesStatement(reading(scope), prefix, limit), textsOf('thread_id'))
    },

    async projectsBeginning(scope, prefix, limit) {
      if (unstorable(prefix) !== null) return []
      const named = each((row) => ({
        name: str(row, 'project'),
        used: Math.max(num(row, 'used_1'), num(row, 'used_2'), num(row, 'used_3')),
      }))
      return (await runOne(connection, projectNamesStatement(reading(scope), prefix), named))
        .filter(({ used }) => used > 0)
        .toSorted((a, b) => b.used - a.used || compareText(a.name, b.name))
        .slice(0, limit)
        .map(({ name }) => name)
    },

    async tagsBeginning(scope, prefix, limit) {
      if (unstorable(prefix) !== null) return []
      return runOne(connection, tagNamesStatement(reading(scope), prefix, limit), textsOf('tag'))
    },

    async tail(scope, threadId, limit, maxBytes) {
      const context = reading(scope)
      const batch = new Batch()
      const tail = batch.add(tailStatement(context, threadId, limit, maxBytes), asRows)
      const total = batch.add(tailTotalStatement(context, threadId), countOf('total'))
      const result = await batch.run(connection)
      return { ...(await readWithin(result.of(tail))), total: result.of(total) }
    },

    async project(scope, project, request) {
      const context = reading(scope)
      const batch = new Batch()
      const counts = batch.add(
        projectCountsStatement(context, project),
        each((row) => ({ kind: kindOf(row, 'kind'), count: num(row, 'count') })),
      )
      const decisions = batch.add(newestDecisionsStatement(context, project, request), each(toEntry))
      const inFlight = batch.add(inFlightStatement(context, project, request), each(toEntry))
      const result = await batch.run(connection)
      if (result.of(counts).length === 0) return null
      return {
        counts: result.of(counts).toSorted((a, b) => b.count - a.count || compareText(a.kind, b.kind)),
        decisions: result.of(decisions),
        inFlight: result.of(inFlight),
      }
    },
  }
}

/**
 * Prefix of rows in `settings`: followed by the nonce of the session, with the time at which the session would have expired.
 */
const PREFIX = 'ended session '
/** The next name, in byte order, after all ended sessions. */
const BEHIND = 'ended session!'

/** Creates the store of ended sessions over any SQL connection. Each addition removes expired ones. */
export const createSqlEndedSessions = (connection: SqlConnection, clock: Clock): EndedSessions => ({
  async has(nonce) {
    return (await readOne(connection, sql`SELECT 1 AS one FROM settings WHERE name = ${PREFIX + nonce}`, howMany)) > 0
  },

  async add(nonce, until) {
    await new Batch(
      sql`DELETE FROM settings WHERE name > ${PREFIX} AND name < ${BEHIND} AND CAST(value AS bigint) < ${clock.now()}`,
      sql`INSERT INTO settings (name, value) VALUES (${PREFIX + nonce}, ${String(until)}) ON CONFLICT (name) DO NOTHING`,
    ).run(connection)
  },
})
