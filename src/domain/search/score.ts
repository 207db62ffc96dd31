import type { Token } from './analysis'
import type { SearchMode, Unit } from './query'

/**
 * Scores full-text matches (threads contract §6.4). The database finds candidates and this ranks them, so both
 * databases return the same order. Each matched word contributes BM25 with full length normalization and the positive
 * part of a query-likelihood model with Dirichlet smoothing. Short entries get a bonus, and in `match` an entry gets a
 * fraction of the scores of its neighbors in the thread. docs/subjects/ranking.md explains the choices.
 */
const MU = 50
const K1 = 1.2
/** Minimum number of entries for rarity, so that rare words count in a small store too. */
const SMALLEST_STORE = 20
/** Weight of the length bonus; less for a query of fewer words. */
const SHORTNESS = 5
const NEIGHBOR_SHARES = [0.2, 0.04] as const
/**
 * For queries up to this number of units, entries that contain all of them come first. Of longer queries, long entries
 * contain all by chance.
 */
const TIER_UNITS = 3
/** Bonus of an entry that contains all units of a longer query. */
const COMPLETE_BONUS = 2

/** Weight of a word in the title, in words of the text. */
export const TITLE_TIMES = 2
/** Weight of a compound or a part of one, in words of the text. */
export const PART_TIMES = 0.5

/** A query word that is scored. */
export interface ScoredTerm {
  readonly term: string
  /** How it is compared: by stem, by folded word, or as a prefix. */
  readonly by: 'stem' | 'word' | 'beginning'
}

/** Inverse document frequency of BM25, from the number of entries that contain a term. */
export const rarityOf = (holding: number, entries: number): number =>
  Math.log(1 + (Math.max(entries, holding) - holding + 0.5) / (holding + 0.5))

/** Statistics of all entries that the caller can search. Approximate values are sufficient. */
export interface TermStatistics {
  readonly entries: number
  /** Mean number of content words of an entry. */
  readonly averageLength: number
  /** Number of entries with each scored term, in the order of the terms. */
  readonly entriesWithTerm: readonly number[]
  /** Indexes of terms that entries contain only as parts of compounds. */
  readonly partly?: readonly number[]
}

export interface Candidate {
  readonly id: number
  /** Content words of the complete entry. */
  readonly length: number
  /** Frequency of each scored term, in the order of the terms. */
  readonly frequencies: readonly number[]
  /** IDs of the next two entries in its thread, in order. */
  readonly following: readonly number[]
  /** Whether it contains every unit of the query. */
  readonly complete: boolean
  /** Number of words of its title if the query equals the title (`titleWords`), else 0. */
  readonly titled: number
  /** Whether it contains only parts or compounds of the words. */
  readonly isByParts?: boolean
}

export interface Ranked {
  readonly id: number
  readonly score: number
  readonly titled: number
}

/** The distinct content words of the units, or all words without content words. */
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

/** Counts terms in several texts: `feed` passes the words of a text; the result is in the order of the terms. */
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

/** Counts each term in the tokens. */
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
    // The database may count fewer entries than match, so at least one is assumed.
    const df = Math.min(Math.max(statistics.entriesWithTerm[i] as number, 1), Math.max(entries, 1))
    const idf = Math.log(1 + (entries - df + 0.5) / (df + 0.5))
    const likelihood = Math.log(1 + f / (MU * (df / total))) + Math.log(MU / (candidate.length + MU))
    sum += Math.max(0, likelihood) + (idf * f * (K1 + 1)) / (f + (K1 * candidate.length) / average)
  }
  return Math.max(sum, SMALLEST)
}

/** Minimum score, because scores are positive. */
const SMALLEST = 1e-9
/** Minimum fraction of the query that a title must contain to count as equal. */
const TITLE_SHARE = 0.75

/**
 * The number of content words of a title that equals the query or nearly does; else 0.
 * @param query the distinct content words of the query
 */
export function titleWords(title: Iterable<Pick<Token, 'term' | 'isStopWord'>>, query: ReadonlySet<string>): number {
  const words = new Set<string>()
  for (const { term, isStopWord } of title) if (!isStopWord) words.add(term)
  for (const word of words) if (!query.has(word)) return 0
  return words.size >= TITLE_SHARE * query.size ? words.size : 0
}

/** Whether entries with all units come first for such a query. */
export const hasTier = (mode: SearchMode, units: number): boolean => mode === 'match' && units <= TIER_UNITS

/**
 * Scores and sorts candidates: first entries whose title equals the query, then entries with complete words before
 * those with parts only, then, in `match`, entries with all units of a query of two or three, then by score, then the
 * newer ID. Without scored terms (a query that only negates) every score is 0.
 * @param units number of units of the query
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
    // Summed in one fixed order, because floating-point sums depend on the order.
    const whole = candidates.filter(({ isByParts }) => isByParts !== true)
    for (const candidate of whole.toSorted((a, b) => a.id - b.id)) {
      for (const [distance, share] of NEIGHBOR_SHARES.entries()) {
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
  // Parts of words score below the words themselves.
  return scored.map(({ id, score, titled, isByParts }) => ({
    ...{ id, titled },
    score: isByParts ? Math.min(score, lowest) : score,
  }))
}
