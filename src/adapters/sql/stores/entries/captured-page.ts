// Pages that include captured entries, which come after all others.

import { type SQL, sql } from 'drizzle-orm'
import { includesCaptured, isCapturedOnly } from '../../../../domain/search/captured'
import type { Filter } from '../../../../domain/search/filter'
import type { Clock } from '../../../../ports/clock'
import type { EntryStore } from '../../../../ports/entry-store'
import { readOne } from '../../core/batch'
import { compileFilter } from '../../core/compile-filter'
import type { SqlConnection } from '../../core/connection'
import { asRows } from '../../core/rows'
import { listed } from '../../core/visibility'
import { type ReadContext, withPrelude } from '../../tables/entries/read-statements'

/** Returns the captured entries that a filter admits, newest first. */
function capturedStatement({ dialect, scope, now }: Omit<ReadContext, 'indexedFields'>, filter: Filter): SQL {
  const bindings = dialect.bindings()
  const condition = compileFilter(filter, dialect, bindings.bind)
  return withPrelude(
    bindings,
    [],
    sql`SELECT e.id FROM entries e WHERE ${listed(dialect, scope, now, 'e', { captured: 'alone' })} AND ${condition}
      ORDER BY e.created_second DESC, e.id DESC`,
  )
}

/**
 * Wraps a page: for filters that request captured entries, appends them after listed ones, with one more round trip.
 */
export function pagesWithCaptured(
  connection: SqlConnection,
  clock: Clock,
  entries: Pick<EntryStore, 'page' | 'previews'>,
): EntryStore['page'] {
  return async (scope, filter, request) => {
    const page = isCapturedOnly(filter) ? { entries: [], total: 0 } : await entries.page(scope, filter, request)
    if (!includesCaptured(filter)) return page
    const context = { dialect: connection.dialect, scope, now: clock.now() }
    const rows = await readOne(connection, capturedStatement(context, filter), asRows)
    const from = Math.max(0, request.offset - page.total)
    const wanted = rows.slice(from, from + request.limit - page.entries.length).map(({ id }) => Number(id))
    const captured = await entries.previews(scope, filter, wanted, request.previewLength)
    const inOrder = captured.toSorted((a, b) => wanted.indexOf(a.id) - wanted.indexOf(b.id))
    return { ...page, entries: [...page.entries, ...inOrder], total: page.total + rows.length }
  }
}
