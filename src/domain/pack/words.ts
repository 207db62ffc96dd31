import type { Token } from '../search/analysis'
import type { ScoredTerm, TermStatistics } from '../search/score'
import { emptyWords } from '../search/written-in'
import type { PlainTerms } from './plain-words'
import { HARDLY_A_WORD } from './sayings'
import { WEIGHTS, type Weights } from './weights'

/** How much of a goal's words a text holds, on a scale that is the same for every goal. */
export interface GoalWords {
  readonly terms: readonly ScoredTerm[]
  /** Of the entries where the caller looks: how many there are, and how many hold each term. */
  readonly counted: Pick<TermStatistics, 'entries' | 'entriesWithTerm'>
  /** Of each term: how rare it is where the caller looks. */
  readonly weights: readonly number[]
  /** Of each term: it names what the goal is about, however many entries are about it. */
  readonly subject: readonly boolean[]
  /** The word of the goal that a term comes from. */
  readonly spelled: readonly string[]
  /** Of the words that some entry holds: how rare they are. */
  readonly known: readonly number[]
  /** Of each term: it only holds a sentence together. */
  readonly empty: readonly boolean[]
  /** Of each term: few entries hold it, and it is no common word. */
  readonly rare: readonly boolean[]
  /** 0 to 1: how much of what it says are codes. */
  readonly named: number
  /** 0 to 1: how much of what it says stands in some entry. */
  readonly familiar: number
  /** What a text holds that has as much of the goal as one text can be expected to. */
  readonly whole: number
  /** The sentences of a goal of several: a text may have to do with one alone. */
  readonly sentences: readonly Sentence[]
}

export interface Sentence {
  /** Its terms, by their places among those of the goal. */
  readonly terms: readonly number[]
  /** What a text holds that has as much of it as one text can be expected to. */
  readonly whole: number
  /** How rare its rarest word is that some entry holds. */
  readonly rarest: number
}

export const sumOf = (weights: readonly number[]): number => weights.reduce((sum, weight) => sum + weight, 0)

const rarity = (df: number, entries: number): number => Math.log(1 + (entries - df + 0.5) / (df + 0.5))

/**
 * @param inScope entries that the caller's scope admits; null when nobody counted
 */
export function goalWords(
  terms: readonly ScoredTerm[],
  { statistics, inScope }: { readonly statistics: TermStatistics | null; readonly inScope: number | null },
  query: Iterable<Token>,
  { common, inCodes, inPaths, names, sentences }: PlainTerms,
  weights: Weights = WEIGHTS,
): GoalWords {
  const by = weights.words
  const known = statistics?.entries || Math.max(inScope ?? by.uncounted, ...(statistics?.entriesWithTerm ?? []))
  const entries = Math.max(by.smallestStore, known)
  const words = new Map<string, string>()
  for (const { term, word } of query) if (!words.has(term)) words.set(term, word)
  const empty = emptyWords([...words.values()])
  const shareOf = (term: string): number =>
    empty.has(words.get(term) ?? '') ? 0 : HARDLY_A_WORD.test(term) ? by.hardlyAWord : common.has(term) ? by.common : 1
  const alone = terms.map(({ term }, i) => {
    const df = Math.min(statistics?.entriesWithTerm[i] ?? 0, entries)
    return rarity(Math.max(df, 1), entries) * shareOf(term)
  })
  const isInCode = terms.map(({ term }) => inCodes.has(term))
  const isHeld = (i: number): boolean => (statistics?.entriesWithTerm[i] ?? 1) > 0
  const unheld = new Set(terms.filter((_, i) => !isHeld(i)).map(({ term }) => term))
  // What no entry holds whole only leads away from the rest of the goal.
  const strange = new Set(names.filter((name) => name.some((term) => unheld.has(term))).flat())
  const hasSubject = terms.some(({ term }) => shareOf(term) === 1 && !strange.has(term))
  const shareInName = (term: string): number => {
    if (hasSubject && strange.has(term)) return 0
    return inCodes.has(term) || inPaths.has(term) ? by.partOfCode : 1
  }
  const rarities = alone.map((weight, i) => weight * shareInName((terms[i] as ScoredTerm).term))
  const heldBySome = rarities.filter((_, i) => isHeld(i))
  const all = sumOf(rarities)
  const wholeOf = (some: readonly number[]): number =>
    Math.max(rarity(1, entries), sumOf([...some].sort((a, b) => b - a).slice(0, by.expected)))
  const whole = wholeOf(rarities)
  const sentence = (said: ReadonlySet<string>): Sentence => {
    const own = terms.flatMap(({ term }, i) => (said.has(term) ? [i] : []))
    const rarest = Math.max(0, ...own.filter(isHeld).map((i) => rarities[i] as number))
    return {
      terms: own,
      rarest,
      whole: Math.max(by.ofSentence * whole, wholeOf(own.map((i) => rarities[i] as number))),
    }
  }
  return {
    terms,
    counted: { entries, entriesWithTerm: terms.map((_, i) => statistics?.entriesWithTerm[i] ?? 0) },
    weights: rarities,
    known: heldBySome,
    named: all === 0 ? 0 : sumOf(alone.filter((_, i) => isInCode[i])) / sumOf(alone),
    familiar: all === 0 ? 1 : sumOf(heldBySome) / all,
    subject: terms.map(({ term }) => shareOf(term) === 1),
    empty: terms.map(({ term }) => empty.has(words.get(term) ?? '')),
    rare: rarities.map((weight) => weight >= by.rare * rarity(1, entries)),
    spelled: terms.map(({ term }) => words.get(term) ?? term),
    whole,
    sentences: sentences.map(sentence),
  }
}

/** By term, for finding the place where they stand together. */
export const weightsByTerm = ({ terms, weights }: GoalWords): ReadonlyMap<string, number> =>
  new Map(terms.map(({ term }, i) => [term, weights[i] as number]))
