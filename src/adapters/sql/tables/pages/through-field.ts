import { type SQL, sql } from 'drizzle-orm'
import type { Filter } from '../../../../domain/search/filter'
import { conjuncts } from '../../../../domain/search/filter-weight'
import type { PageRequest } from '../../../../ports/entry-store'
import { compileFilter } from '../../core/compile-filter'
import type { Row } from '../../core/connection'
import { num } from '../../core/rows'
import { listed } from '../../core/visibility'
import { circleTotals } from '../counts/circle-totals'
import { previewColumns, type ReadContext, withPrelude } from '../entries/read-statements'
import { entriesWithin, mostOfSmall, noneIsLarge, shareOf } from '../entries/share'
import { NEWEST } from './index-pages'
import { asked } from './leads'

/**
 * A page of what has one value of an indexed field and fulfils more: the field's entries are gone through once, newest first, so many that
 * whoever sees no more than is counted exactly (threads contract §4) is told an exact total.
 */

/** Whoever sees no more is told exact totals; of others so many are gone through before counting may stop (threads contract §4). */
export const COUNTED = 10_000

/** Parts that may lead to fewer entries than a field does. */
const OTHERS = ['thread', 'tag', 'projectScope']

/** Written into the statement, since a bound limit is planned anew at every call. */
const number = (value: number): SQL => sql.raw(String(value))

/** Null where no field leads, or another part might lead to fewer. */
export function throughField(context: ReadContext, filter: Filter, request: PageRequest): SQL | null {
  const { dialect, scope, now, indexedFields } = context
  const share = shareOf(dialect, filter)
  const parts = conjuncts(filter)
  const others = parts.some(
    (part) => OTHERS.includes(part.op) || (part.op === 'contentType' && part.is === 'multimodal'),
  )
  if (share === null || others) return null
  const bindings = dialect.bindings()
  const [known] = parts.flatMap(asked).flatMap((part) => {
    if (part.op !== 'equals' || indexedFields.get(part.path[0] ?? '') !== 'string') return []
    return dialect.listedByIndex(part, bindings.bind) ?? []
  })
  if (known === undefined) return null
  const ofSmall = mostOfSmall(share)
  const always = Math.min(COUNTED, entriesWithin(share))
  const most =
    ofSmall === null || ofSmall <= always
      ? number(always)
      : sql`CASE WHEN ${noneIsLarge(dialect, scope)} THEN ${number(Math.min(COUNTED, ofSmall))} ELSE ${number(always)} END`
  const isHit = compileFilter(filter, dialect, bindings.bind)
  // One row: what an aggregate gathers is not read once more.
  const walked = sql`walked AS MATERIALIZED (
    SELECT count(*) AS entries, json_group_array(id) FILTER (WHERE hit) AS ids
    FROM (SELECT e.id, ${isHit} AS hit FROM entries e WHERE ${listed(dialect, scope, now)} AND ${known}
      ORDER BY ${NEWEST} LIMIT (SELECT most FROM bound)))`
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

/** What was found; a total of null where the page is to be read in another way. @param rows of `throughField` */
export function foundThrough(rows: readonly Row[], { limit, offset }: PageRequest) {
  const last = rows.at(-1) ?? {}
  const [entries, matches] = [num(last, 'entries'), num(last, 'matches')]
  const page = rows.filter(({ id }) => id !== null)
  if (entries < num(last, 'most')) return { page, total: matches, isExact: true }
  // More is known to follow a whole page, which is all that is told of so many.
  const isEnough = num(last, 'visible') > COUNTED && matches > offset + limit
  return { page, total: isEnough ? matches : null, isExact: false }
}
