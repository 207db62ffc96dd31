import { type SQL, sql } from 'drizzle-orm'
import type { Filter } from '../../../../domain/search/filter'
import { conjuncts } from '../../../../domain/search/filter-weight'
import type { PageRequest } from '../../../../ports/entry-store'
import { compileFilter } from '../../core/compile-filter'
import type { Row } from '../../core/connection'
import type { Bindings } from '../../core/dialect'
import { num } from '../../core/rows'
import { listed, listedBeside } from '../../core/visibility'
import { circleTotals } from '../counts/circle-totals'
import { previewColumns, type ReadContext, withPrelude } from '../entries/read-statements'
import { entriesWithin, mostOfSmall, noneIsLarge, shareOf } from '../entries/share'
import { NEWEST, TAGGED_NEWEST } from './index-pages'

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
      where: sql`t.org = ${scope.org} AND t.tag = ${tag} AND ${listedBeside(dialect, scope, now, 't')}`,
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
export function throughLead(context: ReadContext, filter: Filter, request: PageRequest): SQL | null {
  const { dialect, scope } = context
  const share = shareOf(dialect, filter)
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
      (SELECT entries FROM (${circleTotals(context)}) AS totals) AS visible,
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
