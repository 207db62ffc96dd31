import type { QuantizedVector } from '../meaning/vector'
import type { Pace } from '../pace'
import { byItself, relevance, scoreByItself, type Weighed, WORTH_SAYING } from './evidence'
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
  /** Those that only take places that are left. */
  readonly fillers: ReadonlySet<Selectable>
  /** Entries that say what a chosen one says. */
  readonly duplicates: number
  /** Good ones beyond the limit. */
  readonly beyond: number
}

/** Entries below it have too little to do with the goal. */
export const FLOOR = 0.13
/**
 * Where even the best says less than this, nothing has to do with the goal: a word that both have by accident says that much. The less
 * of its words the store knows, the more the best has to say.
 */
const FAINT = { ofUnknown: 0.6, least: 0.25, most: 0.45 } as const
/** A word that both have by accident lifts one entry: where a second one says this much too, something is known of the goal. */
const SECOND = 0.3
const faintFor = (familiar: number, second: number): number =>
  second >= SECOND ? 0 : Math.max(FAINT.least, Math.min(FAINT.most, FAINT.ofUnknown * (1 - familiar)))

/** Beside a good hit what says less than this share of it has its place after all others. */
const BESIDE_BEST = 0.315
/** And of a goal that is a name and little else: what only looks like it says less. */
const BESIDE_NAMED = 0.45
const IS_NAME = 0.5
/** A hit this good is taken for the answer: sections that stand before it hold only what is worth reading first. */
const ANSWER = 0.6
const BEFORE_ANSWER = 0.5
/**
 * Where nothing is, what is asked for is said in other words: places that are left go to what words or meaning found and is worth
 * this much.
 */
const WORTH_A_LOOK = 0.05

/** A facet whose best says this share of what the best of all says has a place. */
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
const MOST_BEYOND = 50
const comparedFor = (limit: number): number => Math.max(LEAST_COMPARED, Math.min(limit * COMPARED, limit + MOST_BEYOND))

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
export function candidatesFor<T extends Weighed>(weighed: readonly T[], limit: number): T[] {
  const ordered = [...weighed].sort(byWorth)
  const leaders = leadersOf(ordered)
  const most = comparedFor(limit)
  return ordered.filter((one, i) => i < most || standsAnyway(one) || leaders.has(one))
}

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
  let unrelated = Math.min(MOST_UNRELATED, Math.max(1, Math.floor(limit * UNRELATED)))
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

/** What a pack is chosen for. */
export interface Wanted {
  readonly limit: number
  readonly intent: Intent
  /** 0 to 1: how much of the goal's words stands in some entry. */
  readonly familiar: number
  /** 0 to 1: how much of the goal are codes. */
  readonly named: number
}

/**
 * What has to do with a goal: related, or worth a place that nothing better takes.
 *
 * @param weighed best first
 */
function standardsFor(weighed: readonly Selectable[], { intent, familiar, named }: Wanted) {
  const [top = null, next = null] = weighed.filter((one) => !standsAnyway(one)).sort((a, b) => b.score - a.score)
  const best = top?.score ?? 0
  const faint = faintFor(familiar, next?.score ?? 0)
  // Who asks for a name wants what holds it, or what is like it.
  const isNamed = named >= IS_NAME && top?.evidence.identifierShare === 1
  const low = best < faint ? faint : Math.max(FLOOR, (isNamed ? BESIDE_NAMED : BESIDE_BEST) * best)
  const isAnswer = best >= ANSWER
  const isWorthALook = ({ score, worth, evidence }: Weighed): boolean =>
    score >= FLOOR || (!isAnswer && worth >= WORTH_A_LOOK && (worth > score || evidence.similarity > WORTH_SAYING))
  const comesFirst = ({ facet }: Weighed): boolean => top !== null && standsBefore(facet, top.facet, intent)
  const floorOf = (one: Weighed): number => (isAnswer && comesFirst(one) ? Math.max(low, BEFORE_ANSWER * best) : low)
  return {
    best,
    low,
    floorOf,
    isRelated: (one: Weighed): boolean => scoreByItself(one) >= floorOf(one),
    fills: (one: Weighed): boolean =>
      best >= faint &&
      !isNamed &&
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
  pace: Pace,
): Promise<Selection> {
  const { limit } = wanted
  const ordered = [...weighed].sort(byWorth)
  const { best, low, floorOf, isRelated, fills } = standardsFor(ordered, wanted)
  const good = ordered.filter((one) => isRelated(one) || standsAnyway(one))
  const leaders = leadersOf(good)
  const most = comparedFor(limit)
  const compared = [...good, ...ordered.filter(fills)].filter((one, i) => i < most || leaders.has(one))
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
    for (const other of [...brought(one)].sort(byWorth)) if (!isFull() && !chosen.has(other)) await take(other)
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
  const score = (one: Selectable): number => shared(one, scoreByItself)

  /** What an entry adds to those that are chosen. */
  function added(one: Selectable): number {
    const crowd = Math.max(0, (perFacet.get(one.facet) ?? 0) + 1 - Math.ceil(limit * SHARE))
    return one.worth * (1 - ALIKE * (nearest.get(one) ?? 0)) - CROWDED * crowd
  }

  /** Takes those of some that add most, until none is left or the pack is full. */
  async function takeBest(some: readonly Selectable[]): Promise<void> {
    for (let left = some; !isFull(); ) {
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

  for (const one of standing(distinct, limit, low)) if (!isFull() && pool.has(one)) await take(one)
  for (const one of distinct)
    if (
      !isFull() &&
      pool.has(one) &&
      !perFacet.has(one.facet) &&
      score(one) >= Math.max(floorOf(one), NEAR_BEST * best)
    )
      await take(one)
  const related = distinct.filter((one) => speaksForItself(one, low) && score(one) >= floorOf(one))
  await takeBest(related)
  const beyond = related.filter((one) => pool.has(one)).length
  const standsFor = (one: Selectable): boolean =>
    one.score < FLOOR ? opponents(one.entry.id).size === 0 : score(one) >= FLOOR
  await takeBest(distinct.filter((one) => fills(one) && standsFor(one)))
  const duplicates = compared.length - distinct.length
  const looked = new Set(compared)
  const aside = [...chosen].filter((one) => !one.evidence.diary && standsAnyway(one) && !speaksForItself(one, low))
  return {
    chosen: withLast([...chosen], aside),
    aside: new Set(aside),
    fillers: new Set([...chosen].filter((one) => one.score < low)),
    duplicates,
    beyond: beyond + good.filter((one) => !looked.has(one)).length,
  }
}
