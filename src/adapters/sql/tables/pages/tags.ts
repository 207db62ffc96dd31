import { type SQL, sql } from 'drizzle-orm'
import { homesOf, type Scope } from '../../../../domain/identity/scope'
import type { MemoryQuery } from '../../../../ports/memories'
import type { SqlDialect } from '../../core/dialect'
import { inProject, isListedAuxiliary, projectList, projectsOf } from '../../core/visibility'
import type { ProjectScopeContext } from '../entries/project-scope-rows'

/** Where entries with a tag are searched; everywhere in the scope by default. */
interface TagPlace {
  readonly layer?: number
  /** Project of the given layer. */
  readonly project?: string
}

/** Returns `taggedEntries` as `id`, with a row for each matching tag. */
export function taggedRows(
  dialect: SqlDialect,
  scope: Scope,
  tags: readonly string[],
  { layer, project }: TagPlace = {},
): SQL {
  const ofLayer = layer === undefined ? sql`` : sql` AND t.layer = ${sql.raw(String(layer))}`
  // Each tag is looked up separately: a planner without statistics scans the complete project for a list.
  const found = sql`t.org = ${scope.org} AND t.tag = given.value${ofLayer}${ofProjects(dialect, scope, project)}`
  return sql`SELECT t.entry_id AS id
    FROM ${dialect.jsonRows(sql`${JSON.stringify(tags)}`)} given ${dialect.plan.follow('entry_tags', 't', found)}`
}

/**
 * Returns the IDs of entries with one of these tags, without duplicates, as `entry_id`. The index includes layer and project, so that
 * entries elsewhere cost nothing.
 */
export function taggedEntries(dialect: SqlDialect, scope: Scope, tags: readonly string[], place: TagPlace = {}): SQL {
  return sql`SELECT DISTINCT id AS entry_id FROM (${taggedRows(dialect, scope, tags, place)}) AS rows_of_tags`
}

/** The scope, and its project. */
type TagContext = ProjectScopeContext & { readonly project: string | null }

type TaggedQuery = Pick<MemoryQuery, 'layer' | 'kinds' | 'tags'>

const given = (dialect: SqlDialect, values: readonly string[]): SQL => dialect.jsonRows(sql`${JSON.stringify(values)}`)

/** Returns the project of a layer; layer 3 belongs to all projects. */
const projectOf = ({ project }: TagContext, { layer }: TaggedQuery): string | undefined =>
  layer === 3 || project === null ? undefined : project

/** Returns the rows `t` of these tags in a layer, for a FROM clause, with a row for each matching tag. */
export function rowsOfTags(context: TagContext, query: TaggedQuery): SQL {
  const { dialect, scope } = context
  const place = sql`t.layer = ${sql.raw(String(query.layer))}${ofProjects(dialect, scope, projectOf(context, query))}`
  const found = sql`t.org = ${scope.org} AND t.tag = given.value AND ${place}`
  return sql`${given(dialect, query.tags)} given ${dialect.plan.follow('entry_tags', 't', found)}`
}

/** Returns whether such a row is listed. They have all columns of visibility, so that no entry is read. */
function isListed({ dialect, scope, now }: TagContext, { kinds }: TaggedQuery): SQL {
  const ofKind = kinds === null ? sql`` : sql` AND t.kind IN (SELECT value FROM ${given(dialect, kinds)})`
  return sql`${isListedAuxiliary(dialect, scope, now, 't')}${ofKind}`
}

/** Returns the newest rows of one tag in a layer, as `entry_id` and `expires_at`; reads no more of them. */
export function newestOfTag(context: TagContext, tag: string, layer: 1 | 2 | 3, most: number): SQL {
  const { dialect, scope } = context
  const query = { layer, kinds: null, tags: [tag] }
  const project = projectOf(context, query)
  const ofLayer = sql`t.layer`
  // For one project the primary key has the rows in the order of their IDs; for several an index has them in the order of time.
  const isOne = project !== undefined && homesOf(scope, project).length === 1
  const [led, order] = !isOne
    ? [dialect.plan.unordered(ofLayer), sql`t.created_at / 1000 DESC, t.entry_id DESC`]
    : [ofLayer, sql`t.entry_id DESC`]
  return sql`SELECT t.entry_id, t.expires_at FROM entry_tags t
    WHERE t.org = ${scope.org} AND t.tag = ${tag} AND ${led} = ${sql.raw(String(layer))}${ofProjects(dialect, scope, project)}
      AND ${isListed(context, query)}
    ORDER BY ${order} LIMIT ${sql.raw(String(most))}`
}

/** Columns that `isListed` needs, and those of a page. */
export const LISTED_COLUMNS = sql`t.entry_id, t.created_at, t.project, t.kind, t.reader, t.expires_at, t.listed`

/** Returns memories of a layer with one of the tags, without duplicates, as `id` and `created_at`. */
export const taggedMemories = (context: TagContext, query: TaggedQuery, from = rowsOfTags(context, query)): SQL =>
  sql`SELECT DISTINCT t.entry_id AS id, t.created_at FROM ${from} WHERE ${isListed(context, query)}`

function ofProjects(dialect: SqlDialect, scope: Scope, project: string | undefined): SQL {
  const projects = projectsOf(scope)
  if (project !== undefined) return sql` AND ${inProject(dialect, scope, project, sql`t.project`)}`
  if (projects === null) return sql``
  // The index of projects begins with the layer, so each layer is named.
  return sql` AND t.layer IN (1, 2, 3) AND t.project IN ${projectList(dialect, projects)}`
}
