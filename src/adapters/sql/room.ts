import { type SQL, sql } from 'drizzle-orm'
import { liveThreads } from './read-statements'
import { entriesOf, LAYERS, type RoomContext, together, within } from './room-rows'

/** Of each layer the newest are counted: statistics need no more. */
const COUNTED = 10_000
/** As `COUNTED`, where nothing may depend on how large a store is. */
const SAMPLED = 1_000

/** How many entries and words a room holds, its first and its last id. */
const roomTotals = (context: RoomContext, project: string, most: number): SQL => {
  const newest = LAYERS.map(
    (layer) => sql`
      SELECT id, words FROM (
        SELECT e.id, e.text_words AS words FROM ${entriesOf(context.dialect, project, layer)} WHERE ${within(context, project, layer)}
        ORDER BY e.created_at DESC, e.id DESC LIMIT ${most}
      ) AS layer_${sql.raw(String(layer))}`,
  )
  return sql`
    SELECT count(*) AS entries, coalesce(sum(words), 0) AS words, min(id) AS first_id, max(id) AS last_id
    FROM (${together(newest)}) AS room`
}

/** Everything that a search may look at, counted: in one room, or from the counters; nothing where nobody asks. */
export function totalsOf(context: RoomContext, room: string | null, wanted: boolean, sampled = false): SQL {
  if (!wanted) return sql`SELECT 0 AS entries, 0 AS words, NULL AS first_id, NULL AS last_id`
  if (room !== null) return roomTotals(context, room, sampled ? SAMPLED : COUNTED)
  return sql`WITH ${liveThreads({ ...context, indexedFields: new Set() })}
    SELECT coalesce(sum(entries), 0) AS entries, coalesce(sum(words), 0) AS words,
      min(first_id) AS first_id, max(last_id) AS last_id
    FROM live`
}
