// What becomes of the hits of an index: which are near enough, and which stand for their entries.
import type { Layer } from '../../../domain/entry/entry'
import { distance } from '../../../domain/meaning/vector'
import type { VectorHit } from '../../../ports/vector-index'
import type { VectorRow } from '../../../ports/vector-rows'

/** Entries that are near in meaning, nearest first: one row an entry, by its nearest chunk. */
export interface SemanticHit {
  readonly id: number
  readonly cosine: number
  readonly distance: number
  /** The stretch of the text that is nearest, in code points. */
  readonly start: number
  readonly length: number
  /** Of the entry, 1 to 5. */
  readonly weight: number
  readonly layer: Layer
}

/** A vector that was compared. */
export interface Near extends Omit<VectorRow, 'data' | 'compared'> {
  readonly cosine: number
}

/** How far an approximate cosine may be from the true one where nothing but rounding makes the difference. */
export const ROUNDING = 0.000_01

/** Of each entry that the index named, its nearest hit. */
export const nearestOf = (hits: readonly VectorHit[]): ReadonlyMap<VectorHit['entryId'], VectorHit> =>
  new Map(hits.toReversed().map((hit) => [hit.entryId, hit]))

/** One row an entry, that of its nearest chunk; by distance, then by id. */
export function bestPerEntry(near: readonly Near[]): SemanticHit[] {
  const best = new Map<number, Near>()
  for (const row of near) {
    const known = best.get(row.entryId)
    if (known === undefined || row.cosine > known.cosine || (row.cosine === known.cosine && row.start < known.start))
      best.set(row.entryId, row)
  }
  return [...best.values()]
    .map(({ entryId, start, length, weight, layer, cosine: cos }) => ({
      id: entryId,
      start,
      length,
      weight,
      layer,
      cosine: cos,
      distance: distance(cos),
    }))
    .sort((a, b) => a.distance - b.distance || a.id - b.id)
}
