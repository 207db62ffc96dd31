import { type SQL, sql } from 'drizzle-orm'
import type { Filter, Leaf } from '../../../domain/search/filter'
import type { PageRequest } from '../../../ports/entry-store'
import { conjuncts, liveThreads, planEntries, previewColumns, type ReadContext, withPrelude } from './read-statements'

/** A page of entries, newest first, and how many there are in all. */

type CountedLeaf = Extract<Leaf, { op: 'thread' | 'source' }>

/** Filters whose total the counters know: none, a thread, a source, or both. */
function countedBy(filter: Filter): CountedLeaf[] | null {
  const parts = conjuncts(filter)
  const counted = parts.filter((part): part is CountedLeaf => part.op === 'thread' || part.op === 'source')
  const distinct = new Set(counted.map((part) => part.op)).size === counted.length
  return distinct && counted.length === parts.length ? counted : null
}

/** Whether the entries of a thread or a time, or those with images, are all that a filter asks for: an index has these and no others. */
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
 * A condition that one statement may go through all that a page may have to look at; null where it may in any case. What has to be
 * looked at is told by counters: entries of the thread, or of the org.
 */
function withinShare({ dialect, scope }: ReadContext, filter: Filter, selective: boolean): SQL | null {
  if (dialect.walked === null || selective || countedBy(filter) !== null || answeredByIndex(filter)) return null
  const thread = conjuncts(filter).find((part) => part.op === 'thread')?.is
  const entries =
    thread === undefined
      ? sql`SELECT items FROM org_usage WHERE org = ${scope.org} AND part = 'entries'`
      : sql`SELECT sum(entries) FROM thread_counters WHERE org = ${scope.org} AND thread_id = ${thread}`
  return sql`coalesce((${entries}), 0) <= ${dialect.walked}`
}

/** No row where the page is to be read in parts (page-in-parts.ts). */
export function pageStatement(context: ReadContext, filter: Filter, request: PageRequest): SQL {
  const { dialect } = context
  const bindings = dialect.bindings()
  const { from, where, selective } = planEntries(context, filter, bindings)
  const time = selective ? dialect.unordered(sql`e.created_second`) : sql`e.created_second`
  const within = withinShare(context, filter, selective)
  const limit = within === null ? sql`${request.limit}` : sql`CASE WHEN ${within} THEN ${request.limit} ELSE 0 END`
  // Ids first, so that rows passed over by the offset never bring their text.
  const ids = sql`page AS (SELECT e.id FROM ${from} WHERE ${where}
    ORDER BY ${time} DESC, e.id DESC
    LIMIT ${limit} OFFSET ${request.offset})`
  return withPrelude(
    bindings,
    [ids],
    sql`SELECT ${previewColumns(context, request.previewLength)} FROM page
      ${dialect.follow('entries', 'e', sql`e.id = page.id`)}
      ORDER BY e.created_second DESC, e.id DESC`,
  )
}

/** One row; its `total` is NULL where the page is to be read in parts. */
export function totalStatement(context: ReadContext, filter: Filter): SQL {
  const { dialect } = context
  const bindings = dialect.bindings()
  const counted = countedBy(filter)
  if (counted === null) {
    const { from, where, selective } = planEntries(context, filter, bindings)
    const within = withinShare(context, filter, selective)
    const count = sql`SELECT count(*) AS total FROM ${from} WHERE ${where}`
    return withPrelude(
      bindings,
      [],
      within === null ? count : sql`SELECT CASE WHEN ${within} THEN (${count}) END AS total`,
    )
  }
  const thread = counted.find((leaf) => leaf.op === 'thread')?.is
  const source = counted.find((leaf) => leaf.op === 'source')?.is
  const column =
    source === undefined ? sql`entries` : source === 'user' ? sql`user_entries` : sql`entries - user_entries`
  return sql`WITH ${liveThreads(context, thread)} SELECT coalesce(sum(${column}), 0) AS total FROM live`
}
