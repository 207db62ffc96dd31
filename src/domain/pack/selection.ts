import type { Pace } from '../pace'
import type { QuantizedVector } from '../vector'
import { byItself, relevance, type Weighed } from './evidence'
import type { Facet } from './facets'
import { type Intent, standsBefore } from './intents'
import { isNearlySame, overlap, type Shape } from './likeness'
import type { Opponents } from './links'
import { createNearness, type Nearness } from './nearness'
import { isMeant } from './work-asked'

/** What of the weighed entries stands in a pack: the best, no two that say the same, no facet forgotten (packs contract). */
export interface Selectable extends Weighed {
  /** Made when it is first asked for. */
  readonly shape: Shape
  /** Of its nearest stretch, and the dot product of that with itself; null where it has none. */
  readonly vector: QuantizedVector | null
  readonly squares: number
}

export interface Selection {
  /** Best first, as they were chosen. */
  readonly chosen: readonly Selectable[]
  /** Those of them that have nothing to do with the goal: work that stands there whatever it says. */
  readonly aside: ReadonlySet<Selectable>
  /** Entries that say what a chosen one says. */
  readonly duplicates: number
  /** Good ones beyond the limit. */
  readonly beyond: number
}

/** Entries below it have too little to do with the goal. */
export const FLOOR = 0.13
/** Where nothing says a third of what it could, nothing has to do with the goal: a word that both have by accident says that much. */
const FAINT = 1 / 3

/** Beside a good hit what says less than this share of it is noise. */
const BESIDE_BEST = 0.315
/** A hit this good is taken for the answer: sections that stand before it hold only what is worth reading first. */
const ANSWER = 0.6
const BEFORE_ANSWER = 0.55

/** The score from which entries stand in a pack whose best has this one. */
const floorFor = (best: number): number => (best < FAINT ? FAINT : FLOOR)

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
/** And of a small pack; of a large one so many beyond its places, since each is compared with each. */
const LEAST_COMPARED = 60
const MOST_BEYOND = 90
/** How many of the best candidates a selection looks at. */
export const comparedFor = (limit: number): number =>
  Math.max(LEAST_COMPARED, Math.min(limit * COMPARED, limit + MOST_BEYOND))

const byScore = (a: Weighed, b: Weighed): number => b.score - a.score || b.entry.id - a.entry.id

/** What joins whatever its score is. */
const standsAnyway = ({ evidence }: Weighed): boolean => evidence.inProgress || evidence.diary

/** Texts that say nearly the same are at least this near in meaning, whatever the model: the others need no closer look. */
const ALMOST = 0.6

/** What joins whatever the goal says takes this share of the places at most; what matches competes like everything else. */
const ANYWAY = 1 / 3
/** Work that has nothing to do with the goal takes this share at most, and few places in all, so that what has finds room. */
const UNRELATED = 1 / 8
const MOST_UNRELATED = 3

/** Whether an entry has to do with the goal beside its standing. */
const speaksForItself = ({ evidence }: Weighed, floor: number): boolean =>
  isMeant(evidence.asked) || relevance(byItself(evidence)) >= floor

/** What stands first: diary pages and work that has to do with the goal, then the newest of the other work. */
function standing(distinct: readonly Selectable[], limit: number, floor: number): Selectable[] {
  if (limit === 1) return []
  let unrelated = Math.min(MOST_UNRELATED, Math.ceil(limit * UNRELATED))
  return distinct
    .filter((one) => {
      if (!standsAnyway(one)) return false
      if (one.evidence.diary || speaksForItself(one, floor)) return true
      return unrelated-- > 0
    })
    .slice(0, Math.ceil(limit * ANYWAY))
}

/** Without what says the same as a better one; entries that contradict each other both stay. */
async function distinctOf(
  ordered: readonly Selectable[],
  nearness: Nearness,
  opponents: Opponents,
  pace: Pace,
): Promise<Selectable[]> {
  const distinct: Selectable[] = []
  for (const one of ordered) {
    let looked = 0
    const same = (other: Selectable): boolean => {
      if ((nearness(one, other) ?? 1) < ALMOST) return false
      looked += one.shape.pairs.size
      return isNearlySame(one.shape, other.shape) && !opponents(one.entry.id).has(other.entry.id)
    }
    if (!distinct.some(same)) distinct.push(one)
    await pace.spend(looked)
  }
  return distinct
}

/** All but the first of these at the end, where there may be no room for them. */
function withLast(chosen: readonly Selectable[], aside: readonly Selectable[]): Selectable[] {
  const last = new Set(aside.slice(1))
  return [...chosen.filter((one) => !last.has(one)), ...last]
}

/** @param weighed in any order */
export async function select(
  weighed: readonly Selectable[],
  { limit, intent }: { readonly limit: number; readonly intent: Intent },
  opponents: Opponents,
  pace: Pace,
): Promise<Selection> {
  const ordered = [...weighed].sort(byScore)
  const top = ordered.find((one) => !standsAnyway(one))
  const best = top?.score ?? 0
  const low = Math.max(floorFor(best), BESIDE_BEST * best)
  const early = best >= ANSWER ? Math.max(low, BEFORE_ANSWER * best) : low
  const floorOf = (facet: Facet): number => (top !== undefined && standsBefore(facet, top.facet, intent) ? early : low)
  const good = ordered.filter((one) => one.score >= floorOf(one.facet) || standsAnyway(one))
  const compared = good.slice(0, comparedFor(limit))
  const nearness = createNearness(compared)
  const distinct = await distinctOf(compared, nearness, opponents, pace)
  const byId = new Map(ordered.map((one) => [one.entry.id, one]))
  const pool = new Set(distinct)
  const chosen = new Set<Selectable>()
  const nearest = new Map<Selectable, number>()
  const perFacet = new Map<Facet, number>()
  const isFull = () => chosen.size >= limit

  const likeness = (a: Selectable, b: Selectable): number => nearness(a, b) ?? overlap(a.shape.words, b.shape.words)

  /** Those that an entry would bring along, because whoever reads one side of a contradiction needs the other. */
  function* brought(one: Selectable): Generator<Selectable> {
    for (const id of opponents(one.entry.id)) {
      const other = byId.get(id)
      if (other !== undefined && !chosen.has(other)) yield other
    }
  }

  async function take(one: Selectable): Promise<void> {
    pool.delete(one)
    chosen.add(one)
    perFacet.set(one.facet, (perFacet.get(one.facet) ?? 0) + 1)
    for (const other of pool) nearest.set(other, Math.max(nearest.get(other) ?? 0, likeness(one, other)))
    if (one.vector === null) await pace.spend(pool.size * one.shape.words.size)
    for (const other of [...brought(one)].sort(byScore)) if (!isFull() && !chosen.has(other)) await take(other)
  }

  /** Sides of a contradiction take their places together, so each is worth what they are worth on average. */
  function shared(one: Selectable, worthOf: (one: Selectable) => number): number {
    let [sum, count] = [worthOf(one), 1]
    for (const other of brought(one)) {
      sum += worthOf(other)
      count++
    }
    return sum / count
  }
  const score = (one: Selectable): number => shared(one, (each) => each.score)

  /** What an entry adds to those that are chosen. */
  function worth(one: Selectable): number {
    const crowd = Math.max(0, (perFacet.get(one.facet) ?? 0) + 1 - Math.ceil(limit * SHARE))
    return one.score * (1 - ALIKE * (nearest.get(one) ?? 0)) - CROWDED * crowd
  }

  for (const one of standing(distinct, limit, low)) if (!isFull() && pool.has(one)) await take(one)
  for (const one of distinct)
    if (
      !isFull() &&
      pool.has(one) &&
      !perFacet.has(one.facet) &&
      score(one) >= Math.max(GOOD, NEAR_BEST * (distinct[0]?.score ?? 0))
    )
      await take(one)
  for (const one of pool) if (!speaksForItself(one, low) || score(one) < floorOf(one.facet)) pool.delete(one)
  while (!isFull() && pool.size > 0) {
    let next: { readonly one: Selectable; readonly worth: number } | null = null
    for (const one of pool) {
      const own = shared(one, worth)
      if (next === null || own > next.worth) next = { one, worth: own }
    }
    if (next !== null) await take(next.one)
  }
  const duplicates = compared.length - distinct.length
  const aside = [...chosen].filter((one) => !one.evidence.diary && !speaksForItself(one, low))
  return {
    chosen: withLast([...chosen], aside),
    aside: new Set(aside),
    duplicates,
    beyond: pool.size + good.length - compared.length,
  }
}
