import { type SQL, sql } from 'drizzle-orm'
import { listed } from '../../core/visibility'
import { roomCounts } from '../counts/layer-counts'
import type { RoomContext } from '../entries/room-rows'

/**
 * Everything that a search may look at, counted: in one room or in all threads; nothing where nobody asks.
 *
 * @param isExact whether what is being deleted is taken off
 * @param captured whether captured entries are meant, which no counter knows
 */
export function totalsOf(
  context: RoomContext,
  room: string | null,
  wanted: boolean,
  { isExact = true, captured = false }: { readonly isExact?: boolean; readonly captured?: boolean } = {},
): SQL {
  if (!wanted) return sql`SELECT 0 AS entries, 0 AS words, NULL AS first_id, NULL AS last_id`
  const { dialect, scope, now } = context
  if (captured)
    return sql`SELECT count(*) AS entries, coalesce(sum(e.text_words), 0) AS words, min(e.id) AS first_id, max(e.id) AS last_id
      FROM entries e WHERE ${listed(dialect, scope, now, 'e', { captured: 'alone' })}`
  return roomCounts(context, room, isExact)
}
