import { type SQL, sql } from 'drizzle-orm'
import type { Scope } from '../../../domain/identity/scope'
import type { MemoryQuery } from '../../../ports/memories'
import type { SqlDialect } from '../dialect'
import type { RoomContext } from '../memories/room-rows'
import { circle, projectList, staying } from '../visibility'

/** Where entries with a tag are looked for; everywhere in the scope when nothing is named. */
export interface TagPlace {
  readonly layer?: number
  /** Of a layer that is named. */
  readonly project?: string
}

/** As `taggedEntries`, as `id`: an entry as often as it has one of the tags. */
export function taggedRows(
  dialect: SqlDialect,
  scope: Scope,
  tags: readonly string[],
  { layer, project }: TagPlace = {},
): SQL {
  const ofLayer = layer === undefined ? sql`` : sql` AND t.layer = ${sql.raw(String(layer))}`
  // Each tag is looked up by itself: a planner that knows nothing of a list of them walks the whole project.
  const found = sql`t.org = ${scope.org} AND t.tag = given.value${ofLayer}${ofProjects(dialect, scope, project)}`
  return sql`SELECT t.entry_id AS id
    FROM ${dialect.jsonRows(sql`${JSON.stringify(tags)}`)} given ${dialect.follow('entry_tags', 't', found)}`
}

/**
 * The ids of entries that have one of these tags, each once, as `entry_id`. The index knows layer and project of each, so that
 * entries elsewhere cost nothing.
 */
export function taggedEntries(dialect: SqlDialect, scope: Scope, tags: readonly string[], place: TagPlace = {}): SQL {
  return sql`SELECT DISTINCT id AS entry_id FROM (${taggedRows(dialect, scope, tags, place)}) AS rows_of_tags`
}

/**
 * Memories of a layer that have one of the tags, each once, as `id` and `created_at`. Rows of tags know all that a list asks of an entry,
 * so no other row is read.
 */
export function taggedMemories(
  { dialect, scope, now, project }: RoomContext & { readonly project: string | null },
  { layer, kinds, tags }: Pick<MemoryQuery, 'layer' | 'kinds' | 'tags'>,
): SQL {
  const given = (values: readonly string[]) => dialect.jsonRows(sql`${JSON.stringify(values)}`)
  const place = sql`t.layer = ${sql.raw(String(layer))}${ofProjects(dialect, scope, layer === 3 || project === null ? undefined : project)}`
  const alive = sql`t.listed = 1 AND (t.expires_at IS NULL OR t.expires_at > ${now}) AND ${staying('t', 'entry_id')}`
  const ofKind = kinds === null ? sql`` : sql` AND t.kind IN (SELECT value FROM ${given(kinds)})`
  const found = sql`t.org = ${scope.org} AND t.tag = given.value AND ${place}`
  return sql`SELECT DISTINCT t.entry_id AS id, t.created_at
    FROM ${given(tags)} given ${dialect.follow('entry_tags', 't', found)}
    WHERE ${alive} AND ${circle(dialect, scope, 't', 'empty')}${ofKind}`
}

function ofProjects(dialect: SqlDialect, { projects }: Scope, project: string | undefined): SQL {
  if (project !== undefined) return sql` AND t.project = ${project}`
  if (projects === null) return sql``
  // An index leads to projects within a layer only, so each layer is named.
  return sql` AND t.layer IN (1, 2, 3) AND t.project IN ${projectList(dialect, ['', ...projects])}`
}
