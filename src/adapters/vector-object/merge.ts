import { placesOfBest } from './best'
import type { FoundNearby, FoundNearest } from './questions'
import type { Scored } from './scan'

/** Answers of several objects → the answer of one that held all of it. */

/** A few dozen arrays, one after the other. */
function joined(arrays: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(arrays.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const array of arrays) {
    all.set(array, at)
    at += array.length
  }
  return all
}

/** The best of all, best first; ties go to the smaller id. What two objects have, since it moves between them, counts once. */
export function mergeNearest(found: readonly FoundNearest[], limit: number): FoundNearest {
  const [only] = found
  if (only !== undefined && found.length === 1) return only
  const cosines = joined(found.map((one) => one.cosines))
  const ids = joined(found.map((one) => one.ids))
  const entries = joined(found.map((one) => one.entries ?? new Float64Array(one.ids.length)))
  const at = (values: Float64Array, place: number): number => values[place] as number
  const ordered = placesOfBest(cosines, limit * 2).sort(
    (a, b) => at(cosines, b) - at(cosines, a) || at(ids, a) - at(ids, b),
  )
  const once = ordered.filter((place, i) => i === 0 || at(ids, place) !== at(ids, ordered[i - 1] as number))
  const best = once.subarray(0, limit)
  return {
    ids: Float64Array.from(best, (place) => at(ids, place)),
    cosines: Float64Array.from(best, (place) => at(cosines, place)),
    entries: Float64Array.from(best, (place) => at(entries, place)),
    cut: found.some(({ cut }) => cut) || once.length > limit,
  }
}

/** The nearest entries, each by its nearest vector, ties to the newer entry; and what was named, which counts there alone. */
export function mergeNearby(found: readonly FoundNearby[], most: number, beside: ReadonlySet<number>): Scored {
  const hits = new Map<number, number>()
  for (const { named } of found) for (const [i, id] of named.ids.entries()) hits.set(id, named.cosines[i] as number)
  const all = found.flatMap(({ nearest: { ids, cosines, entries } }) =>
    Array.from(ids, (id, i) => ({ id, cosine: cosines[i] as number, entry: entries[i] as number })),
  )
  if (found.length > 1) all.sort((a, b) => b.cosine - a.cosine || b.entry - a.entry)
  const byEntry = new Map<number, (typeof all)[number]>()
  for (const hit of all) if (!byEntry.has(hit.entry)) byEntry.set(hit.entry, hit)
  for (const { id, cosine } of [...byEntry.values()].slice(0, most)) if (!beside.has(id)) hits.set(id, cosine)
  return { ids: Float64Array.from(hits.keys()), cosines: Float64Array.from(hits.values()) }
}
