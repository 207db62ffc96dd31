import { sql } from 'drizzle-orm'
import type { Pace } from '../../../domain/pace'
import type { ThreadSummary } from '../../../domain/report'
import type { Window } from '../../../domain/search/window'
import type { Row, SqlConnection } from '../connection'
import { type Groups, groupsOf, groupsStatement } from '../keeping/groups-in-parts'
import { liveThreads, type ReadContext } from './read-statements'
import { toThread } from './rows'

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

/** A page of threads and how many there are; one round trip, or several where they are too many for a statement. */
export async function threadPage(
  connection: SqlConnection,
  pace: Pace,
  context: ReadContext,
  window: Window,
): Promise<{ threads: ThreadSummary[]; total: number }> {
  const groups = byUse(context)
  const { limit, offset } = window
  const most = offset + limit
  const [begun = []] = await connection.batch([groupsStatement(context, groups, most)])
  const { count, first } = await groupsOf(connection, pace, context, groups, { most, begun })
  return { threads: first.slice(offset).map(toThread), total: count }
}
