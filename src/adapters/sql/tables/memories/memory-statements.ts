import { type SQL, sql } from 'drizzle-orm'
import type { Layer } from '../../../../domain/entry/entry'
import { MEMORY_THREAD } from '../../../../domain/entry/selection'
import type { MergedProjects, Scope } from '../../../../domain/identity/scope'
import { type Memory, summarizedKinds } from '../../../../domain/recall/memory'
import type { Filter } from '../../../../domain/search/filter'
import type { Millis } from '../../../../domain/time'
import type { MemoryQuery, SummarizableQuery } from '../../../../ports/memories'
import { compileFilter } from '../../core/compile-filter'
import type { Row } from '../../core/connection'
import type { SqlDialect } from '../../core/dialect'
import { num, numOrNull, packedColumns } from '../../core/rows'
import { changeable, inProject, listed, listedToChange, visible } from '../../core/visibility'
import { layerCounts, layerTotal } from '../counts/visible-counts'
import { AUXILIARY_COLUMNS, ENTRY_COLUMNS, PLAIN_NAMES, toEntry } from '../entries/entry-rows'
import { LAYERS, layerEntries } from '../entries/project-scope-rows'
import { entriesById, withPrelude } from '../entries/read-statements'
import { supersededBy } from '../links/links'
import { previewOf, textOf } from '../texts/long-texts'

/** Statements of memories in layers (fabric contract §2). */
export interface MemoryContext {
  readonly dialect: SqlDialect
  readonly scope: Scope
  /** Milliseconds since 1970. */
  readonly now: Millis
  readonly project: string | null
}

export const MEMORY_COLUMNS = sql`${ENTRY_COLUMNS}, e.weight, e.pinned, e.expires_at, e.access_count`

/** Columns of a memory with bounded size. */
export const SMALL_NAMES = [...PLAIN_NAMES, 'weight', 'pinned', 'expires_at', 'access_count']

/** Returns the entry that supersedes `e`, within the project scope. */
const replacedBy = (context: MemoryContext): SQL => {
  const { dialect, scope, now } = context
  return sql`${supersededBy(dialect, scope, now, place(context, 's'))} AS superseded_by`
}

/** Returns the columns of a memory and the entry that supersedes it; small columns as one if that costs less. */
export const memoryColumns = (context: MemoryContext): SQL =>
  sql`${
    context.dialect.packsRows ? sql`${packedColumns(SMALL_NAMES, 'e')}, ${AUXILIARY_COLUMNS}` : MEMORY_COLUMNS
  }, ${replacedBy(context)}`

/** Returns a condition for the memories in the project scope. */
const place = ({ dialect, scope, project }: MemoryContext, alias = 'e'): SQL => {
  const e = sql.raw(alias)
  return project === null
    ? sql``
    : sql` AND (${e}.layer = 3 OR ${inProject(dialect, scope, project, sql`${e}.project`)})`
}

const oneStatement = (context: MemoryContext, columns: SQL, id: number, may: SQL): SQL => sql`
  SELECT ${columns}, ${textOf()} AS text
  FROM entries e
  WHERE e.id = ${id} AND ${may}${place(context)}`

export const findStatement = (context: MemoryContext, id: number): SQL => {
  const { dialect, scope, now } = context
  return oneStatement(context, sql`${MEMORY_COLUMNS}, ${replacedBy(context)}`, id, visible(dialect, scope, now))
}

export const toChangeStatement = (context: MemoryContext, id: number): SQL =>
  oneStatement(context, MEMORY_COLUMNS, id, changeable(context.dialect, context.scope, context.now))

/** Counts an access, in columns without triggers and indexes. */
export const accessStatement = (context: MemoryContext, id: number): SQL => sql`
  UPDATE entries SET accessed_at = ${context.now}, access_count = access_count + 1
  WHERE id = ${id} AND ${visible(context.dialect, context.scope, context.now, 'entries')}${place(context, 'entries')}`

type Shown = Omit<MemoryContext, 'project'>

/** Tags of memories that apply to all projects. */
const EVERYWHERE = ['global', 'universal'] as const

/** Returns whether `e` of layer 3 belongs to another project (fabric contract §2.6); always false without a project. */
export const isOfOtherProject = (dialect: SqlDialect, scope: MergedProjects, project: string | null): SQL =>
  project === null
    ? sql`1 = 0`
    : sql`(e.layer = 3 AND NOT (${inProject(dialect, scope, project, sql`e.project`)})${sql.join(
        EVERYWHERE.map((tag) => sql` AND NOT (${dialect.contains(sql`e.tags`, sql`${JSON.stringify(tag)}`)})`),
      )})`

/** Returns those of the IDs in layer 3 that belong to another project (fabric contract §2.6). */
export const otherProjectsStatement = (
  { dialect, scope, now, project }: MemoryContext,
  ids: readonly number[],
): SQL => {
  return sql`SELECT e.id FROM ${entriesById(dialect, ids)}
    WHERE ${listed(dialect, scope, now)} AND ${isOfOtherProject(dialect, scope, project)}`
}

/**
 * Returns memories up to a number of bytes, added in the order of the IDs, each with its `wanted_id`; of the others only the ID. Rows are
 * not sorted, because D1 bills each sorted row.
 */
export const shownStatement = (
  context: MemoryContext,
  filter: Filter,
  ids: readonly number[],
  maxBytes: number,
): SQL => {
  const { dialect, scope, now } = context
  const bindings = dialect.bindings()
  const admitted = sql`${listed(dialect, scope, now)} AND ${compileFilter(filter, dialect, bindings.bind)}`
  const places = JSON.stringify(ids.map((id, place) => [id, place]))
  const sized = sql`sized AS (
    SELECT e.id, wanted.place, e.bytes, sum(e.bytes) OVER (ORDER BY wanted.place) AS up_to_here
    FROM ${dialect.jsonTable(sql`${places}`, { id: 'integer', place: 'integer' })} wanted
      ${dialect.plan.follow('entries', 'e', sql`e.id = wanted.id`)}
    WHERE ${admitted}
  )`
  return withPrelude(
    bindings,
    [sized],
    sql`SELECT sized.id AS wanted_id, ${memoryColumns(context)}, ${textOf()} AS text
      FROM sized
        ${fitting(dialect, maxBytes)}`,
  )
}

/** Returns the memories of a `page`, with the sum of bytes up to each. */
export const sizedPage = (dialect: SqlDialect): SQL => sql`sized AS (
    SELECT page.id, page.created_at, e.bytes, sum(e.bytes) OVER (ORDER BY page.created_at DESC, page.id DESC) AS up_to_here
    FROM page ${dialect.plan.follow('entries', 'e', sql`e.id = page.id`)}
  )`

/** Returns the memories of `sized`, complete if they fit. */
export const fitting = (dialect: SqlDialect, maxBytes: number): SQL =>
  dialect.plan.followLeft(
    'entries',
    'e',
    sql`e.id = sized.id AND (sized.up_to_here <= ${maxBytes} OR sized.up_to_here = sized.bytes)`,
  )

/** Orders rows with `id` and `created_at`. */
const newestFirst = (limit: number): SQL => sql`ORDER BY created_at DESC, id DESC LIMIT ${limit}`

/** Returns memories of a layer as `id` and `created_at`, in the order of their index. */
function inLayer({ dialect, scope, now, project }: MemoryContext, layer: Layer, from: SQL, ofKind = sql``): SQL {
  const ofProject =
    layer === 3 || project === null ? sql`` : sql` AND ${inProject(dialect, scope, project, sql`e.project`)}`
  return sql`SELECT e.id, e.created_at FROM ${from}
    WHERE ${listed(dialect, scope, now)} AND e.layer = ${sql.raw(String(layer))}${ofProject}${ofKind}`
}

/** Returns the newest memories of all layers as `id` and `created_at`. */
export const newestOf = (context: MemoryContext, limit: number): SQL =>
  context.dialect.plan.firstOf(
    LAYERS.map((layer) => inLayer(context, layer, layerEntries(context.dialect, context.project, layer))),
    'layer',
    newestFirst(limit),
  )

/**
 * Returns the newest memories of some kinds in some layers as `id` and `created_at`; may return more than the limit, because an index finds
 * each kind separately (for all projects, each layer).
 */
export function newestOfKinds(
  context: MemoryContext,
  layers: readonly Layer[],
  kinds: readonly string[],
  limit: number,
): SQL {
  const { plan, jsonRows } = context.dialect
  const ending = newestFirst(limit)
  const isEverywhere = (layer: Layer): boolean => context.project === null && layer !== 3
  const among = sql` AND e.kind IN (SELECT value FROM ${jsonRows(sql`${JSON.stringify(kinds)}`)})`
  const whole = layers
    .filter(isEverywhere)
    .map((layer) => sql`SELECT * FROM (${inLayer(context, layer, plan.entriesOfLayer, among)} ${ending}) AS of_layer`)
  const led = layers
    .filter((layer) => !isEverywhere(layer))
    .map((layer) => {
      const from = plan.entriesBy(layer === 3 ? 'entries_kind_layer_3_idx' : 'entries_project_layer_kind_idx')
      return (kind: SQL) => inLayer(context, layer, from, sql` AND e.kind = ${kind}`)
    })
  const ofEach = led.length === 0 ? [] : [sql`SELECT * FROM (${plan.forEach(kinds, 'kind', led, ending)}) AS of_kind`]
  return sql.join([...whole, ...ofEach], sql` UNION ALL `)
}

/** Returns the first memories of a list as `id` and `created_at`, up to the end of its page. */
const firstOf = (context: MemoryContext, { layer, kinds, limit, offset }: MemoryQuery): SQL =>
  kinds === null
    ? sql`${inLayer(context, layer, layerEntries(context.dialect, context.project, layer))} ${newestFirst(limit + offset)}`
    : newestOfKinds(context, [layer], kinds, limit + offset)

/** Returns a page; of memories beyond `maxBytes` only the ID, as `wanted_id`. */
export const listStatement = (context: MemoryContext, query: MemoryQuery, maxBytes: number): SQL => sql`
  WITH page AS (
    SELECT first.id, first.created_at FROM (${firstOf(context, query)}) AS first
    ORDER BY first.created_at DESC, first.id DESC LIMIT ${query.limit} OFFSET ${query.offset}
  ), ${sizedPage(context.dialect)}
  SELECT sized.id AS wanted_id, ${memoryColumns(context)}, ${textOf()} AS text FROM sized ${fitting(context.dialect, maxBytes)}
  ORDER BY sized.created_at DESC, sized.id DESC`

export const listTotalStatement = (context: MemoryContext, { layer, kinds }: MemoryQuery): SQL =>
  layerTotal(context, layer, context.project, kinds)

export const countStatement = (context: MemoryContext): SQL => layerCounts(context, context.project)

/** Characters of each text in a summary line. */
const SUMMARIZED = 1_000

/** Matches memories that are not part of a conversation. */
const inMemoryThread = sql.raw(`substr(e.thread_id, 1, ${MEMORY_THREAD.length}) = '${MEMORY_THREAD}'`)

export const summarizableStatement = (
  { dialect, scope, now }: Shown,
  { project, layer, types, createdBefore, limit }: SummarizableQuery,
): SQL => {
  const ofProject = project === null ? sql`e.project IS NULL` : inProject(dialect, scope, project, sql`e.project`)
  return sql`
    SELECT e.id, e.version, e.kind, e.title, e.tags, e.weight, e.access_count, e.created_at,
      coalesce(${dialect.textAt(['source'])}, CASE WHEN e.source = 'user' THEN 'user_explicit' END) AS origin,
      (SELECT count(*) FROM links l WHERE l.org = e.org AND l.to_id = e.id) AS links,
      ${previewOf(dialect, SUMMARIZED)} AS text
    FROM entries e
    WHERE ${listedToChange(dialect, scope, now)} AND ${ofProject} AND e.layer = ${layer} AND e.created_at <= ${createdBefore}
      AND ${inMemoryThread} AND e.reader = '' AND e.pinned = 0
      AND e.kind IN (SELECT value FROM ${dialect.jsonRows(sql`${JSON.stringify(types.flatMap(summarizedKinds))}`)})
    ORDER BY e.created_at, e.id LIMIT ${limit}`
}

/** Converts a row with `MEMORY_COLUMNS`. */
export const toMemory = (row: Row): Memory => ({
  ...toEntry(row),
  weight: num(row, 'weight'),
  pinned: Boolean(row.pinned),
  expiresAt: numOrNull(row, 'expires_at'),
  accessCount: num(row, 'access_count'),
})
