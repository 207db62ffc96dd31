import { type SQL, sql } from 'drizzle-orm'
import type { Filter } from '../../domain/filter'
import { threadOfProject } from '../../domain/recall/memory'
import type { Scope } from '../../domain/scope'
import type { MemoryQuery, SummarizableQuery } from '../../ports/memories'
import { compileFilter } from './compile-filter'
import type { SqlDialect } from './dialect'
import { textOf } from './long-texts'
import { withPrelude } from './read-statements'
import { entriesOf } from './room-rows'
import { ENTRY_COLUMNS } from './rows'
import { taggedEntries } from './tags'
import { listed, readable } from './visibility'

/** The statements of memories in layers (fabric contract §2). */
export interface MemoryContext {
  readonly dialect: SqlDialect
  readonly scope: Scope
  /** Milliseconds since 1970. */
  readonly now: number
  readonly project: string | null
}

export const MEMORY_COLUMNS = sql`${ENTRY_COLUMNS}, e.weight, e.pinned, e.expires_at, e.access_count`

/** What a call with a project sees of the layers. */
const place = (project: string | null, alias = 'e'): SQL => {
  const e = sql.raw(alias)
  return project === null ? sql`` : sql` AND (${e}.layer = 3 OR ${e}.project = ${project})`
}

export const findStatement = ({ dialect, scope, now, project }: MemoryContext, id: number): SQL => sql`
  SELECT ${MEMORY_COLUMNS}, ${textOf()} AS text
  FROM entries e
  WHERE e.id = ${id} AND ${readable(dialect, scope, now)}${place(project)}`

/** Columns that no trigger and no index looks at. */
export const accessStatement = ({ dialect, scope, now, project }: MemoryContext, id: number): SQL => sql`
  UPDATE entries SET accessed_at = ${now}, access_count = access_count + 1
  WHERE id = ${id} AND ${readable(dialect, scope, now, 'entries')}${place(project, 'entries')}`

type Recalled = Omit<MemoryContext, 'project'>

/** Notes an access of those of the ids that are still admitted. */
export const accessAllStatement = ({ dialect, scope, now }: Recalled, filter: Filter, ids: readonly number[]): SQL => {
  const bindings = dialect.bindings()
  const admitted = sql`${listed(dialect, scope, now)} AND ${compileFilter(filter, dialect, bindings.bind)}`
  return withPrelude(
    bindings,
    [],
    sql`UPDATE entries SET accessed_at = ${now}, access_count = access_count + 1
      WHERE id IN (
        SELECT e.id FROM ${dialect.jsonNumbers(sql`${JSON.stringify(ids)}`)} wanted
        ${dialect.follow('entries', 'e', sql`e.id = wanted.value`)} WHERE ${admitted}
      )`,
  )
}

/** Memories in the order of the ids; of those beyond the bytes the id alone, as `wanted_id`. */
export const recalledStatement = (
  { dialect, scope, now }: Recalled,
  filter: Filter,
  ids: readonly number[],
  maxBytes: number,
): SQL => {
  const bindings = dialect.bindings()
  const admitted = sql`${listed(dialect, scope, now)} AND ${compileFilter(filter, dialect, bindings.bind)}`
  const places = JSON.stringify(ids.map((id, place) => [id, place]))
  const sized = sql`sized AS (
    SELECT e.id, wanted.place, e.bytes, sum(e.bytes) OVER (ORDER BY wanted.place) AS up_to_here
    FROM ${dialect.jsonTable(sql`${places}`, { id: 'integer', place: 'integer' })} wanted
      ${dialect.follow('entries', 'e', sql`e.id = wanted.id`)}
    WHERE ${admitted}
  )`
  return withPrelude(
    bindings,
    [sized],
    sql`SELECT sized.id AS wanted_id, ${MEMORY_COLUMNS}, ${textOf()} AS text
      FROM sized
        LEFT JOIN entries e ON e.id = sized.id AND (sized.up_to_here <= ${maxBytes} OR sized.up_to_here = sized.bytes)
      ORDER BY sized.place`,
  )
}

/** What stands on a `page`, with the bytes up to each memory. */
const SIZED = sql`sized AS (
    SELECT page.id, page.created_at, e.bytes, sum(e.bytes) OVER (ORDER BY page.created_at DESC, page.id DESC) AS up_to_here
    FROM page JOIN entries e ON e.id = page.id
  )`

const fitting = (maxBytes: number): SQL =>
  sql`LEFT JOIN entries e ON e.id = sized.id AND (sized.up_to_here <= ${maxBytes} OR sized.up_to_here = sized.bytes)`

/** The rows a list is made of: by way of the tags where there are some, else in the order of an index. */
function source({ dialect, scope, now, project }: MemoryContext, { layer, kinds, tags }: MemoryQuery): SQL {
  const tagged = sql`
    (${taggedEntries(dialect, scope, tags, layer === 3 || project === null ? { layer } : { layer, project })}) tagged
    ${dialect.follow('entries', 'e', sql`e.id = tagged.entry_id`)}`
  const ofKind =
    kinds === null ? sql`` : sql` AND e.kind IN (SELECT value FROM ${dialect.jsonRows(sql`${JSON.stringify(kinds)}`)})`
  const ofProject = layer === 3 || project === null ? sql`` : sql` AND e.project = ${project}`
  const all = entriesOf(dialect, project, layer)
  return sql`${tags.length === 0 ? all : tagged}
    WHERE ${listed(dialect, scope, now)} AND e.layer = ${layer}${ofProject}${ofKind}`
}

/** A page; of memories beyond the bytes the id alone, as `wanted_id`. */
export const listStatement = (context: MemoryContext, query: MemoryQuery, maxBytes: number): SQL => sql`
  WITH page AS (
    SELECT e.id, e.created_at FROM ${source(context, query)}
    ORDER BY e.created_at DESC, e.id DESC LIMIT ${query.limit} OFFSET ${query.offset}
  ), ${SIZED}
  SELECT sized.id AS wanted_id, ${MEMORY_COLUMNS}, ${textOf()} AS text FROM sized ${fitting(maxBytes)}
  ORDER BY sized.created_at DESC, sized.id DESC`

export const listTotalStatement = (context: MemoryContext, query: MemoryQuery): SQL =>
  sql`SELECT count(*) AS total FROM ${source(context, query)}`

/** As both together: what has a tag is gathered once, to be ordered and counted. A row without `wanted_id` stands for an empty page. */
export const taggedListStatement = (context: MemoryContext, query: MemoryQuery, maxBytes: number): SQL => sql`
  WITH matching AS MATERIALIZED (
    SELECT e.id, e.created_at FROM ${source(context, query)}
  ), page AS (
    SELECT id, created_at FROM matching ORDER BY created_at DESC, id DESC LIMIT ${query.limit} OFFSET ${query.offset}
  ), ${SIZED}
  SELECT sized.id AS wanted_id, ${MEMORY_COLUMNS}, ${textOf()} AS text, counted.total
  FROM (SELECT count(*) AS total FROM matching) AS counted LEFT JOIN sized ON 1 = 1 ${fitting(maxBytes)}
  ORDER BY sized.created_at DESC, sized.id DESC`

/** Each layer by itself, so that an index leads to what is counted. */
export const countStatement = ({ dialect, scope, now, project }: MemoryContext): SQL => {
  const counts = (layer: number) => {
    const ofProject = layer === 3 || project === null ? sql`` : sql` AND e.project = ${project}`
    const all = entriesOf(dialect, project, layer)
    return sql`
      SELECT e.layer, e.kind, e.pinned, count(*) AS count FROM ${all}
      WHERE ${listed(dialect, scope, now)} AND e.layer = ${sql.raw(String(layer))}${ofProject}
      GROUP BY e.layer, e.kind, e.pinned`
  }
  return sql.join([1, 2, 3].map(counts), sql` UNION ALL `)
}

/** Of each text as much as sentences are taken from. */
const SUMMARIZED = 600

export const summarizableStatement = (
  { dialect, scope, now }: Recalled,
  { project, layer, types, createdBefore, limit }: SummarizableQuery,
): SQL => {
  const ofProject = project === null ? sql`e.project IS NULL` : sql`e.project = ${project}`
  return sql`
    SELECT e.id, e.version, e.kind, e.title, e.weight, e.confidence, e.created_at, substr(${textOf()}, 1, ${SUMMARIZED}) AS text
    FROM entries e
    WHERE ${listed(dialect, scope, now)} AND ${ofProject} AND e.layer = ${layer} AND e.created_at <= ${createdBefore}
      AND e.thread_id = ${threadOfProject(project)} AND e.reader = '' AND e.pinned = 0
      AND e.kind IN (SELECT value FROM ${dialect.jsonRows(sql`${JSON.stringify(types)}`)})
    ORDER BY e.created_at, e.id LIMIT ${limit}`
}
