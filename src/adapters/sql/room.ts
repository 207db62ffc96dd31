import { type SQL, sql } from 'drizzle-orm'
import { liveThreads, type ReadContext } from './read-statements'
import { listed } from './visibility'

/**
 * What a call with a project sees: the entries of that project, and layer 3 of the whole org (fabric contract §1). Each layer is
 * asked for by itself, so that an index leads to its rows and other projects cost nothing.
 */
type Context = Pick<ReadContext, 'dialect' | 'scope' | 'now'>

const LAYERS = [1, 2, 3] as const

/** Entries of one layer as a condition on `e`. */
const within = ({ dialect, scope, now }: Context, project: string, layer: number): SQL => {
  const ofProject = layer === 3 ? sql`` : sql` AND e.project = ${project}`
  return sql`${listed(dialect, scope, now)} AND e.layer = ${sql.raw(String(layer))}${ofProject}`
}

const together = (parts: readonly SQL[]): SQL => sql.join([...parts], sql` UNION ALL `)

/** The ids of these layers of a room. */
export const roomIds = (context: Context, project: string, layers: readonly number[] = LAYERS): SQL =>
  layers.length === 0
    ? sql`SELECT e.id FROM entries e WHERE 1 = 0`
    : together(layers.map((layer) => sql`SELECT e.id FROM entries e WHERE ${within(context, project, layer)}`))

/** Of each layer the newest are counted: statistics need no more. */
const COUNTED = 10_000

/** How many entries and words a room holds, its first and its last id. */
const roomTotals = (context: Context, project: string): SQL => {
  const newest = LAYERS.map(
    (layer) => sql`
      SELECT id, words FROM (
        SELECT e.id, e.text_words AS words FROM entries e WHERE ${within(context, project, layer)}
        ORDER BY e.created_at DESC, e.id DESC LIMIT ${COUNTED}
      ) AS layer_${sql.raw(String(layer))}`,
  )
  return sql`
    SELECT count(*) AS entries, coalesce(sum(words), 0) AS words, min(id) AS first_id, max(id) AS last_id
    FROM (${together(newest)}) AS room`
}

/** Everything that a search may look at, counted: in one room, or from the counters; nothing where nobody asks. */
export function totalsOf(context: Context, room: string | null, wanted: boolean): SQL {
  if (!wanted) return sql`SELECT 0 AS entries, 0 AS words, NULL AS first_id, NULL AS last_id`
  if (room !== null) return roomTotals(context, room)
  return sql`WITH ${liveThreads({ ...context, indexedFields: new Set() })}
    SELECT coalesce(sum(entries), 0) AS entries, coalesce(sum(words), 0) AS words,
      min(first_id) AS first_id, max(last_id) AS last_id
    FROM live`
}
