import { cosineOf, dot, type QuantizedVector } from '../vector'
import { byItself, relevance, type Weighed } from './evidence'
import type { Facet } from './facets'
import { isNearlySame, overlap, type Shape } from './likeness'
import type { Oppose } from './links'

/** What of the weighed entries stands in a pack: the best, no two that say the same, no facet forgotten (packs contract). */
export interface Selectable extends Weighed {
  readonly shape: Shape
  /** Of its nearest stretch, and the dot product of that with itself; null where it has none. */
  readonly vector: QuantizedVector | null
  readonly squares: number
}

export interface Selection {
  /** Best first, as they were chosen. */
  readonly chosen: readonly Selectable[]
  /** Entries that say what a chosen one says. */
  readonly duplicates: number
  /** Good ones beyond the limit. */
  readonly beyond: number
}

/** Entries below it have too little to do with the goal; where nothing has much to do with it, only what is near the best has. */
export const FLOOR = 0.15
const FAINT = 0.3
const FAINT_FLOOR = 0.26

/** The score from which entries stand in a pack whose best has this one. */
const floorFor = (best: number): number => (best < FAINT ? FAINT_FLOOR : FLOOR)

/** A facet whose best is this good, and near enough to the best of all, has a place. */
const GOOD = 0.4
const NEAR_BEST = 0.6
/** What likeness to a chosen one costs. */
const ALIKE = 0.2
/** More of one facet than this share of the pack costs a little each. */
const SHARE = 0.34
const CROWDED = 0.01
/** Entries that are compared with each other, for each that has a place. */
const COMPARED = 4
/** And of a small pack. */
const LEAST_COMPARED = 60
/** How many of the best candidates a selection looks at. */
export const comparedFor = (limit: number): number => Math.max(LEAST_COMPARED, limit * COMPARED)

const byScore = (a: Weighed, b: Weighed): number => b.score - a.score || b.entry.id - a.entry.id

/** What joins whatever its score is. */
const standsAnyway = ({ evidence }: Weighed): boolean => evidence.inProgress || evidence.diary

/** How near two entries are in meaning; null where one has no vector. */
function nearnessOf(a: Selectable, b: Selectable): number | null {
  if (a.vector === null || b.vector === null || a.vector.values.length !== b.vector.values.length) return null
  return Math.max(0, cosineOf(dot(a.vector.values, b.vector.values), a.squares, b.squares))
}

const likenessOf = (a: Selectable, b: Selectable): number => nearnessOf(a, b) ?? overlap(a.shape.words, b.shape.words)

/** Texts that say nearly the same are at least this near in meaning, whatever the model: the others need no closer look. */
const ALMOST = 0.6

const sayTheSame = (a: Selectable, b: Selectable): boolean =>
  (nearnessOf(a, b) ?? 1) >= ALMOST && isNearlySame(a.shape, b.shape)

/** What joins whatever the goal says takes this share of the places at most; what matches competes like everything else. */
const ANYWAY = 1 / 3
/** Work that has nothing to do with the goal takes this share at most, so that what has finds room. */
const UNRELATED = 1 / 6

/** Whether an entry has to do with the goal beside its standing. */
const speaksForItself = ({ evidence }: Weighed): boolean => evidence.asked || relevance(byItself(evidence)) >= FLOOR

/** What stands first: diary pages and work that has to do with the goal, then the newest of the other work. */
function standing(distinct: readonly Selectable[], limit: number): Selectable[] {
  if (limit === 1) return []
  let unrelated = Math.ceil(limit * UNRELATED)
  return distinct
    .filter((one) => {
      if (!standsAnyway(one)) return false
      if (one.evidence.diary || speaksForItself(one)) return true
      return unrelated-- > 0
    })
    .slice(0, Math.ceil(limit * ANYWAY))
}

/** Without what says the same as a better one; entries that contradict each other both stay. */
function distinctOf(ordered: readonly Selectable[], oppose: Oppose): Selectable[] {
  const distinct: Selectable[] = []
  for (const one of ordered) {
    const same = (other: Selectable) => sayTheSame(one, other) && !oppose(one.entry.id, other.entry.id)
    if (!distinct.some(same)) distinct.push(one)
  }
  return distinct
}

/** @param weighed in any order */
export function select(weighed: readonly Selectable[], limit: number, oppose: Oppose): Selection {
  const ordered = [...weighed].sort(byScore)
  const floor = floorFor(ordered.find((one) => !standsAnyway(one))?.score ?? 0)
  const good = ordered.filter((one) => one.score >= floor || standsAnyway(one))
  const compared = good.slice(0, comparedFor(limit))
  const distinct = distinctOf(compared, oppose)
  const pool = new Set(distinct)
  const chosen: Selectable[] = []
  const nearest = new Map<Selectable, number>()
  const perFacet = new Map<Facet, number>()
  const isFull = () => chosen.length >= limit

  function take(one: Selectable): void {
    pool.delete(one)
    chosen.push(one)
    perFacet.set(one.facet, (perFacet.get(one.facet) ?? 0) + 1)
    for (const other of pool) nearest.set(other, Math.max(nearest.get(other) ?? 0, likenessOf(one, other)))
    // Whoever reads one side of a contradiction needs the other.
    for (const other of ordered)
      if (!isFull() && !chosen.includes(other) && oppose(one.entry.id, other.entry.id)) take(other)
  }

  /** What an entry adds to those that are chosen. */
  function worth(one: Selectable): number {
    const crowd = Math.max(0, (perFacet.get(one.facet) ?? 0) + 1 - Math.ceil(limit * SHARE))
    return one.score * (1 - ALIKE * (nearest.get(one) ?? 0)) - CROWDED * crowd
  }

  const best = distinct[0]?.score ?? 0
  for (const one of standing(distinct, limit)) if (!isFull() && pool.has(one)) take(one)
  for (const one of distinct)
    if (!isFull() && pool.has(one) && !perFacet.has(one.facet) && one.score >= Math.max(GOOD, NEAR_BEST * best))
      take(one)
  for (const one of pool) if (!speaksForItself(one)) pool.delete(one)
  while (!isFull() && pool.size > 0) {
    let next: Selectable | null = null
    for (const one of pool) if (next === null || worth(one) > worth(next)) next = one
    take(next as Selectable)
  }
  const duplicates = compared.length - distinct.length
  return { chosen, duplicates, beyond: pool.size + good.length - compared.length }
}
