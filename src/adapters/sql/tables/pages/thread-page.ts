import { sql } from 'drizzle-orm'
import type { ThreadSummary } from '../../../../domain/report'
import type { Window } from '../../../../domain/search/window'
import { readOne } from '../../core/batch'
import type { SqlConnection } from '../../core/connection'
import { type Groups, groupsStatement, namesOf, toGroups } from '../counts/groups'
import { liveThreads, type ReadContext } from '../entries/read-statements'
import { toThread } from '../entries/rows'

/** Threads by last use. */
const byUse = (context: ReadContext): Groups => ({
  tables: [liveThreads(context)],
  query: sql`SELECT thread_id, entries, user_entries, multimodal, first_second, last_second, last_id FROM live`,
  order: sql`last_second DESC, last_id DESC`,
})

/** A page of threads and how many there are; one round trip more for the number where the page lies behind the last. */
export async function threadPage(
  connection: SqlConnection,
  context: ReadContext,
  { limit, offset }: Window,
): Promise<{ threads: readonly ThreadSummary[]; total: number }> {
  const groups = byUse(context)
  const { first, count } = await readOne(connection, groupsStatement(groups, limit, offset), toGroups(toThread))
  const isBehind = first.length === 0 && offset > 0
  return { threads: first, total: isBehind ? await readOne(connection, groupsStatement(groups, 1), namesOf) : count }
}
