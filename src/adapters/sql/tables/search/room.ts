import { type SQL, sql } from 'drizzle-orm'
import { roomCounts } from '../counts/layer-counts'
import type { RoomContext } from '../entries/room-rows'

/**
 * Everything that a search may look at, counted: in one room or in all threads; nothing where nobody asks.
 *
 * @param isExact whether what is being deleted is taken off
 */
export function totalsOf(context: RoomContext, room: string | null, wanted: boolean, isExact = true): SQL {
  if (!wanted) return sql`SELECT 0 AS entries, 0 AS words, NULL AS first_id, NULL AS last_id`
  return roomCounts(context, room, isExact)
}
