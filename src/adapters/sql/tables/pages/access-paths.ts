// Chooses access paths: indexes that find the few entries of a filter, or read a page in order.

import { type SQL, sql } from 'drizzle-orm'
import { Problem } from '../../../../domain/errors'
import type { Filter, Predicate } from '../../../../domain/search/filter'
import { conjuncts, filterTooExpensive } from '../../../../domain/search/filter-weight'
import type { PageRequest } from '../../../../ports/entry-store'
import { type Decode, readOne } from '../../core/batch'
import { compileFilter } from '../../core/compile-filter'
import type { Row, SqlConnection } from '../../core/connection'
import type { Bindings } from '../../core/dialect'
import { num } from '../../core/rows'
import { accessScope, isListedAuxiliary, listed } from '../../core/visibility'
import { invisibleEntries, visibleTotals } from '../counts/visible-counts'
import { LAYERS, projectScopeIds, together } from '../entries/project-scope-rows'
import {
  entriesWithin,
  fits,
  mostOfSmall,
  noneIsLarge,
  PARSED_BYTES,
  type ReadBudget,
  readBudgetOf,
} from '../entries/read-budget'
import { previewColumns, type ReadContext, withPrelude } from '../entries/read-statements'
import { taggedRows } from './tags'

/**
 * No database knows in advance which part of a filter matches the fewest entries. On a database that runs one statement at a time, each
 * indexed part is queried up to the number of entries that one statement may read, and the first one with no more is used. If all parts
 * have more, the entries are read in parts.
 */
interface AccessPaths {
  /** Tables at the start of the statement. */
  readonly tables: readonly SQL[]
  /** The entries `e` found by a part; no rows if each part has too many. */
  readonly from: SQL
  /** Condition that one of the parts has few entries. */
  readonly within: SQL
  /** Condition that a part has found few entries. */
  readonly isDone: (part: Filter) => SQL | null
}

/** Maximum number of access paths besides the first few: D1 limits the tables of a statement. */
const MAX_PATHS = 4

/** Returns the requested layers of the project scope. */
const layersOf = (parts: readonly Filter[]): readonly number[] =>
  parts.find((part) => part.op === 'layer')?.anyOf ?? LAYERS

/** Returns the IDs of entries that fulfil one part, possibly with duplicates; null without an index. */
function idsBy(context: ReadContext, part: Filter, parts: readonly Filter[], bindings: Bindings): SQL | null {
  const { dialect, scope, indexedFields } = context
  switch (part.op) {
    case 'tag': {
      const projectScope = parts.find(({ op }) => op === 'projectScope') as
        | Extract<Filter, { op: 'projectScope' }>
        | undefined
      const places =
        projectScope === undefined
          ? [{}]
          : layersOf(parts).map((layer) => (layer === 3 ? { layer } : { layer, project: projectScope.is }))
      return places.length === 0
        ? sql`SELECT 0 AS id WHERE 1 = 0`
        : together(places.map((place) => taggedRows(dialect, scope, part.anyOf, place)))
    }
    case 'projectScope':
      return projectScopeIds(context, part.is, layersOf(parts))
    case 'equals': {
      const [name, ...inner] = part.path
      const known = inner.length === 0 && name !== undefined && indexedFields.has(name)
      const condition = known ? (dialect.knownToIndex?.(part, bindings.bind) ?? null) : null
      return condition && sql`SELECT e.id FROM entries e WHERE e.org = ${scope.org} AND e.listed = 1 AND ${condition}`
    }
    case 'contentType':
      return part.is === 'multimodal'
        ? sql`SELECT e.id FROM ${dialect.plan.illustratedEntries} WHERE e.org = ${scope.org} AND e.listed = 1 AND e.image_count > 0`
        : null
    default:
      return null
  }
}

/** Returns whether an index answers a part of the filter. */
export const hasAccessPath = (context: ReadContext, filter: Filter): boolean =>
  accessPathsOf(context, filter, context.dialect.bindings(), { entries: 0, bytes: null }, { byId: true }) !== null

/**
 * Returns the access paths of a filter; null if no index answers a part of it.
 *
 * @param share limits of one statement
 * @param order in the order of IDs, entries with images have no index to follow
 */
export function accessPathsOf(
  context: ReadContext,
  filter: Filter,
  bindings: Bindings,
  share: ReadBudget,
  { byId }: { readonly byId: boolean },
): AccessPaths | null {
  const parts = conjuncts(filter)
  if (parts.some(({ op }) => op === 'thread')) return null
  const { dialect } = context
  const paths: SQL[] = []
  const leading: Filter[] = []
  for (const part of parts) {
    const isLead = paths.length < MAX_PATHS && (byId || part.op !== 'contentType')
    const ids = isLead ? idsBy(context, part, parts, bindings) : null
    if (ids === null) continue
    paths.push(ids)
    leading.push(part)
  }
  if (paths.length === 0) return null
  // In sequence: paths after the first selective one are not queried.
  const isFew = (ids: SQL): SQL => {
    const first = sql`(SELECT id FROM (${ids}) LIMIT ${share.entries + 1})`
    if (share.bytes === null) return sql`(SELECT count(*) FROM ${first}) <= ${share.entries}`
    // Entries are read for their size only if they might be large.
    const bytes = sql`SELECT sum(${PARSED_BYTES}) FROM ${first} few ${dialect.plan.follow('entries', 'e', sql`e.id = few.id`)}`
    const isWithin = fits(share, sql`few.entries`, sql`coalesce((${bytes}), 0)`, noneIsLarge(dialect, context.scope))
    return sql`(SELECT ${isWithin} FROM (SELECT count(*) AS entries FROM ${first}) few)`
  }
  const cases = paths.map((ids, i) => sql`WHEN ${isFew(ids)} THEN ${sql.raw(String(i))}`)
  const way = sql`way AS MATERIALIZED (SELECT CASE ${sql.join(cases, sql` `)} END AS lead)`
  const rows = paths.map(
    // By a limit, since a condition would be evaluated for every row.
    (ids, i) => sql`SELECT id FROM (
      SELECT id FROM (${ids}) LIMIT CASE WHEN (SELECT lead FROM way) = ${sql.raw(String(i))} THEN -1 ELSE 0 END)`,
  )
  const isTwice = leading.some((part) => part.op === 'tag' && part.anyOf.length > 1)
  const led = isTwice ? sql`SELECT DISTINCT id FROM (${together(rows)})` : together(rows)
  return {
    tables: [way],
    from: sql`(${led}) led ${dialect.plan.follow('entries', 'e', sql`e.id = led.id`)}`,
    within: sql`(SELECT lead FROM way) IS NOT NULL`,
    isDone: (part) =>
      leading.includes(part) && part.op !== 'equals'
        ? sql`(SELECT lead FROM way) = ${sql.raw(String(leading.indexOf(part)))}`
        : null,
  }
}

/** Pages that an index has in order: of one tag, or of one value of an indexed field. */

/** Factor for the entries that one statement may read from an index alone. */
export const IN_INDEX = 10

export const NEWEST = sql.raw('e.created_second DESC, e.id DESC')
/** The same order for tags. */
const TAGGED_NEWEST = sql.raw('t.created_at / 1000 DESC, t.entry_id DESC')

/** Returns the one tag that is the complete filter; null for any other. */
export function tagAlone(filter: Filter): string | null {
  const [part, ...others] = conjuncts(filter)
  if (part?.op !== 'tag' || others.length > 0 || part.anyOf.length !== 1) return null
  return part.anyOf[0] ?? null
}

/**
 * Returns the entries with a tag, newest first by a covering index, and their number by counters, so that the cost does not depend on their
 * number.
 */
function ofTag(
  context: ReadContext,
  tag: string,
  { limit, offset, previewLength }: PageRequest,
): { page: SQL; total: SQL } {
  const { dialect, scope, now } = context
  const page = sql`page AS (SELECT t.entry_id AS id FROM entry_tags t INDEXED BY entry_tags_created_idx
    WHERE t.org = ${scope.org} AND t.tag = ${tag} AND ${isListedAuxiliary(dialect, scope, now, 't')}
    ORDER BY ${TAGGED_NEWEST} LIMIT ${limit} OFFSET ${offset})`
  return {
    page: sql`WITH ${page} SELECT ${previewColumns(context, previewLength)} FROM page
      ${dialect.plan.follow('entries', 'e', sql`e.id = page.id`)} ORDER BY ${NEWEST}`,
    total: totalOfTag(context, tag),
  }
}

/** Returns the number of visible entries with a tag, by counters, as `total`. */
export function totalOfTag(context: ReadContext, tag: string): SQL {
  const { dialect, scope } = context
  const tagged = sql`EXISTS (SELECT 1 FROM ${dialect.jsonRows(sql`e.tags`)} named WHERE named.value = ${tag})`
  return sql`WITH ${invisibleEntries(context)} SELECT (
      SELECT coalesce(sum(c.uses), 0) FROM tag_counters c
      WHERE c.org = ${scope.org} AND c.tag = ${tag} AND ${accessScope(dialect, scope, 'c', 'empty')}
    ) - (SELECT count(*) FROM gone ${dialect.plan.follow('entries', 'e', sql`e.id = gone.id`)} WHERE ${tagged}) AS total`
}

/**
 * Returns the one string that a string field must equal, case-folded, if that is the complete filter; null for any other.
 */
function fieldAlone({ indexedFields }: ReadContext, filter: Filter): Extract<Predicate, { op: 'equals' }> | null {
  const [part, ...others] = conjuncts(filter)
  if (part?.op !== 'equals' || !part.fold || others.length > 0) return null
  return indexedFields.get(part.path[0] ?? '') === 'string' ? part : null
}

/**
 * Returns the entries with that value, newest first by its index, and their number, without reading entries; null if the index cannot.
 */
function ofField(
  context: ReadContext,
  predicate: Extract<Predicate, { op: 'equals' }>,
  { limit, offset, previewLength }: PageRequest,
  most: number,
): { page: SQL; total: SQL } | null {
  const { dialect, scope, now } = context
  const bindings = dialect.bindings()
  const known = dialect.listedByIndex(predicate, bindings.bind)
  if (known === null) return null
  const ids = sql`SELECT e.id FROM entries e WHERE ${listed(dialect, scope, now)} AND ${known}`
  const page = sql`page AS (${ids} ORDER BY ${NEWEST} LIMIT ${limit} OFFSET ${offset})`
  return {
    page: withPrelude(
      bindings,
      [page],
      sql`SELECT ${previewColumns(context, previewLength)} FROM page
        ${dialect.plan.follow('entries', 'e', sql`e.id = page.id`)} ORDER BY ${NEWEST}`,
    ),
    total: withPrelude(
      bindings,
      [],
      sql`SELECT CASE WHEN count(*) <= ${most} THEN count(*) END AS total FROM (${ids} LIMIT ${most + 1})`,
    ),
  }
}

/** Returns page and total if the filter has one part with an index that is ordered newest first; null otherwise. */
export function byIndexAlone(
  context: ReadContext,
  filter: Filter,
  request: PageRequest,
): { page: SQL; total: SQL } | null {
  const { bounded } = context.dialect
  // With few projects, it would read the rows of the others.
  if (bounded === null || context.scope.projects !== null || request.offset > bounded.entries) return null
  const tag = tagAlone(filter)
  if (tag !== null) return ofTag(context, tag, request)
  const field = fieldAlone(context, filter)
  return field === null ? null : ofField(context, field, request, bounded.entries * IN_INDEX)
}

/**
 * Returns a page of entries with one tag, or one value of an indexed field, that match further conditions. Entries are read once, newest
 * first, enough for an exact total where the threads contract (§4) promises one.
 */

/**
 * A scope with at most this many entries gets exact totals; for others, counting may stop after this many (threads contract §4).
 */
export const COUNTED = 10_000

/**
 * Returns the matches at which counting stops in a larger scope (threads contract §4): a thousand, or one more than the page has shown.
 */
export const mostCounted = ({ limit, offset }: Pick<PageRequest, 'limit' | 'offset'>): number =>
  Math.max(1_000, offset + limit + 1)

/** Parts that may match fewer entries, or that have another order. */
const OTHERS = ['thread', 'projectScope']

/** Returns a number as part of the statement, since a bound limit is planned again at every call. */
const number = (value: number): SQL => sql.raw(String(value))

/** An access path that reads entries newest first. */
interface OrderedPath {
  readonly from: SQL
  readonly where: SQL
  readonly newest: SQL
  /** Parts of the filter that remain to be checked. */
  readonly others: readonly Filter[]
}

/** Returns the access path: a tag first, which is usually more selective, then a field; null without either. */
function orderedPathOf(
  { dialect, scope, now, indexedFields }: ReadContext,
  parts: readonly Filter[],
  bindings: Bindings,
): OrderedPath | null {
  const tags = parts.filter((part) => part.op === 'tag')
  const [tag] = tags[0]?.anyOf ?? []
  if (tag !== undefined && tags[0]?.anyOf.length === 1)
    return {
      from: sql`entry_tags t INDEXED BY entry_tags_created_idx ${dialect.plan.follow('entries', 'e', sql`e.id = t.entry_id`)}`,
      where: sql`t.org = ${scope.org} AND t.tag = ${tag} AND ${isListedAuxiliary(dialect, scope, now, 't')}`,
      newest: TAGGED_NEWEST,
      others: parts.filter((part) => part !== tags[0]),
    }
  if (tags.length > 0) return null
  const [known] = parts.flatMap((part) => {
    if (part.op !== 'equals' || indexedFields.get(part.path[0] ?? '') !== 'string') return []
    return dialect.listedByIndex(part, bindings.bind) ?? []
  })
  return known === undefined
    ? null
    : { from: sql`entries e`, where: sql`${listed(dialect, scope, now)} AND ${known}`, newest: NEWEST, others: parts }
}

/** Returns the statement of the page; null without an access path, or if another part might be more selective. */
export function pageByAccessPath(context: ReadContext, filter: Filter, request: PageRequest): SQL | null {
  const { dialect, scope } = context
  const share = readBudgetOf(dialect, filter)
  const parts = conjuncts(filter)
  const others = parts.some(
    (part) => OTHERS.includes(part.op) || (part.op === 'contentType' && part.is === 'multimodal'),
  )
  // A key with few projects would read the entries of all others.
  if (share === null || context.scope.projects !== null || others) return null
  const bindings = dialect.bindings()
  const leading = orderedPathOf(context, parts, bindings)
  if (leading === null) return null
  const ofSmall = mostOfSmall(share)
  const always = Math.min(COUNTED, entriesWithin(share))
  const most =
    ofSmall === null || ofSmall <= always
      ? number(always)
      : sql`CASE WHEN ${noneIsLarge(dialect, scope)} THEN ${number(Math.min(COUNTED, ofSmall))} ELSE ${number(always)} END`
  const isHit = compileFilter({ op: 'and', of: leading.others }, dialect, bindings.bind)
  // One row: aggregated rows are not read again.
  const walked = sql`walked AS MATERIALIZED (
    SELECT count(*) AS entries, json_group_array(id) FILTER (WHERE hit) AS ids
    FROM (SELECT e.id, ${isHit} AS hit FROM ${leading.from} WHERE ${leading.where}
      ORDER BY ${leading.newest} LIMIT (SELECT most FROM bound)))`
  // Once: SQLite would evaluate it again for each reference.
  const page = sql`page AS MATERIALIZED (
    SELECT walked.entries, json_array_length(walked.ids) AS matches, (SELECT most FROM bound) AS most,
      (SELECT entries FROM (${visibleTotals(context)}) AS totals) AS visible,
      (SELECT json_group_array(value) FROM (
        SELECT value FROM json_each(walked.ids) LIMIT ${request.limit} OFFSET ${request.offset})) AS ids
    FROM walked)`
  return withPrelude(
    bindings,
    [sql`bound (most) AS MATERIALIZED (SELECT ${most})`, walked, page],
    sql`SELECT ${previewColumns(context, request.previewLength)}, page.entries, page.matches, page.visible, page.most
      FROM page LEFT JOIN json_each(page.ids) shown ${dialect.plan.followLeft('entries', 'e', sql`e.id = shown.value`)}`,
  )
}

/**
 * Converts the result; a null total means that the page must be read in another way. @param rows of `pageByAccessPath`
 */
export function toOrderedPage(rows: readonly Row[], request: PageRequest) {
  const { limit, offset } = request
  const last = rows.at(-1) ?? {}
  const [entries, matches] = [num(last, 'entries'), num(last, 'matches')]
  const page = rows.filter(({ id }) => id !== null)
  if (entries < num(last, 'most')) return { page, total: matches, isExact: true }
  // A full page with more to follow is enough, as that is all that a large total states.
  const isEnough = num(last, 'visible') > COUNTED && matches > offset + limit
  return { page, total: isEnough ? Math.min(matches, mostCounted(request)) : null, isExact: false }
}

/** Maximum number of statements: D1 allows a thousand in a request, and other ways need up to nine hundred. */
const MOST_STATEMENTS = 60

/**
 * Reads all entries of a filter in parts, until more than the maximum match. Null if more match, if the filter is too expensive, or if the
 * database has no limits, since other ways are better then.
 */
export async function scanForFew(
  connection: SqlConnection,
  context: ReadContext,
  filter: Filter,
  most: number,
): Promise<readonly number[] | null> {
  const { bounded } = connection.dialect
  if (bounded === null) return null
  let statements = 0
  const read = <T>(statement: SQL, decode: Decode<T>): Promise<T> => {
    if (++statements > MOST_STATEMENTS) throw filterTooExpensive()
    return readOne(connection, statement, decode)
  }
  try {
    const { ids, total, isExact } = await bounded.page(read, context, filter, { limit: most, offset: 0 })
    return isExact && total <= most ? ids : null
  } catch (error) {
    if (error instanceof Problem && error.code === 'limit_exceeded') return null
    throw error
  }
}
