import type { Kind } from '../entry/kind'
import { type Metadata, own } from '../entry/metadata'
import type { Millis } from '../time'
import { type Content, contentMark } from './pair'
import { SUBJECT, type Subject, similarityIn } from './subject'
import { validFrom } from './validity'

/** The time from which a memory holds: its `valid_at`, else when it was stored. */
export const holdsFrom = ({ metadata, createdAt }: Pick<Listed, 'metadata' | 'createdAt'>): Millis =>
  validFrom(metadata) ?? createdAt

/**
 * IDs of memories that were judged to hold together with this one, each with the mark of the contents that were judged.
 */
function holdsNextTo(metadata: Metadata | null): ReadonlyMap<number, string> {
  const given = own(metadata, 'both_hold')
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return new Map()
  return new Map(Object.entries(given).flatMap(([id, mark]) => (typeof mark === 'string' ? [[Number(id), mark]] : [])))
}

/** A memory in a list, with what decides whether another is later on its subject. */
export interface Listed extends Content {
  readonly id: number
  readonly kind: Kind
  readonly project: string | null
  /** Two of different domains are not on one subject. */
  readonly domain: string | null
  readonly metadata: Metadata | null
  readonly createdAt: Millis
  /** The list is sorted by it; only positive scores are compared. */
  readonly score: number
  /** Null for a memory without a subject of its own, or one that was replaced. */
  readonly subject: Subject | null
  /** Whether the query equals its title or alias, so that it keeps its place. */
  readonly isNamed: boolean
}

/** Whether a judgment of exactly these contents states that both hold. */
export const bothHold = (a: Content & Pick<Listed, 'id' | 'metadata'>, b: typeof a): boolean =>
  holdsNextTo(a.metadata).get(b.id) === contentMark(a, b) || holdsNextTo(b.metadata).get(a.id) === contentMark(b, a)

/** Whether a memory holds from a later time than another. */
export const isLater = (a: Pick<Listed, 'id' | 'metadata' | 'createdAt'>, b: typeof a): boolean => {
  const [from, than] = [holdsFrom(a), holdsFrom(b)]
  return from === than ? a.id > b.id : from > than
}

export interface LaterFirst {
  /** Indexes of the given list, in the new order. */
  readonly order: readonly number[]
  /** IDs of later memories on the same subject, latest first, by ID of the earlier memory. */
  readonly later: ReadonlyMap<number, readonly number[]>
}

const isElsewhere = (a: string | null, b: string | null): boolean => (a ?? '').toLowerCase() !== (b ?? '').toLowerCase()

function isOfOneSubject(similarity: number, a: Listed, b: Listed): boolean {
  const { alike, scoredAlike, share } = SUBJECT.shown
  if (similarity >= alike) return true
  if (similarity < scoredAlike || a.kind !== b.kind) return false
  return Math.min(a.score, b.score) >= share * Math.max(a.score, b.score) && Math.min(a.score, b.score) > 0
}

/**
 * Groups memories on one subject at the place of the better one, the later one first. Two are on one subject if they
 * are similar enough and neither is more similar to a third in the list. All members remain in the list.
 * @param listed best first
 */
export function laterFirst(listed: readonly Listed[]): LaterFirst {
  const places = listed.flatMap(({ subject }, place) => (subject === null ? [] : [place]))
  const similarity = similarityIn(places.map((place) => listed[place]?.subject as Subject))
  const partners = new Map<number, Set<number>>()
  const join = (a: number, b: number): void => void partners.set(a, (partners.get(a) ?? new Set()).add(b))
  const closest = places.map((place, i) => closestTo(i, place))
  for (const [i, found] of closest.entries()) {
    if (found === null) continue
    const [place, other] = [places[i] as number, places[found.at] as number]
    const isMutual = closest[found.at]?.at === i
    if (!isMutual && found.similarity < SUBJECT.shown.nearlySame) continue
    join(place, other)
    join(other, place)
  }

  /** The most similar memory on the same subject; null for none. */
  function closestTo(i: number, place: number): { readonly at: number; readonly similarity: number } | null {
    const one = listed[place] as Listed
    let best: { readonly at: number; readonly similarity: number } | null = null
    for (const [j, otherPlace] of places.entries()) {
      const other = listed[otherPlace] as Listed
      if (i === j || other.project !== one.project || isElsewhere(one.domain, other.domain)) continue
      const found = similarity(i, j)
      if (found <= (best?.similarity ?? 0) || !isOfOneSubject(found, one, other) || bothHold(one, other)) continue
      best = { at: j, similarity: found }
    }
    return best
  }

  const latestFirst = (a: number, b: number): number => (isLater(listed[a] as Listed, listed[b] as Listed) ? -1 : 1)
  const later = new Map<number, readonly number[]>()
  for (const [place, others] of partners) {
    const newer = [...others].filter((other) => isLater(listed[other] as Listed, listed[place] as Listed))
    if (newer.length === 0) continue
    later.set(
      (listed[place] as Listed).id,
      newer.sort(latestFirst).map((other) => (listed[other] as Listed).id),
    )
  }
  const order: number[] = []
  const placed = new Set<number>()
  const put = (place: number): void => {
    if (placed.has(place)) return
    placed.add(place)
    order.push(place)
  }
  for (const place of listed.keys()) {
    if (placed.has(place)) continue
    const group = [place, ...(partners.get(place) ?? [])].filter((one) => !placed.has(one)).sort(latestFirst)
    if (listed[place]?.isNamed) put(place)
    for (const one of group) put(one)
  }
  return { order, later }
}

/** Maximum number of later memories that one memory names. */
const MOST_NAMED = 2

const named = (words: string, ids: readonly number[]): string[] =>
  ids.length === 0
    ? []
    : [
        `${words}: ${ids
          .slice(0, MOST_NAMED)
          .map((id) => `[${id}]`)
          .join(', ')}`,
      ]

/**
 * The note in which a memory names later ones on its subject; empty for none.
 * @param otherwise IDs that a model judged to contradict it
 */
export const laterWords = (later: readonly number[], otherwise: readonly number[] = []): string =>
  [
    ...named('says otherwise', otherwise),
    ...named(
      'later on the same subject',
      later.filter((id) => !otherwise.includes(id)),
    ),
  ].join('; ')
