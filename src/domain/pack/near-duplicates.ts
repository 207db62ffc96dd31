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

/** Jaccard index of two sets; 0 for two empty sets. */
export function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const [small, large] = a.size < b.size ? [a, b] : [b, a]
  let both = 0
  for (const one of small) if (large.has(one)) both++
  const either = a.size + b.size - both
  return either === 0 ? 0 : both / either
}

export const isNearDuplicate = (a: Shape, b: Shape): boolean =>
  (a.text !== '' && a.text === b.text) ||
  overlap(a.pairs, b.pairs) >= DUPLICATE_LIMITS.pairs ||
  (overlap(a.words, b.words) >= DUPLICATE_LIMITS.words && overlap(a.pairs, b.pairs) >= DUPLICATE_LIMITS.pairs / 2)
