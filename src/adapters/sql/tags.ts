import { type SQL, sql } from 'drizzle-orm'
import type { Scope } from '../../domain/scope'
import type { SqlDialect } from './dialect'
import { projectList } from './visibility'

/** Where entries with a tag are looked for; everywhere in the scope when nothing is named. */
export interface TagPlace {
  readonly layer?: number
  /** Of a layer that is named. */
  readonly project?: string
}

/**
 * The ids of entries that have one of these tags, each once, as `entry_id`. The index knows layer and project of each, so that
 * entries elsewhere cost nothing.
 */
export function taggedEntries(
  dialect: SqlDialect,
  scope: Scope,
  tags: readonly string[],
  { layer, project }: TagPlace = {},
): SQL {
  const ofLayer = layer === undefined ? sql`` : sql` AND t.layer = ${sql.raw(String(layer))}`
  // Each tag is looked up by itself: a planner that knows nothing of a list of them walks the whole project.
  const found = sql`t.org = ${scope.org} AND t.tag = given.value${ofLayer}${ofProjects(dialect, scope, project)}`
  return sql`SELECT DISTINCT t.entry_id
    FROM ${dialect.jsonRows(sql`${JSON.stringify(tags)}`)} given ${dialect.follow('entry_tags', 't', found)}`
}

function ofProjects(dialect: SqlDialect, { projects }: Scope, project: string | undefined): SQL {
  if (project !== undefined) return sql` AND t.project = ${project}`
  if (projects === null) return sql``
  // An index leads to projects within a layer only, so each layer is named.
  return sql` AND t.layer IN (1, 2, 3) AND t.project IN ${projectList(dialect, ['', ...projects])}`
}
