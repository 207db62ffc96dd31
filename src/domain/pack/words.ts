import type { Analyzer, Token } from '../analysis'
import type { ScoredTerm, TermStatistics } from '../score'

/** How much of a goal's words a text holds, on a scale that is the same for every goal. */
export interface GoalWords {
  readonly terms: readonly ScoredTerm[]
  /** Of each term: how rare it is where the caller looks. */
  readonly weights: readonly number[]
  /** The word of the goal that a term comes from. */
  readonly spelled: readonly string[]
  /** What a text holds that has as much of the goal as one text can be expected to. */
  readonly whole: number
}

/** A text that holds this many of the rarest words of a long goal holds all that one memory can. */
const EXPECTED = 7
/** What a word counts that stands nowhere. */
const NOWHERE = 0.5
/** Entries that a store is taken to have at least, so that rarity means something in a small one. */
const SMALLEST_STORE = 20
/** Words from which a text begins to hold words by accident. */
const LONG = 150
const LENGTH_COST = 0.12
/** What a title adds to the words that it holds. */
const IN_TITLE = 0.25

const rarity = (df: number, entries: number): number => Math.log(1 + (entries - df + 0.5) / (df + 0.5))

export function goalWords(
  terms: readonly ScoredTerm[],
  statistics: TermStatistics | null,
  query: Iterable<Token>,
): GoalWords {
  const entries = Math.max(SMALLEST_STORE, statistics?.entries ?? 0)
  const words = new Map<string, string>()
  for (const { term, word } of query) if (!words.has(term)) words.set(term, word)
  const weights = terms.map((_, i) => {
    const df = Math.min(statistics?.entriesWithTerm[i] ?? 0, entries)
    return rarity(Math.max(df, 1), entries) * (df === 0 ? NOWHERE : 1)
  })
  const strongest = [...weights].sort((a, b) => b - a).slice(0, EXPECTED)
  return {
    terms,
    weights,
    spelled: terms.map(({ term }) => words.get(term) ?? term),
    whole: strongest.reduce((sum, weight) => sum + weight, 0),
  }
}

export interface WordEvidence {
  readonly share: number
  /** Rarest first. */
  readonly matched: readonly string[]
}

/**
 * @param inTitle,inText how often each term stands there
 * @param length content words of the text
 */
export function wordEvidence(
  { terms, weights, spelled, whole }: GoalWords,
  inTitle: readonly number[],
  inText: readonly number[],
  length: number,
): WordEvidence {
  if (whole === 0) return { share: 0, matched: [] }
  let sum = 0
  const matched: number[] = []
  for (let i = 0; i < terms.length; i++) {
    const title = inTitle[i] as number
    const text = inText[i] as number
    if (title + text === 0) continue
    matched.push(i)
    sum += (weights[i] as number) * (1 + (title > 0 ? IN_TITLE : 0))
  }
  const long = 1 + LENGTH_COST * Math.log(Math.max(1, length / LONG))
  matched.sort((a, b) => (weights[b] as number) - (weights[a] as number) || a - b)
  return { share: Math.min(1, sum / whole / long), matched: [...new Set(matched.map((i) => spelled[i] as string))] }
}

/** By term, for finding the place where they stand together. */
export const weightsByTerm = ({ terms, weights }: GoalWords): ReadonlyMap<string, number> =>
  new Map(terms.map(({ term }, i) => [term, weights[i] as number]))

/** The terms of a text counted, and how many words it has. */
export function counted(text: string, analyzer: Analyzer): { counts: Map<string, number>; length: number } {
  const counts = new Map<string, number>()
  let length = 0
  for (const { term, isStopWord } of analyzer.tokens(text)) {
    counts.set(term, (counts.get(term) ?? 0) + 1)
    if (!isStopWord) length++
  }
  return { counts, length }
}
