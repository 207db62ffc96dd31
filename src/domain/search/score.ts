import type { Token } from './analysis'
import type { SearchMode, Unit } from './query'

/**
 * The one scorer of full-text search (threads contract §6.4): the engine finds candidates, this ranks them, so both
 * databases give the same order. Of each word that an entry holds, BM25 with full length normalization and the positive part of a
 * query-likelihood model with Dirichlet smoothing; a prior for short entries; and in `match` a share of the scores of the neighbors in
 * the thread. docs/subjects/ranking.md has the measurements.
 */
const MU = 50
const K1 = 1.2
/** Smallest number of entries to calculate with, so that rare words count in a small store too. */
const SMALLEST_STORE = 20
/** An entry of the average length earns this more than one that is e times as long; less for a query of fewer words. */
const SHORTNESS = 5
const NEIGHBOUR_SHARES = [0.2, 0.04] as const
/** Up to so many units, entries that hold them all come first; of more, long entries hold all by accident. */
const TIER_UNITS = 3
/** What an entry that holds all of more units than that earns beside. */
const COMPLETE_BONUS = 2

/** A word of the title counts as often as this many of the text. */
export const TITLE_TIMES = 2
/** A compound with a word, or a part of a compound, counts as often. */
export const PART_TIMES = 0.5

/** A word of the query that earns score. */
export interface ScoredTerm {
  readonly term: string
  /** What it is compared with: the stem of a word, the word as it is written, or the beginning of that. */
  readonly by: 'stem' | 'word' | 'beginning'
}

/** The weight of a term by the number of entries that hold it (BM25's inverse document frequency). */
export const rarityOf = (holding: number, entries: number): number =>
  Math.log(1 + (Math.max(entries, holding) - holding + 0.5) / (holding + 0.5))

/** Counts over everything the caller may search. Approximate is enough. */
export interface TermStatistics {
  readonly entries: number
  /** Mean content length of an entry. */
  readonly averageLength: number
  /** In how many entries each scored term occurs, in the order of the terms. */
  readonly entriesWithTerm: readonly number[]
  /** Places of terms that entries hold by parts alone. */
  readonly partly?: readonly number[]
}

export interface Candidate {
  readonly id: number
  /** Content words in the whole entry. */
  readonly length: number
  /** How often each scored term occurs, in the order of the terms. */
  readonly frequencies: readonly number[]
  /** Ids of the entries one and two places after it in its thread, nearest first. */
  readonly following: readonly number[]
  /** Contains every unit of the query. */
  readonly complete: boolean
  /** Words of its title where the query is that title (`titleWords`), else 0. */
  readonly titled: number
  /** Holds only parts or compounds of the words. */
  readonly isByParts?: boolean
}

export interface Ranked {
  readonly id: number
  readonly score: number
  readonly titled: number
}

/** The distinct words of the units that carry content, or all of them when none does. */
export function scoredTerms(units: readonly Unit[]): ScoredTerm[] {
  const terms = new Map<string, ScoredTerm & { stop: boolean }>()
  for (const unit of units) {
    for (const [i, term] of unit.terms.entries()) {
      const by = !unit.prefix ? 'stem' : i === unit.terms.length - 1 ? 'beginning' : 'word'
      terms.set(`${by}:${term}`, { term, by, stop: by !== 'beginning' && unit.stops[i] === true })
    }
  }
  const all = [...terms.values()]
  const content = all.filter(({ stop }) => !stop)
  return (content.length > 0 ? content : all).map(({ term, by }) => ({ term, by }))
}

/** Counts terms in one text after another: `feed` hands on its words, what comes back is in the order of the terms. */
type TermCounter = (feed: (visit: (word: Pick<Token, 'term' | 'word'>) => void) => void) => number[]

export function createTermCounter(terms: readonly ScoredTerm[]): TermCounter {
  const placesBy = (by: ScoredTerm['by']) =>
    new Map(terms.flatMap((one, place) => (one.by === by ? [[one.term, place] as const] : [])))
  const stems = placesBy('stem')
  const words = placesBy('word')
  const beginnings = [...placesBy('beginning')]
  return (feed) => {
    const counts = terms.map(() => 0)
    const add = (place: number | undefined) => {
      if (place !== undefined) counts[place] = (counts[place] as number) + 1
    }
    feed(({ term, word }) => {
      add(stems.get(term))
      if (words.size > 0) add(words.get(word))
      for (const [beginning, place] of beginnings) if (word.startsWith(beginning)) add(place)
    })
    return counts
  }
}

/** How often each term occurs among the tokens. */
export const countTerms = (terms: readonly ScoredTerm[], tokens: Iterable<Token>): number[] =>
  createTermCounter(terms)((visit) => {
    for (const token of tokens) visit(token)
  })

function ownEvidence(candidate: Candidate, statistics: TermStatistics, bonus: number): number {
  const { averageLength } = statistics
  const entries = Math.max(SMALLEST_STORE, statistics.entries)
  const total = Math.max(1, entries * averageLength)
  const average = Math.max(averageLength, 1)
  const shortness = Math.min(SHORTNESS, candidate.frequencies.length)
  let sum = shortness * Math.log((average + MU) / (candidate.length + MU)) + (candidate.complete ? bonus : 0)
  for (const [i, f] of candidate.frequencies.entries()) {
    if (f === 0) continue
    // The engine may count fewer entries than it really holds; an entry at hand contains the term at least once.
    const df = Math.min(Math.max(statistics.entriesWithTerm[i] as number, 1), Math.max(entries, 1))
    const idf = Math.log(1 + (entries - df + 0.5) / (df + 0.5))
    const likelihood = Math.log(1 + f / (MU * (df / total))) + Math.log(MU / (candidate.length + MU))
    sum += Math.max(0, likelihood) + (idf * f * (K1 + 1)) / (f + (K1 * candidate.length) / average)
  }
  return Math.max(sum, SMALLEST)
}

/** A score is positive. */
const SMALLEST = 1e-9
/** A query is a title when the words of the title are all in it and at least this share of it. */
const TITLE_SHARE = 0.75

/**
 * How many content words a title has where a query is that title, or says little more; else 0.
 *
 * @param query the distinct content words of the query
 */
export function titleWords(title: Iterable<Pick<Token, 'term' | 'isStopWord'>>, query: ReadonlySet<string>): number {
  const words = new Set<string>()
  for (const { term, isStopWord } of title) if (!isStopWord) words.add(term)
  for (const word of words) if (!query.has(word)) return 0
  return words.size >= TITLE_SHARE * query.size ? words.size : 0
}

/** Whether entries that hold every unit of such a query stand before all others. */
export const hasTier = (mode: SearchMode, units: number): boolean => mode === 'match' && units <= TIER_UNITS

/**
 * Scores and orders candidates: first those whose title the query is, then those that hold words and not only parts of them, then in
 * `match` those that hold every unit of a query of two or three, then by score, then the newer id. Without any scored term (a query
 * that only negates) every score is 0.
 *
 * @param units how many units the query has
 */
export function rank(
  candidates: readonly Candidate[],
  statistics: TermStatistics,
  { mode, units }: { readonly mode: SearchMode; readonly units: number },
): Ranked[] {
  const isTiered = hasTier(mode, units)
  const bonus = mode === 'match' && !isTiered ? COMPLETE_BONUS : 0
  const evidence = new Map(candidates.map((candidate) => [candidate.id, ownEvidence(candidate, statistics, bonus)]))
  const byParts = new Set(candidates.flatMap(({ id, isByParts }) => (isByParts ? [id] : [])))
  const shared = new Map<number, number>()
  if (mode === 'match') {
    // In one order, however a database put them: sums of the same numbers in another differ in their last digit.
    const whole = candidates.filter(({ isByParts }) => isByParts !== true)
    for (const candidate of whole.toSorted((a, b) => a.id - b.id)) {
      for (const [distance, share] of NEIGHBOUR_SHARES.entries()) {
        const other = candidate.following[distance]
        if (other === undefined || !evidence.has(other) || byParts.has(other)) continue
        shared.set(candidate.id, (shared.get(candidate.id) ?? 0) + share * (evidence.get(other) as number))
        shared.set(other, (shared.get(other) ?? 0) + share * (evidence.get(candidate.id) as number))
      }
    }
  }
  const scored = candidates.map((candidate) => {
    const { id, frequencies, complete, titled, isByParts = false } = candidate
    const score = frequencies.length === 0 ? 0 : (evidence.get(id) as number) + (shared.get(id) ?? 0)
    return { id, score, complete, titled, isByParts }
  })
  const lowest = Math.min(...scored.flatMap(({ score, isByParts }) => (isByParts ? [] : [score])))
  scored.sort(
    (a, b) =>
      b.titled - a.titled ||
      Number(a.isByParts) - Number(b.isByParts) ||
      (isTiered ? Number(b.complete) - Number(a.complete) : 0) ||
      b.score - a.score ||
      b.id - a.id,
  )
  // Parts of words say less than the words themselves, however many they are.
  return scored.map(({ id, score, titled, isByParts }) => ({
    ...{ id, titled },
    score: isByParts ? Math.min(score, lowest) : score,
  }))
}
