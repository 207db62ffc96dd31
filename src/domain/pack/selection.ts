import type { QuantizedVector } from '../meaning/vector'
import type { Yielder } from '../yielder'
import { byItself, relevance, scoreByItself, type Weighed } from './evidence'
import type { Facet } from './facets'
import { type Intent, standsBefore } from './intents'
import { isNearlySame, overlap, type Shape } from './likeness'
import type { Opponents } from './links'
import { createNearness, type Nearness } from './nearness'
import { WEIGHTS, type Weights } from './weights'
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
  readonly unrelated: ReadonlySet<Selectable>
  /** Those that only take places that are left. */
  readonly fillers: ReadonlySet<Selectable>
  /** Entries that say what a chosen one says. */
  readonly duplicates: readonly Weighed[]
  /** Good ones beyond the limit. */
  readonly beyond: readonly Weighed[]
}

/** What the best has to say before anything has to do with a goal. */
const faintFor = (familiar: number, second: number, { floors }: Weights): number =>
  second >= floors.second
    ? 0
    : Math.max(floors.faintLeast, Math.min(floors.faintMost, floors.faintOfUnknown * (1 - familiar)))

const comparedFor = (limit: number, { places }: Weights): number =>
  Math.max(places.leastCompared, Math.min(limit * places.compared, limit + places.mostBeyond))

const byWorth = (a: Weighed, b: Weighed): number => b.worth - a.worth || b.entry.id - a.entry.id

/** What joins whatever its score is. */
const standsAnyway = ({ evidence }: Weighed): boolean => evidence.inProgress || evidence.diary

/** The first of each facet. */
function leadersOf(ordered: readonly Weighed[]): Set<Weighed> {
  const leaders = new Map<Facet, Weighed>()
  for (const one of ordered) if (!leaders.has(one.facet)) leaders.set(one.facet, one)
  return new Set(leaders.values())
}

/** What a selection looks at: the best, and the best of each facet and what joins anyway, however many others are better. */
export function candidatesFor<T extends Weighed>(
  weighed: readonly T[],
  limit: number,
  weights: Weights = WEIGHTS,
): T[] {
  const ordered = [...weighed].sort(byWorth)
  const leaders = leadersOf(ordered)
  const most = comparedFor(limit, weights)
  return ordered.filter((one, i) => i < most || standsAnyway(one) || leaders.has(one))
}

/** Whether an entry has to do with the goal beside its standing. */
const speaksForItself = ({ evidence }: Weighed, floor: number, weights: Weights): boolean =>
  isMeant(evidence.asked, weights) || relevance(byItself(evidence), weights) >= floor

/**
 * What stands first: diary pages and work that has to do with the goal, then the newest of the other work, unless the pack is too small for
 * a share of it.
 */
function standing(distinct: readonly Selectable[], limit: number, floor: number, weights: Weights): Selectable[] {
  const { places } = weights
  if (limit === 1) return []
  let unrelated = Math.min(places.mostUnrelated, Math.floor(limit * places.unrelated))
  return distinct
    .filter((one) => {
      if (!standsAnyway(one)) return false
      if (one.evidence.diary || speaksForItself(one, floor, weights)) return true
      return unrelated-- > 0
    })
    .slice(0, Math.ceil(limit * places.anyway))
}

/** Without what says the same as a better one; entries that contradict each other both stay. */
async function distinctOf(
  ordered: readonly Selectable[],
  nearness: Nearness,
  opponents: Opponents,
  yielder: Yielder,
  weights: Weights,
): Promise<Selectable[]> {
  const distinct: Selectable[] = []
  for (const one of ordered) {
    let looked = 0
    const same = (other: Selectable): boolean => {
      if ((nearness(one, other) ?? 1) < weights.likeness.near) return false
      looked += one.shape.pairs.size
      return isNearlySame(one.shape, other.shape, weights) && !opponents(one.entry.id).has(other.entry.id)
    }
    if (!distinct.some(same)) distinct.push(one)
    await yielder.spend(looked)
  }
  return distinct
}

/** All but the first of these at the end, where there may be no room for them. */
function withLast(chosen: readonly Selectable[], unrelated: readonly Selectable[]): Selectable[] {
  const last = new Set(unrelated.slice(1))
  return [...chosen.filter((one) => !last.has(one)), ...last]
}

/** What a pack is chosen for. */
export interface Wanted {
  readonly limit: number
  readonly intent: Intent
  /** 0 to 1: how much of the goal's words stands in some entry. */
  readonly familiar: number
  /** 0 to 1: how much of the goal are codes. */
  readonly named: number
  /** Entries that the caller sees, as far as they were counted. */
  readonly entries: number
}

/**
 * What has to do with a goal: related, or worth a place that nothing better takes.
 *
 * @param weighed best first
 */
function standardsFor(weighed: readonly Selectable[], { intent, familiar, named }: Wanted, weights: Weights) {
  const { floors } = weights
  const [top = null, next = null] = weighed.filter((one) => !standsAnyway(one)).sort((a, b) => b.score - a.score)
  const best = top?.score ?? 0
  const faint = faintFor(familiar, next?.score ?? 0, weights)
  // Who asks for a name wants what holds it, or what is like it.
  const isNamed = named >= floors.isName && top?.evidence.identifierShare === 1
  const called = Math.max(0, ...weighed.filter(({ evidence }) => evidence.named.length > 0).map(({ score }) => score))
  const low =
    best < faint
      ? faint
      : Math.max(floors.floor, (isNamed ? floors.besideNamed : floors.besideBest) * best, floors.besideCalled * called)
  const isAnswer = best >= floors.answer
  const isWorthALook = ({ score, worth, evidence }: Weighed): boolean =>
    score >= floors.floor ||
    (!isAnswer && worth >= floors.worthALook && (worth > score || evidence.similarity > floors.worthSaying))
  const comesFirst = ({ facet }: Weighed): boolean => top !== null && standsBefore(facet, top.facet, intent)
  const floorOf = (one: Weighed): number =>
    isAnswer && comesFirst(one) ? Math.max(low, floors.beforeAnswer * best) : low
  return {
    best,
    low,
    floorOf,
    isRelated: (one: Weighed): boolean => scoreByItself(one, weights) >= floorOf(one),
    fills: (one: Weighed): boolean =>
      best >= faint &&
      !isNamed &&
      called === 0 &&
      !standsAnyway(one) &&
      isWorthALook(one) &&
      one.score < low &&
      !(isAnswer && comesFirst(one)),
  }
}

/**
 * Work and diary pages, one of each facet that has a good hit, then what is related, and what is not unrelated while there is room.
 *
 * @param weighed in any order
 */
export async function select(
  weighed: readonly Selectable[],
  wanted: Wanted,
  opponents: Opponents,
  yielder: Yielder,
  weights: Weights = WEIGHTS,
): Promise<Selection> {
  const { places, floors } = weights
  const { limit } = wanted
  const ordered = [...weighed].sort(byWorth)
  const { best, low, floorOf, isRelated, fills } = standardsFor(ordered, wanted, weights)
  const good = ordered.filter((one) => isRelated(one) || standsAnyway(one))
  const leaders = leadersOf(good)
  const most = comparedFor(limit, weights)
  const compared = [...good, ...ordered.filter(fills)].filter((one, i) => i < most || leaders.has(one))
  const nearness = createNearness(compared)
  const distinct = await distinctOf(compared, nearness, opponents, yielder, weights)
  const byId = new Map(ordered.map((one) => [one.entry.id, one]))
  const pool = new Set(distinct)
  const chosen = new Set<Selectable>()
  const nearest = new Map<Selectable, number>()
  const perFacet = new Map<Facet, number>()
  const isFull = () => chosen.size >= limit

  const likeness = (a: Selectable, b: Selectable): number => nearness(a, b) ?? overlap(a.shape.words, b.shape.words)

  /** Those that an entry would bring along, because whoever reads one side of a contradiction needs the other. */
  function* companions(one: Selectable): Generator<Selectable> {
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
    if (one.vector === null) await yielder.spend(pool.size * one.shape.words.size)
    for (const other of [...companions(one)].sort(byWorth)) if (!isFull() && !chosen.has(other)) await take(other)
  }

  /** Sides of a contradiction take their places together, so each is worth what they are worth on average. */
  function shared(one: Selectable, worthOf: (one: Selectable) => number): number {
    let [sum, count] = [worthOf(one), 1]
    for (const other of companions(one)) {
      sum += worthOf(other)
      count++
    }
    return sum / count
  }
  const score = (one: Selectable): number => shared(one, (other) => scoreByItself(other, weights))

  /** What an entry adds to those that are chosen. */
  function added(one: Selectable): number {
    const crowd = Math.max(0, (perFacet.get(one.facet) ?? 0) + 1 - Math.ceil(limit * places.shareOfFacet))
    return one.worth * (1 - places.alike * (nearest.get(one) ?? 0)) - places.crowded * crowd
  }

  /** Takes those of some that add most, until none is left, the pack is full or so many are taken. */
  async function takeBest(some: readonly Selectable[], most = limit): Promise<void> {
    const full = Math.min(limit, chosen.size + most)
    for (let left = some; chosen.size < full; ) {
      left = left.filter((one) => pool.has(one))
      let next: { readonly one: Selectable; readonly adds: number } | null = null
      for (const one of left) {
        const adds = shared(one, added)
        if (next === null || adds > next.adds) next = { one, adds }
      }
      if (next === null) return
      await take(next.one)
    }
  }

  for (const one of standing(distinct, limit, low, weights)) if (!isFull() && pool.has(one)) await take(one)
  for (const one of distinct)
    if (
      !isFull() &&
      pool.has(one) &&
      !perFacet.has(one.facet) &&
      score(one) >= Math.max(floorOf(one), places.nearBest * best)
    )
      await take(one)
  const related = distinct.filter((one) => speaksForItself(one, low, weights) && score(one) >= floorOf(one))
  await takeBest(related)
  const beyond = related.filter((one) => pool.has(one))
  const standsFor = (one: Selectable): boolean =>
    one.score < floors.floor ? opponents(one.entry.id).size === 0 : score(one) >= floors.floor
  await takeBest(
    distinct.filter((one) => fills(one) && standsFor(one)),
    Math.floor(wanted.entries * floors.fillersOfStore),
  )
  if (![...chosen].some(standsAnyway)) await takeBest(distinct.filter(standsAnyway), 1)
  const standingBy = distinct.filter((one) => standsAnyway(one) && !chosen.has(one))
  const apart = new Set(distinct)
  const looked = new Set(compared)
  const unrelated = [...chosen].filter(
    (one) => !one.evidence.diary && standsAnyway(one) && !speaksForItself(one, low, weights),
  )
  return {
    chosen: withLast([...chosen], unrelated),
    unrelated: new Set(unrelated),
    fillers: new Set([...chosen].filter((one) => one.score < low)),
    duplicates: compared.filter((one) => !apart.has(one)),
    beyond: [...new Set([...beyond, ...standingBy, ...good.filter((one) => !looked.has(one))])],
  }
}
