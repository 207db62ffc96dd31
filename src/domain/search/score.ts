import type { Token } from './analysis'
import type { SearchMode } from './query'
import type { Unit } from './query-unit'

/**
 * The one scorer of full-text search (threads contract §6.4): the engine finds candidates, this ranks them, so both
 * databases give the same order. A query-likelihood model with Dirichlet smoothing plus a BM25 term, and in `match` a
 * share of what the neighbours in the thread earn.
 */
const MU = 50
const K1 = 1.2
const B = 0.75
const NEIGHBOUR_SHARES = [0.2, 0.04] as const
/** Up to so many units, entries that hold them all come first; of more, long entries hold all by accident. */
const TIER_UNITS = 3
/** What an entry that holds all of more units than that earns beside. */
const COMPLETE_BONUS = 2

/** A word of the title counts as often as this many of the text. */
export const TITLE_TIMES = 2

/** A word of the query that earns score. */
export interface ScoredTerm {
  readonly term: string
  /** What it is compared with: the stem of a word, the word as it is written, or the beginning of that. */
  readonly by: 'stem' | 'word' | 'beginning'
}

/** Counts over everything the caller may search. Approximate is enough. */
export interface TermStatistics {
  readonly entries: number
  /** Mean content length of an entry. */
  readonly averageLength: number
  /** In how many entries each scored term occurs, in the order of the terms. */
  readonly entriesWithTerm: readonly number[]
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
}

export interface Ranked {
  readonly id: number
  readonly score: number
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

function ownEvidence(candidate: Candidate, statistics: TermStatistics): number {
  const { entries, averageLength } = statistics
  const total = Math.max(1, entries * averageLength)
  let sum = 0
  for (const [i, f] of candidate.frequencies.entries()) {
    if (f === 0) continue
    // The engine may count fewer entries than it really holds; an entry at hand contains the term at least once.
    const df = Math.min(Math.max(statistics.entriesWithTerm[i] as number, 1), Math.max(entries, 1))
    const idf = Math.log(1 + (entries - df + 0.5) / (df + 0.5))
    const saturation = f + K1 * (1 - B + (B * candidate.length) / Math.max(averageLength, 1))
    sum += Math.log(1 + f / (MU * (df / total))) + (idf * f * (K1 + 1)) / saturation
  }
  return sum
}

/** ln(1 + e^x), positive and without overflow. The full value: what is shown is rounded where it is shown. */
function softplus(x: number): number {
  return x > 30 ? x : Math.max(Number.MIN_VALUE, Math.log1p(Math.exp(x)))
}

/** Whether entries that hold every unit of such a query stand before all others. */
export const hasTier = (mode: SearchMode, units: number): boolean => mode === 'match' && units <= TIER_UNITS

/**
 * Scores and orders candidates: in `match` those that hold every unit of a query of two or three first, then by score,
 * then the newer id. Without any scored term (a query that only negates) every score is 0.
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
  const evidence = new Map(candidates.map((candidate) => [candidate.id, ownEvidence(candidate, statistics)]))
  const shared = new Map<number, number>()
  if (mode === 'match') {
    // In one order, however a database put them: sums of the same numbers in another differ in their last digit.
    for (const candidate of candidates.toSorted((a, b) => a.id - b.id)) {
      for (const [distance, share] of NEIGHBOUR_SHARES.entries()) {
        const other = candidate.following[distance]
        if (other === undefined || !evidence.has(other)) continue
        shared.set(candidate.id, (shared.get(candidate.id) ?? 0) + share * (evidence.get(other) as number))
        shared.set(other, (shared.get(other) ?? 0) + share * (evidence.get(candidate.id) as number))
      }
    }
  }
  const scored = candidates.map((candidate) => {
    const terms = candidate.frequencies.length
    const x =
      (evidence.get(candidate.id) as number) +
      terms * Math.log(MU / (candidate.length + MU)) +
      (shared.get(candidate.id) ?? 0) +
      (candidate.complete ? bonus : 0)
    return { id: candidate.id, score: terms === 0 ? 0 : softplus(x), complete: candidate.complete }
  })
  scored.sort((a, b) => (isTiered ? Number(b.complete) - Number(a.complete) : 0) || b.score - a.score || b.id - a.id)
  return scored.map(({ id, score }) => ({ id, score }))
}
