import type { Analyzer } from '../search/analysis'
import { firstCodePoints, trim, WHITE_SPACE_RUN } from '../text'

/** Minimum overlap of words, and of adjacent words, of two near-duplicates; code points that are compared. */
export const DUPLICATE_LIMITS = { words: 0.85, pairs: 0.7, codePoints: 1_500 } as const

/** The words of a text and their order, for comparing texts in linear time. */
export interface Shape {
  /** In lower case, with white space collapsed. */
  readonly text: string
  readonly words: ReadonlySet<string>
  readonly pairs: ReadonlySet<string>
}

export function shapeOf(text: string, analyzer: Analyzer): Shape {
  const compared = firstCodePoints(text, DUPLICATE_LIMITS.codePoints)
  const words = new Set<string>()
  const pairs = new Set<string>()
  let before = ''
  analyzer.eachWord(compared, ({ term }) => {
    words.add(term)
    pairs.add(`${before} ${term}`)
    before = term
  })
  return { text: trim(compared.replace(WHITE_SPACE_RUN, ' ')).toLowerCase(), words, pairs }
}

/** Jaccard index of two sets; 0 for two empty sets. Below `least` it may be 0, since most pairs of texts have little in common. */
export function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>, least = 0): number {
  const [small, large] = a.size < b.size ? [a, b] : [b, a]
  // A tolerance for rounding: an exact limit is enough.
  let missing = Math.floor(small.size - (least * (a.size + b.size)) / (1 + least) + 1e-9)
  if (missing < 0) return 0
  let both = 0
  for (const one of small)
    if (large.has(one)) both++
    else if (--missing < 0) return 0
  const either = a.size + b.size - both
  return either === 0 ? 0 : both / either
}

export function isNearDuplicate(a: Shape, b: Shape): boolean {
  if (a.text !== '' && a.text === b.text) return true
  const { pairs: ofPairs, words: ofWords } = DUPLICATE_LIMITS
  // The lower limit of pairs holds in both cases.
  const pairs = overlap(a.pairs, b.pairs, ofPairs / 2)
  return pairs >= ofPairs || (pairs >= ofPairs / 2 && overlap(a.words, b.words, ofWords) >= ofWords)
}
