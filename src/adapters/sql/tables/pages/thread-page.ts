import { sql } from 'drizzle-orm'
import type { Pace } from '../../../../domain/pace'
import type { ThreadSummary } from '../../../../domain/report'
import type { Window } from '../../../../domain/search/window'
import { readOne } from '../../core/batch'
import type { Row, SqlConnection } from '../../core/connection'
import { asRows } from '../../core/rows'
import { type Groups, groupsOf, groupsStatement, namesOf } from '../counts/groups-in-parts'
import { liveThreads, type ReadContext } from '../entries/read-statements'
import { toThread } from '../entries/rows'

const COLUMNS = [
  ...['thread_id', 'entries', 'user_entries', 'multimodal', 'bytes', 'words'],
  ...['first_second', 'last_second', 'first_id', 'last_id'],
] as const

/** Threads by last use. */
const byUse = (context: ReadContext): Groups => ({
  table: 'thread_counters',
  name: 'thread_id',
  of: (between) => ({
    tables: [liveThreads(context, between)],
    query: sql`SELECT ${sql.raw(COLUMNS.join(', '))} FROM live`,
  }),
  columns: COLUMNS,
  order: sql`last_second DESC, last_id DESC`,
  compare: (a: Row, b: Row) => Number(b.last_second) - Number(a.last_second) || Number(b.last_id) - Number(a.last_id),
})

/**
 * A page of threads and how many there are; one round trip, or several where they are too many for a statement, and one more for the
 * number where the page lies behind the last.
 */
export async function threadPage(
  connection: SqlConnection,
  pace: Pace,
  context: ReadContext,
  window: Window,
): Promise<{ threads: ThreadSummary[]; total: number }> {
  const groups = byUse(context)
  const { limit, offset } = window
  // What goes before a page is not brought along, a hundred thousand rows to be read here; parts have to be put in one order first.
  const skipped = context.dialect.walked === null ? offset : 0
  const read = async (most: number, skipped: number) =>
    readOne(connection, groupsStatement(context, groups, most, skipped), asRows)
  const most = offset + limit - skipped
  const begun = await read(most, skipped)
  const { count, first } = await groupsOf(connection, pace, context, groups, { most, begun })
  if (first.length === 0 && skipped > 0) return { threads: [], total: namesOf(await read(1, 0)) }
  return { threads: first.slice(offset - skipped).map(toThread), total: count }
}
