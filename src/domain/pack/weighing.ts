import { cosineOf, dot, type QuantizedVector } from '../meaning/vector'
import type { Rescale } from '../recall/similarity'
import type { Analyzer } from '../search/analysis'
import type { Count } from '../search/counting'
import type { HeldName } from '../search/names'
import { rank } from '../search/score'
import type { Yielder } from '../yielder'
import type { Nearest, PackEntry, PackLink, PackVector } from './candidate'
import { byItself, type Evidence, facetOfEntry, isInProgress, relevance, scoreOf, type Weighed } from './evidence'
import { shareOfHeld } from './held-words'
import { holds } from './identifiers'
import { lastSessions } from './last-sessions'
import { laterMentions } from './later-mentions'
import { type Shape, shapeOf } from './likeness'
import { linkEvidence, SAYS_ANEW } from './links'
import type { PackRequest } from './request'
import { saidAnew } from './said-anew'
import type { Selectable } from './selection'
import type { Weights } from './weights'
import { wordEvidence } from './word-evidence'
import type { GoalWords } from './words'
import type { WorkAsked } from './work-asked'

/** What is known of a goal, against which every candidate is weighed. */
export interface Goal {
  readonly words: GoalWords
  readonly identifiers: readonly string[]
  readonly query: QuantizedVector | null
  /** From the model's cosines to those that the weights were chosen for. */
  readonly rescale: Rescale
  /** How many of its words an entry holds in its whole text, of those that words found. */
  readonly held: ReadonlyMap<number, { readonly words: number; readonly length: number }>
  /** What it asks of work in flight. */
  readonly asked: WorkAsked
  /** It takes up work again. */
  readonly resumes: boolean
  /** Of a kind that it asks for. */
  readonly ofKind: ReadonlySet<number>
  readonly diary: ReadonlySet<number>
  /** Made in the time that it asks for; and whether it asks for nothing else. */
  readonly recent: { readonly ids: ReadonlySet<number>; readonly only: boolean }
}

/** A candidate with its evidence and its nearest stretch. */
export interface Candidate extends Weighed {
  readonly nearest: Nearest | null
}

function nearestOf(vectors: readonly PackVector[], query: QuantizedVector, rescale: Rescale): Map<number, Nearest> {
  const nearest = new Map<number, Nearest>()
  const ofQuery = dot(query.values, query.values)
  for (const one of vectors) {
    const { entryId, start, length, vector } = one
    const squares = dot(vector.values, vector.values)
    const near = rescale(cosineOf(dot(query.values, vector.values), ofQuery, squares))
    const known = nearest.get(entryId)
    if (known === undefined || near > known.cosine || (near === known.cosine && start < known.start))
      nearest.set(entryId, { entryId, start, length, vector, cosine: near, squares })
  }
  return nearest
}

/** What is taken to be noise: what has nothing to do with the goal. */
function noiseOf(nearest: ReadonlyMap<number, Nearest>, { noise }: Weights): number {
  const cosines = [...nearest.values()].map((one) => one.cosine).sort((a, b) => a - b)
  const low = cosines[Math.floor(cosines.length * noise.at)] ?? 0
  return Math.max(noise.least, Math.min(noise.most, low))
}

const above = (cos: number, noise: number): number => Math.max(0, Math.min(1, (cos - noise) / (1 - noise)))

/** What its own words, meaning and names say for an entry. */
function ownEvidence(
  entry: PackEntry,
  near: Nearest | null,
  noise: number,
  goal: Goal,
  { count, weights, named: called }: { readonly count: Count; readonly weights: Weights; readonly named: Called },
): WithEvidence {
  const names = called.names.get(entry.id) ?? []
  // A word that is somebody's name tells only of who is called so.
  const telling = (counts: readonly number[]): readonly number[] =>
    names.length > 0 ? counts : counts.map((times, i) => (called.said.has(i) ? 0 : times))
  const named = count(entry.title ?? '')
  const { counts, length, work } = count(entry.beginning)
  const words = wordEvidence(goal.words, telling(named.counts), telling(counts), length, weights)
  const held = entry.chars > entry.beginning.length ? goal.held.get(entry.id) : undefined
  const heldWords = held === undefined ? 0 : Math.max(0, held.words - (names.length > 0 ? 0 : called.said.size))
  const share = held === undefined ? 0 : shareOfHeld(goal.words, heldWords, held.length, weights)
  const text = goal.identifiers.length === 0 ? '' : `${entry.title ?? ''}\n${entry.beginning}`.toLowerCase()
  const identifiers = goal.identifiers.filter((name) => holds(text, name.toLowerCase()))
  const evidence: Evidence = {
    words: Math.max(words.share, share),
    beyond: share > words.share,
    matched: words.matched,
    cosine: near?.cosine ?? null,
    similarity: near === null || goal.recent.only ? 0 : above(near.cosine, noise),
    identifiers,
    identifierShare: goal.identifiers.length === 0 ? 0 : identifiers.length / goal.identifiers.length,
    named: names.map(({ name }) => name),
    link: null,
    inProgress: isInProgress(entry),
    asked: Math.max(
      isInProgress(entry) && goal.asked.statuses.includes(entry.status ?? '') ? goal.asked.worth : 0,
      goal.ofKind.has(entry.id) ? weights.asked.ofKind : 0,
    ),
    diary: goal.diary.has(entry.id),
    recent: goal.recent.ids.has(entry.id) ? 1 : 0,
    later: null,
  }
  const frequencies = counts.map((times, i) => times + (named.counts[i] as number))
  return { entry, evidence, held: words.held, frequencies, length: length + named.length, work: work + named.work }
}

/** What of the entries a goal calls by name. */
interface Called {
  readonly names: ReadonlyMap<number, readonly HeldName[]>
  /** The words of the goal that say a name, by their places among its terms. */
  readonly said: ReadonlySet<number>
}

function calledIn(entries: readonly PackEntry[], namesOf: (entry: PackEntry) => readonly HeldName[]): Called {
  const names = new Map(entries.map((entry) => [entry.id, namesOf(entry)]))
  return { names, said: new Set([...names.values()].flatMap((all) => all.flatMap(({ said }) => said))) }
}

/** An entry with what its own words, meaning and names say. */
interface WithEvidence {
  readonly entry: PackEntry
  readonly evidence: Evidence
  readonly held: readonly number[]
  /** How often each term of the goal stands in its title and text, and how many words that carry content these have. */
  readonly frequencies: readonly number[]
  readonly length: number
  /** What that took, as a yielder counts it. */
  readonly work: number
}

/**
 * How full-text search ranks the entries (threads contract §6.4), as shares of the score of the first. It weighs short texts and words
 * that are not rare otherwise than evidence does, and what both find is more often right than what one finds.
 */
function rankedByWords(gathered: readonly WithEvidence[], { terms, counted }: GoalWords): Map<number, number> {
  const found = gathered.filter(({ entry, frequencies }) => !entry.superseded && frequencies.some((times) => times > 0))
  if (found.length === 0) return new Map()
  const averageLength = gathered.reduce((sum, { length }) => sum + length, 0) / gathered.length
  const ranked = rank(
    found.map(({ entry, ...rest }) => ({ ...rest, id: entry.id, following: [], complete: false })),
    { ...counted, averageLength },
    { mode: 'match', units: terms.length },
  )
  const first = ranked[0]?.score ?? 0
  return new Map(ranked.map(({ id, score }) => [id, first > 0 ? score / first : 0]))
}

/** Where something is clearly meant, what is only new says less. */
function besideSubject(alone: readonly WithEvidence[], weights: Weights): readonly WithEvidence[] {
  const says = ({ evidence }: WithEvidence): number => relevance({ ...byItself(evidence), recent: 0 }, weights)
  if (!alone.some((one) => says(one) >= weights.floors.answer)) return alone
  return alone.map((one) => {
    const { evidence } = one
    return evidence.recent === 0
      ? one
      : { ...one, evidence: { ...evidence, recent: weights.resumed.besideSubject * evidence.recent } }
  })
}

/** Weighs every candidate: what its own words, meaning and names say, then what its links say. */
export async function weigh(
  entries: readonly PackEntry[],
  found: { readonly vectors: readonly PackVector[]; readonly links: readonly PackLink[] },
  goal: Goal,
  request: PackRequest,
  by: {
    readonly steps: number
    readonly count: Count
    readonly contentWords: (text: string) => ReadonlySet<string>
    readonly namesOf: (entry: PackEntry) => readonly HeldName[]
    readonly shapeOf: (text: string) => Shape
    readonly yielder: Yielder
    readonly weights: Weights
  },
): Promise<Candidate[]> {
  const nearest = goal.query === null ? new Map<number, Nearest>() : nearestOf(found.vectors, goal.query, goal.rescale)
  const { weights } = by
  const noise = noiseOf(nearest, weights)
  const alone: WithEvidence[] = []
  const named = calledIn(entries, by.namesOf)
  for (const entry of entries) {
    alone.push(ownEvidence(entry, nearest.get(entry.id) ?? null, noise, goal, { ...by, named }))
    await by.yielder.spend((alone.at(-1) as WithEvidence).work)
  }
  const gathered = besideSubject(alone, weights)
  const own = new Map(gathered.map(({ entry, evidence }) => [entry.id, relevance(byItself(evidence), weights)]))
  const relevanceOf = ({ id }: PackEntry): number => own.get(id) as number
  const byRelevance = [...gathered].sort(
    (a, b) => relevanceOf(b.entry) - relevanceOf(a.entry) || b.entry.id - a.entry.id,
  )
  const outdated = saidAnew(
    byRelevance.map(({ entry }) => entry),
    { wordsOf: by.contentWords, shapeOf: by.shapeOf },
    weights,
  )
  for (const [older, id] of laterMentions(byRelevance, goal.words, weights))
    if (!outdated.has(older)) outdated.set(older, { id, holds: false })
  const anew = [...outdated].map(([to, { id }]): PackLink => ({ from: id, relation: SAYS_ANEW, to }))
  const links = linkEvidence([...found.links, ...anew], own, by.steps, weights)
  if (goal.resumes)
    for (const [id, link] of lastSessions(entries, nearest, own, goal.rescale, weights))
      if (link.strength > (links.get(id)?.strength ?? 0)) links.set(id, link)
  const ranked = rankedByWords(gathered, goal.words)
  return gathered.map(({ entry, evidence: before }) => {
    const evidence = { ...before, link: links.get(entry.id) ?? null, later: outdated.get(entry.id) ?? null }
    const facet = facetOfEntry(entry)
    const score = scoreOf(entry, facet, evidence, request, weights)
    const worth = score + weights.evidence.ranked * (ranked.get(entry.id) ?? 0)
    return { entry, facet, evidence, nearest: nearest.get(entry.id) ?? null, score, worth }
  })
}

/** The words of a text that carry content. */
export const contentWordsBy =
  (analyzer: Analyzer) =>
  (text: string): ReadonlySet<string> => {
    const words = new Set<string>()
    analyzer.eachWord(text, ({ term, isStopWord }) => {
      if (!isStopWord) words.add(term)
    })
    return words
  }

export function selectable(candidate: Candidate, analyzer: Analyzer): Selectable & Candidate {
  const { entry, nearest } = candidate
  let shape: Shape | null = null
  return {
    ...candidate,
    // Most entries are told apart by their vectors alone.
    get shape() {
      shape ??= shapeOf(`${entry.title ?? ''}\n${entry.beginning}`, analyzer)
      return shape
    },
    vector: nearest?.vector ?? null,
    squares: nearest?.squares ?? 0,
  }
}
