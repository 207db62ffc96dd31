// Which few entries does a filter admit, where no index leads to them?

import { type SQL, sql } from 'drizzle-orm'
import { Problem } from '../../../../domain/errors'
import type { Filter, Predicate } from '../../../../domain/search/filter'
import { conjuncts, tooMuchAsked } from '../../../../domain/search/filter-weight'
import type { PageRequest } from '../../../../ports/entry-store'
import { type Decode, readOne } from '../../core/batch'
import { compileFilter } from '../../core/compile-filter'
import type { Row, SqlConnection } from '../../core/connection'
import type { Bindings } from '../../core/dialect'
import { num } from '../../core/rows'
import { accessScope, isListedAuxiliary, listed } from '../../core/visibility'
import { gone, visibleTotals } from '../counts/visible-counts'
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
 * Which part of a filter leads to the fewest entries no engine knows beforehand. On a database that serves nobody while a statement
 * goes on, each part that an index knows is asked for as many entries as one statement may go through, and the first that has no more
 * leads to them. Where every part has more, they are to be gone through in parts.
 */
interface Leads {
  /** What the statement begins with. */
  readonly tables: readonly SQL[]
  /** `entries e` to which a part has led; none where each leads to too many. */
  readonly from: SQL
  /** Whether a part has. */
  readonly within: SQL
  /** Whether what is led to fulfils a part for certain; null where its index knows more entries than do. */
  readonly isDone: (part: Filter) => SQL | null
}

/** What a page may be led by, beside the first few: tables of one statement are few on D1. */
const MOST_LEADS = 4

/** The room's layers that are asked for. */
const layersOf = (parts: readonly Filter[]): readonly number[] =>
  parts.find((part) => part.op === 'layer')?.anyOf ?? LAYERS

/** The ids of entries that fulfil one part, maybe some twice; null where no index knows them. */
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

/** Whether an index knows a part of the filter. */
export const hasAccessPath = (context: ReadContext, filter: Filter): boolean =>
  accessPathsOf(context, filter, context.dialect.bindings(), { entries: 0, bytes: null }, { byId: true }) !== null

/**
 * Null where no part of the filter leads to its entries by an index.
 *
 * @param share what one statement may go through
 * @param order in that of ids, those with images have no index that could be followed
 */
export function accessPathsOf(
  context: ReadContext,
  filter: Filter,
  bindings: Bindings,
  share: ReadBudget,
  { byId }: { readonly byId: boolean },
): Leads | null {
  const parts = conjuncts(filter)
  if (parts.some(({ op }) => op === 'thread')) return null
  const { dialect } = context
  const paths: SQL[] = []
  const leading: Filter[] = []
  for (const part of parts) {
    const isLead = paths.length < MOST_LEADS && (byId || part.op !== 'contentType')
    const ids = isLead ? idsBy(context, part, parts, bindings) : null
    if (ids === null) continue
    paths.push(ids)
    leading.push(part)
  }
  if (paths.length === 0) return null
  // Asked in turn: what follows the first that is few is not.
  const isFew = (ids: SQL): SQL => {
    const first = sql`(SELECT id FROM (${ids}) LIMIT ${share.entries + 1})`
    if (share.bytes === null) return sql`(SELECT count(*) FROM ${first}) <= ${share.entries}`
    // The entries themselves are looked at where they might be large.
    const bytes = sql`SELECT sum(${PARSED_BYTES}) FROM ${first} few ${dialect.plan.follow('entries', 'e', sql`e.id = few.id`)}`
    const isWithin = fits(share, sql`few.entries`, sql`coalesce((${bytes}), 0)`, noneIsLarge(dialect, context.scope))
    return sql`(SELECT ${isWithin} FROM (SELECT count(*) AS entries FROM ${first}) few)`
  }
  const cases = paths.map((ids, i) => sql`WHEN ${isFew(ids)} THEN ${sql.raw(String(i))}`)
  const way = sql`way AS MATERIALIZED (SELECT CASE ${sql.join(cases, sql` `)} END AS lead)`
  const rows = paths.map(
    // By its limit, since a condition would be asked of every row.
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

/** Pages that an index has in their order: of one tag, or of one value of an indexed field. */

/** So many times as many entries may be gone through where the index alone is read. */
export const IN_INDEX = 10

export const NEWEST = sql.raw('e.created_second DESC, e.id DESC')
/** The same of tags. */
export const TAGGED_NEWEST = sql.raw('t.created_at / 1000 DESC, t.entry_id DESC')

/** The one tag that is all a filter asks for; null for any other. */
function tagAlone(filter: Filter): string | null {
  const [part, ...others] = conjuncts(filter)
  if (part?.op !== 'tag' || others.length > 0 || part.anyOf.length !== 1) return null
  return part.anyOf[0] ?? null
}

/**
 * What has a tag, newest first by an index that knows what lists ask of it, and how many in all by counters, so that neither costs what the
 * tag has.
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
  const tagged = sql`EXISTS (SELECT 1 FROM ${dialect.jsonRows(sql`e.tags`)} named WHERE named.value = ${tag})`
  return {
    page: sql`WITH ${page} SELECT ${previewColumns(context, previewLength)} FROM page
      ${dialect.plan.follow('entries', 'e', sql`e.id = page.id`)} ORDER BY ${NEWEST}`,
    total: sql`WITH ${gone(context)} SELECT (
        SELECT coalesce(sum(c.uses), 0) FROM tag_counters c
        WHERE c.org = ${scope.org} AND c.tag = ${tag} AND ${accessScope(dialect, scope, 'c', 'empty')}
      ) - (SELECT count(*) FROM gone ${dialect.plan.follow('entries', 'e', sql`e.id = gone.id`)} WHERE ${tagged}) AS total`,
  }
}

/** The one string that a field of strings equals, letters folded, where that is all a filter asks for; null for any other. */
function fieldAlone({ indexedFields }: ReadContext, filter: Filter): Extract<Predicate, { op: 'equals' }> | null {
  const [part, ...others] = conjuncts(filter)
  if (part?.op !== 'equals' || !part.fold || others.length > 0) return null
  return indexedFields.get(part.path[0] ?? '') === 'string' ? part : null
}

/** What such a field leads to, newest first by its index, which counts them too: neither looks at an entry. Null where it does not. */
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

/** Page and total where one part is all that a filter asks for and an index has it newest first; null where none has. */
export function byIndexAlone(
  context: ReadContext,
  filter: Filter,
  request: PageRequest,
): { page: SQL; total: SQL } | null {
  const { bounded } = context.dialect
  // One of few projects would go through the others' rows.
  if (bounded === null || context.scope.projects !== null || request.offset > bounded.entries) return null
  const tag = tagAlone(filter)
  if (tag !== null) return ofTag(context, tag, request)
  const field = fieldAlone(context, filter)
  return field === null ? null : ofField(context, field, request, bounded.entries * IN_INDEX)
}

/**
 * A page of what has one tag, or one value of an indexed field, and fulfils more: its entries are gone through once, newest first, so many
 * that whoever sees no more than is counted exactly (threads contract §4) is told an exact total.
 */

/** Whoever sees no more is told exact totals; of others so many are gone through before counting may stop (threads contract §4). */
export const COUNTED = 10_000

/** Parts that may lead to fewer entries, or that order them in another way. */
const OTHERS = ['thread', 'projectScope']

/** Written into the statement, since a bound limit is planned anew at every call. */
const number = (value: number): SQL => sql.raw(String(value))

/** Where entries stand newest first by one part of a filter. */
interface Lead {
  readonly from: SQL
  readonly where: SQL
  readonly newest: SQL
  /** What of the filter is left to be asked of each. */
  readonly others: readonly Filter[]
}

/** A tag first, since it leads to fewer as a rule; null where neither a tag nor a field leads. */
function leadOf(
  { dialect, scope, now, indexedFields }: ReadContext,
  parts: readonly Filter[],
  bindings: Bindings,
): Lead | null {
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

/** Null where nothing leads, or another part might lead to fewer. */
export function pageByAccessPath(context: ReadContext, filter: Filter, request: PageRequest): SQL | null {
  const { dialect, scope } = context
  const share = readBudgetOf(dialect, filter)
  const parts = conjuncts(filter)
  const others = parts.some(
    (part) => OTHERS.includes(part.op) || (part.op === 'contentType' && part.is === 'multimodal'),
  )
  // A key of few projects would go through the others' entries, however many.
  if (share === null || context.scope.projects !== null || others) return null
  const bindings = dialect.bindings()
  const leading = leadOf(context, parts, bindings)
  if (leading === null) return null
  const ofSmall = mostOfSmall(share)
  const always = Math.min(COUNTED, entriesWithin(share))
  const most =
    ofSmall === null || ofSmall <= always
      ? number(always)
      : sql`CASE WHEN ${noneIsLarge(dialect, scope)} THEN ${number(Math.min(COUNTED, ofSmall))} ELSE ${number(always)} END`
  const isHit = compileFilter({ op: 'and', of: leading.others }, dialect, bindings.bind)
  // One row: what an aggregate gathers is not read once more.
  const walked = sql`walked AS MATERIALIZED (
    SELECT count(*) AS entries, json_group_array(id) FILTER (WHERE hit) AS ids
    FROM (SELECT e.id, ${isHit} AS hit FROM ${leading.from} WHERE ${leading.where}
      ORDER BY ${leading.newest} LIMIT (SELECT most FROM bound)))`
  // Asked once: SQLite goes through it all again for each other statement that asks it.
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

/** What was found; a total of null where the page is to be read in another way. @param rows of `throughLead` */
export function foundThrough(rows: readonly Row[], { limit, offset }: PageRequest) {
  const last = rows.at(-1) ?? {}
  const [entries, matches] = [num(last, 'entries'), num(last, 'matches')]
  const page = rows.filter(({ id }) => id !== null)
  if (entries < num(last, 'most')) return { page, total: matches, isExact: true }
  // More is known to follow a whole page, which is all that is told of so many.
  const isEnough = num(last, 'visible') > COUNTED && matches > offset + limit
  return { page, total: isEnough ? matches : null, isExact: false }
}

/** D1 answers a thousand of a request, and the other ways take up to nine hundred. */
const MOST_STATEMENTS = 60

/**
 * All entries are gone through in parts, a row each, until more than that are found. Null where it admits more or asks too much of them for
 * that, so that other ways are left, and of a database whose statements may go through any number, which needs no such way.
 */
export async function fewAdmitted(
  connection: SqlConnection,
  context: ReadContext,
  filter: Filter,
  most: number,
): Promise<readonly number[] | null> {
  const { bounded } = connection.dialect
  if (bounded === null) return null
  let statements = 0
  const read = <T>(statement: SQL, decode: Decode<T>): Promise<T> => {
    if (++statements > MOST_STATEMENTS) throw tooMuchAsked()
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
