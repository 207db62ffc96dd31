import { type SQL, sql } from 'drizzle-orm'
import type { Filter, Predicate } from '../../../../domain/search/filter'
import { conjuncts } from '../../../../domain/search/filter-weight'
import type { PageRequest } from '../../../../ports/entry-store'
import { Batch, type Decode, readOne } from '../../core/batch'
import { compileFilter, FALSE, TRUE } from '../../core/compile-filter'
import type { Row, SqlConnection } from '../../core/connection'
import type { Bindings } from '../../core/dialect'
import { flag, inOneValue, numOrNull, rowsOfValue } from '../../core/rows'
import { listed } from '../../core/visibility'
import { visibleTotals } from '../counts/visible-counts'
import { fits, noneIsLarge, readBudgetOf } from '../entries/read-budget'
import { liveThreads, previewColumns, type ReadContext, withPrelude } from '../entries/read-statements'
import {
  byIndexAlone,
  COUNTED,
  IN_INDEX,
  mostCounted,
  NEWEST,
  pageByAccessPath,
  tagAlone,
  toOrderedPage,
  totalOfTag,
} from './access-paths'
import { type Plan, planEntries } from './entry-plan'

/** Reads a page of entries, newest first, and their total number. */

const number = (value: number): SQL => sql.raw(String(value))

type CountedPredicate = Extract<Predicate, { op: 'thread' | 'source' }>

/** Returns the parts of a filter whose total the counters have: none, a thread, a source, or both; otherwise null. */
function countedBy(filter: Filter): CountedPredicate[] | null {
  const parts = conjuncts(filter)
  const counted = parts.filter((part): part is CountedPredicate => part.op === 'thread' || part.op === 'source')
  const distinct = new Set(counted.map((part) => part.op)).size === counted.length
  return distinct && counted.length === parts.length ? counted : null
}

/**
 * Returns whether an index contains exactly the entries of a filter: those of a thread or a time, or those with images.
 */
function answeredByIndex(filter: Filter): boolean {
  const parts = conjuncts(filter)
  const inThread = parts.some((part) => part.op === 'thread')
  return parts.every(
    (part) =>
      part.op === 'thread' ||
      part.op === 'created' ||
      (!inThread && part.op === 'contentType' && part.is === 'multimodal'),
  )
}

/**
 * Returns a condition that one statement may read all that a filter has to check; null if it always may. Without a selective index,
 * counters state the number: entries of the thread, or of the organization.
 */
export function withinReadBudget({ dialect, scope }: ReadContext, filter: Filter, plan: Plan, offset = 0): SQL | null {
  const share = readBudgetOf(dialect, filter)
  if (dialect.bounded === null || share === null || plan.selective) return plan.within
  const inIndex = dialect.bounded.entries * IN_INDEX
  if (countedBy(filter) !== null) return offset <= inIndex ? null : FALSE
  const most = answeredByIndex(filter) ? { ...share, entries: inIndex } : share
  const thread = conjuncts(filter).find((part) => part.op === 'thread')?.is
  const held =
    thread === undefined
      ? sql`SELECT sum(entries) AS entries, sum(bytes) AS bytes FROM entry_counters WHERE org = ${scope.org}`
      : sql`SELECT sum(entries) AS entries, sum(bytes) AS bytes FROM thread_counters WHERE org = ${scope.org} AND thread_id = ${thread}`
  return sql`coalesce((SELECT ${fits(most, sql`held.entries`, sql`held.bytes`, noneIsLarge(dialect, scope))} FROM (${held}) held), 1)`
}

/**
 * Returns page and total of an access path in one pass. The page is unordered; a row without ID and with NULL `total` means that the page
 * must be read in parts.
 */
function accessPathStatement(
  context: ReadContext,
  { tables, from, where, within }: Plan,
  bindings: Bindings,
  { limit, offset, previewLength }: PageRequest,
): SQL {
  const matching = sql`matching AS MATERIALIZED (SELECT e.id, e.created_second FROM ${from} WHERE ${where})`
  const page = sql`page AS (
    SELECT id, NULL AS total
    FROM (SELECT id FROM matching ORDER BY created_second DESC, id DESC LIMIT ${limit} OFFSET ${offset})
    UNION ALL SELECT NULL, CASE WHEN ${within} THEN (SELECT count(*) FROM matching) END)`
  return withPrelude(
    bindings,
    [...tables, matching, page],
    sql`SELECT ${previewColumns(context, previewLength)}, page.total
      FROM page ${context.dialect.plan.followLeft('entries', 'e', sql`e.id = page.id`)}`,
  )
}

/** Sorts the rows of an unordered page, newest first. */
const inOrderOfPage = (rows: readonly Row[]): Row[] => {
  const second = ({ created_at: at }: Row) => Math.floor(Number(at) / 1000)
  return rows.toSorted((a, b) => second(b) - second(a) || Number(b.id) - Number(a.id))
}

const rowsOfPage: Decode<readonly Row[]> = (rows) => inOrderOfPage(rows.filter(({ id }) => id !== null))
/** Returns the total, which is in the last row. */
const totalOf: Decode<number | null> = (rows) => numOrNull(rows.at(-1) ?? {}, 'total')

/** Reads the rows of a page and its total, which is null if the page must be read in parts. */
export async function readPage(
  connection: SqlConnection,
  context: ReadContext,
  filter: Filter,
  request: PageRequest,
): Promise<{ page: readonly Row[]; total: number | null; isExact: boolean }> {
  const alone = byIndexAlone(context, filter, request)
  const through = alone === null ? pageByAccessPath(context, filter, request) : null
  if (through !== null) {
    const found = await readOne(connection, through, (rows) => toOrderedPage(rows, request))
    const { total } = found
    if (total !== null) return { page: inOrderOfPage(found.page), total, isExact: found.isExact }
  }
  if (context.dialect.bounded === null && countedBy(filter) === null)
    return readOne(connection, inOneValue(context.dialect, newestStatement(context, filter, request)), (value) => {
      const rows = rowsOfValue(value)
      return { page: rowsOfPage(rows), total: totalOf(rows), isExact: flag(rows.at(-1) ?? {}, 'exact') }
    })
  const bindings = context.dialect.bindings()
  const plan = planEntries(context, filter, bindings)
  if (alone === null && plan.within !== null)
    return readOne(connection, accessPathStatement(context, plan, bindings, request), (rows) => ({
      page: rowsOfPage(rows),
      total: totalOf(rows),
      isExact: true,
    }))
  const batch = new Batch()
  const page = batch.add(alone?.page ?? pageStatement(context, filter, request), rowsOfPage)
  const total = batch.add(alone?.total ?? totalStatement(context, filter, request), totalOf)
  const result = await batch.read(connection)
  return { page: result.of(page), total: result.of(total), isExact: true }
}

/** Uses of tags from which on the newest entries are walked for them; fewer are looked up. */
const OFTEN = 2_000

/** Returns a condition that walking the newest entries finds a page of this filter sooner than its index. */
function isWalked({ dialect, scope }: ReadContext, parts: readonly Filter[], isSelective: boolean): SQL {
  if (parts.some(({ op }) => op === 'thread')) return TRUE
  if (parts.some(({ op }) => op === 'projectScope')) return FALSE
  const tags = parts.find((part) => part.op === 'tag')?.anyOf
  if (tags !== undefined)
    return sql`(SELECT coalesce(sum(c.uses), 0) FROM tag_counters c
      WHERE c.org = ${scope.org} AND c.tag ${dialect.inList(sql`${JSON.stringify(tags)}`)}) >= ${number(OFTEN)}`
  return isSelective ? sql`entries > ${number(COUNTED)}` : TRUE
}

/**
 * Returns page and total of a filter for a database without limits on a statement. The newest entries are walked first: most filters find a
 * page there, and counting may stop (threads contract §4). If they do not, an index of the filter finds all its entries, or the walk goes on
 * until the page is complete. The last row has the `total`, and whether it is `exact`.
 */
function newestStatement(context: ReadContext, filter: Filter, request: PageRequest): SQL {
  const { dialect, scope, now } = context
  const { limit, offset, previewLength } = request
  const bindings = dialect.bindings()
  const parts = conjuncts(filter)
  const plan = planEntries(context, filter, bindings)
  const inThread = parts.some(({ op }) => op === 'thread')
  const isLead = (part: Filter): boolean =>
    part.op === 'thread' ||
    part.op === 'created' ||
    (!inThread && part.op === 'contentType' && part.is === 'multimodal')
  const allOf = (of: readonly Filter[]): SQL => compileFilter({ op: 'and', of }, dialect, bindings.bind)
  const led = sql`FROM entries e WHERE ${listed(dialect, scope, now)} AND ${allOf(parts.filter(isLead))}`
  const others = allOf(parts.filter((part) => !isLead(part)))
  const tag = tagAlone(filter)
  const [needed, most] = [offset + limit + 1, tag === null ? mostCounted(request) : offset + limit]
  const edge = (column: string): SQL => sql`(SELECT ${sql.raw(column)} FROM edge)`
  const rest = plan.selective
    ? sql`SELECT * FROM (SELECT e.id, e.created_second FROM ${plan.from} WHERE ${plan.where} AND NOT (SELECT is_found FROM state) OFFSET 0) AS e`
    : // As a CASE, so that the planner does not expect few matches and sort all entries instead of walking them.
      sql`SELECT e.id, e.created_second ${led} AND CASE WHEN ${others} THEN true ELSE false END AND NOT (SELECT is_found FROM state)
        AND (e.created_second, e.id) < (${edge('created_second')}, ${edge('id')})
        ORDER BY ${NEWEST} LIMIT (SELECT greatest(0, ${number(needed)} - found) FROM state)`
  const isExact = sql`CASE
      WHEN state.entries <= ${number(COUNTED)} THEN 1
      WHEN state.is_found THEN CASE WHEN found > ${number(most)} THEN 0 ELSE (NOT EXISTS (SELECT 1 FROM edge))::integer END
      ${plan.selective ? sql`ELSE 1` : sql`ELSE ((SELECT count(*) FROM matching) < ${number(needed)})::integer`}
    END`
  return withPrelude(
    bindings,
    [
      sql`bound AS MATERIALIZED (
        SELECT entries, ${isWalked(context, parts, plan.selective)} AS walks FROM (${visibleTotals(context)}) AS totals
      )`,
      sql`newest AS MATERIALIZED (
        SELECT e.id, e.created_second FROM (SELECT * ${led} ORDER BY ${NEWEST} LIMIT ${number(COUNTED)}) AS e
        WHERE ${others}
        LIMIT (SELECT CASE WHEN NOT walks THEN 0 WHEN entries > ${number(COUNTED)} THEN ${number(most + 1)} END FROM bound)
      )`,
      sql`state AS MATERIALIZED (
        SELECT found, entries, walks AND (found >= ${number(needed)} OR entries <= ${number(COUNTED)}) AS is_found
        FROM bound CROSS JOIN (SELECT count(*) AS found FROM newest) AS counted
      )`,
      sql`edge AS MATERIALIZED (
        SELECT e.created_second, e.id ${led} ORDER BY ${NEWEST} OFFSET ${number(COUNTED - 1)} LIMIT 1
      )`,
      sql`matching AS MATERIALIZED (
        SELECT * FROM newest ${plan.selective ? sql`WHERE (SELECT is_found FROM state)` : sql``} UNION ALL SELECT * FROM (${rest}) AS rest
      )`,
      sql`page AS (
        SELECT id, NULL::bigint AS total, NULL::integer AS exact
        FROM (SELECT id FROM matching ORDER BY created_second DESC, id DESC LIMIT ${limit} OFFSET ${offset}) AS shown
        UNION ALL ${
          tag === null
            ? sql`SELECT NULL, CASE ${isExact} WHEN 1 THEN matches ELSE least(matches, ${number(most)}) END, ${isExact}
              FROM state CROSS JOIN (SELECT count(*) AS matches FROM matching) AS counted`
            : sql`SELECT NULL, total, 1 FROM (${totalOfTag(context, tag)}) AS of_tag`
        })`,
    ],
    sql`SELECT ${previewColumns(context, previewLength)}, page.total, page.exact
      FROM page ${dialect.plan.followLeft('entries', 'e', sql`e.id = page.id`)} ORDER BY page.total NULLS FIRST`,
  )
}

/** Returns the page; no row if it must be read in parts. */
function pageStatement(context: ReadContext, filter: Filter, request: PageRequest): SQL {
  const { dialect } = context
  const bindings = dialect.bindings()
  const plan = planEntries(context, filter, bindings)
  const { from, where, selective } = plan
  const time = selective ? dialect.plan.unordered(sql`e.created_second`) : sql`e.created_second`
  const within = withinReadBudget(context, filter, plan, request.offset)
  const limit = within === null ? sql`${request.limit}` : sql`CASE WHEN ${within} THEN ${request.limit} ELSE 0 END`
  // IDs first, so that the texts of skipped rows are not read.
  const ids = sql`page AS (SELECT e.id FROM ${from} WHERE ${where}
    ORDER BY ${time} DESC, e.id DESC
    LIMIT ${limit} OFFSET ${request.offset})`
  return withPrelude(
    bindings,
    [ids],
    sql`SELECT ${previewColumns(context, request.previewLength)} FROM page
      ${dialect.plan.follow('entries', 'e', sql`e.id = page.id`)}
      ORDER BY ${NEWEST}`,
  )
}

/** Returns the total in one row; NULL if the page must be read in parts. */
function totalStatement(context: ReadContext, filter: Filter, { offset }: PageRequest): SQL {
  const { dialect } = context
  const bindings = dialect.bindings()
  const counted = countedBy(filter)
  if (counted === null) {
    const plan = planEntries(context, filter, bindings)
    const within = withinReadBudget(context, filter, plan)
    const count = sql`SELECT count(*) AS total FROM ${plan.from} WHERE ${plan.where}`
    return withPrelude(
      bindings,
      [],
      within === null ? count : sql`SELECT CASE WHEN ${within} THEN (${count}) END AS total`,
    )
  }
  const thread = counted.find((predicate) => predicate.op === 'thread')?.is
  const source = counted.find((predicate) => predicate.op === 'source')?.is
  const column =
    source === undefined ? sql`entries` : source === 'user' ? sql`user_entries` : sql`entries - user_entries`
  // A page with such a large offset is read in parts, although its total is known.
  if (dialect.bounded !== null && offset > dialect.bounded.entries * IN_INDEX) return sql`SELECT NULL AS total`
  return thread === undefined
    ? sql`SELECT ${column} AS total FROM (${visibleTotals(context)}) AS totals`
    : sql`WITH ${liveThreads(context, thread)} SELECT coalesce(sum(${column}), 0) AS total FROM live`
}
