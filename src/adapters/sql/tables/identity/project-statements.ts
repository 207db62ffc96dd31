import { type SQL, sql } from 'drizzle-orm'
import { IN_FLIGHT, WORK_KINDS } from '../../../../domain/entry/work'
import type { OverviewRequest } from '../../../../ports/directory'
import type { SqlDialect } from '../../core/dialect'
import { inProject, listed } from '../../core/visibility'
import type { ReadContext } from '../entries/read-statements'
import { ENTRY_COLUMNS } from '../entries/rows'
import { previewText } from '../texts/text-marks'
import { LAST, NAMES } from './directory-statements'

/** The statements that read names of projects, and what stands under them. */

/** The instant of the newest listed entry of a project, layer by layer, as the index has them. */
const lastUse = ({ dialect, scope, now }: ReadContext, project: SQL): SQL => {
  const ofLayer = (layer: number): SQL => sql`coalesce((
    SELECT e.created_at FROM entries e
    WHERE e.project = ${project} AND e.layer = ${sql.raw(String(layer))} AND ${listed(dialect, scope, now)}
    ORDER BY e.created_at DESC LIMIT 1), 0)`
  return sql`${ofLayer(1)} AS used_1, ${ofLayer(2)} AS used_2, ${ofLayer(3)} AS used_3`
}

/**
 * Projects whose names begin so with the last use in each layer, 0 where there is none; from name to name along an index, so that the
 * size of a
 * project does not matter. A narrowed scope's projects are known.
 */
export function projectNamesStatement(context: ReadContext, prefix: string): SQL {
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

/** Read from an index that holds everything it asks for. */
export const projectCountsStatement = ({ dialect, scope, now }: ReadContext, project: string): SQL => sql`
  SELECT e.kind, count(*) AS count FROM entries e
  WHERE ${listed(dialect, scope, now)} AND ${inProject(dialect, scope, project, sql`e.project`)}
  GROUP BY e.kind`

/** Ids first, so that what is passed over never brings its text. */
const chosen = (dialect: SqlDialect, ids: SQL, previewLength: number, order: SQL): SQL => sql`
  WITH chosen AS (${ids})
  SELECT ${ENTRY_COLUMNS}, ${previewText(dialect, previewLength)}
  FROM chosen ${dialect.plan.follow('entries', 'e', sql`e.id = chosen.id`)}
  ORDER BY ${order}, e.id DESC`

export function newestDecisionsStatement(
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
