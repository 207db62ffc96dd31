import { cosine, type QuantizedVector } from '../vector'
import type { Weighed } from './evidence'
import type { Facet } from './facets'
import { isNearlySame, overlap, type Shape } from './likeness'

/** What of the weighed entries stands in a pack: the best, no two that say the same, no facet forgotten (packs contract). */
export interface Selectable extends Weighed {
  readonly shape: Shape
  /** Of its nearest stretch; null where it has none. */
  readonly vector: QuantizedVector | null
}

export interface Selection {
  /** Best first, as they were chosen. */
  readonly chosen: readonly Selectable[]
  /** Entries that say what a chosen one says. */
  readonly duplicates: number
  /** Good ones beyond the limit. */
  readonly beyond: number
}

/** Entries below it have too little to do with the goal. */
export const FLOOR = 0.2
/** A facet whose best is this good, and near enough to the best of all, has a place. */
const GOOD = 0.4
const NEAR_BEST = 0.6
/** What likeness to a chosen one costs. */
const ALIKE = 0.35
/** More of one facet than this share of the pack costs a little each. */
const SHARE = 0.34
const CROWDED = 0.01
/** Entries that are compared with each other. */
const COMPARED = 120

const byScore = (a: Weighed, b: Weighed): number => b.score - a.score || b.entry.id - a.entry.id

/** What joins whatever its score is. */
const standsAnyway = ({ evidence }: Weighed): boolean => evidence.inProgress || evidence.diary

const likenessOf = (a: Selectable, b: Selectable): number =>
  a.vector !== null && b.vector !== null && a.vector.values.length === b.vector.values.length
    ? Math.max(0, cosine(a.vector.values, b.vector.values))
    : overlap(a.shape.words, b.shape.words)

/**
 * @param oppose whether two entries contradict each other: then both have their place
 */
export function select(
  weighed: readonly Selectable[],
  limit: number,
  oppose: (a: number, b: number) => boolean,
): Selection {
  const ordered = weighed.filter((one) => one.score >= FLOOR || standsAnyway(one)).sort(byScore)
  const distinct: Selectable[] = []
  let duplicates = 0
  for (const one of ordered.slice(0, COMPARED)) {
    const same = distinct.some((other) => !oppose(one.entry.id, other.entry.id) && isNearlySame(one.shape, other.shape))
    if (same) duplicates++
    else distinct.push(one)
  }
  const pool = new Set(distinct)
  const chosen: Selectable[] = []
  const nearest = new Map<Selectable, number>()
  const perFacet = new Map<Facet, number>()
  const take = (one: Selectable) => {
    pool.delete(one)
    chosen.push(one)
    perFacet.set(one.facet, (perFacet.get(one.facet) ?? 0) + 1)
    for (const other of pool)
      if (!oppose(one.entry.id, other.entry.id))
        nearest.set(other, Math.max(nearest.get(other) ?? 0, likenessOf(one, other)))
  }
  const best = distinct[0]?.score ?? 0
  for (const one of distinct) if (chosen.length < limit && standsAnyway(one)) take(one)
  for (const one of distinct)
    if (chosen.length < limit && !perFacet.has(one.facet) && one.score >= Math.max(GOOD, NEAR_BEST * best)) take(one)
  while (chosen.length < limit && pool.size > 0) {
    let next: Selectable | null = null
    let most = Number.NEGATIVE_INFINITY
    for (const one of pool) {
      const crowd = Math.max(0, (perFacet.get(one.facet) ?? 0) + 1 - Math.ceil(limit * SHARE))
      const worth = one.score * (1 - ALIKE * (nearest.get(one) ?? 0)) - CROWDED * crowd
      if (worth > most) [next, most] = [one, worth]
    }
    if (next === null) break
    take(next)
  }
  return { chosen, duplicates, beyond: pool.size + Math.max(0, ordered.length - COMPARED) }
}
