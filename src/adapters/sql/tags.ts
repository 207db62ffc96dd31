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
  const ofLayer = layer === undefined ? sql`` : sql` AND layer = ${sql.raw(String(layer))}`
  return sql`SELECT DISTINCT entry_id FROM entry_tags
    WHERE org = ${scope.org} AND tag ${dialect.among(sql`${JSON.stringify(tags)}`)}${ofLayer}${ofProjects(dialect, scope, project)}`
}

function ofProjects(dialect: SqlDialect, { projects }: Scope, project: string | undefined): SQL {
  if (project !== undefined) return sql` AND project = ${project}`
  if (projects === null) return sql``
  // An index leads to projects within a layer only, so each layer is named.
  return sql` AND layer IN (1, 2, 3) AND project IN ${projectList(dialect, ['', ...projects])}`
}
