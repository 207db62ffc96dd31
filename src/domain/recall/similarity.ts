/**
 * Similarity of recall (fabric contract §4), from 0 to 1. It has one meaning for all modes, layers, store sizes and
 * models: correct answers reach 0.7, unrelated memories rarely do.
 */

/** Maximum number of memories from one retriever. */
export const RETRIEVER_LIMIT = 200

/** The scale of a model's cosines: the mean for unrelated texts, and the median for a question and its answer. */
export interface Levels {
  readonly nothing: number
  readonly answer: number
  /**
   * Below this sum of the best cosine and half of the matched fraction, an answer is doubtful. Derived from the others
   * where absent.
   */
  readonly doubt?: number
}

const SMALLEST_SPAN = 1e-6
/** Default level of doubt: this fraction of the distance between the two levels, plus this much for words. */
const DOUBT = { span: 0.35, words: 0.35 } as const

export const doubtLevel = ({ nothing, answer, doubt }: Levels): number =>
  doubt ?? nothing + DOUBT.span * (answer - nothing) + DOUBT.words

/** Semantic similarity: 0 for unrelated texts, 1 for a typical answer. */
export const meaningOf = (cosine: number, { nothing, answer }: Levels): number =>
  Math.max(0, (cosine - nothing) / Math.max(answer - nothing, SMALLEST_SPAN))

/**
 * Weight of a query unit by its rarity.
 * @param memories memories in scope
 * @param holding memories in scope that contain the unit
 */
const rarity = (memories: number, holding: number): number =>
  Math.log((Math.max(memories, holding) + 1_000) / (holding + 1)) ** 2

/** The fraction of a query that a memory contains, 0 to 1, from the indexes of its units. */
export type MatchedFraction = (held: Iterable<number>) => number

/** Creates the function for a query. @param holding for each unit, the number of memories that contain it */
export function matchedFraction(memories: number, holding: readonly number[]): MatchedFraction {
  const weights = holding.map((one) => rarity(memories, one))
  const all = weights.reduce((sum, weight) => sum + weight, 0)
  return (held) => {
    let sum = 0
    for (const place of new Set(held)) sum += weights[place] as number
    return all === 0 ? 0 : Math.min(1, sum / all)
  }
}

/** Minimum matched fraction of a memory that the query names by an alias, high enough for every mode. */
export const ALIAS_SCORE = 0.75

/**
 * The threshold for other memories when the query names a memory by an alias: as if they had to pass twice. 0 remains
 * 0.
 */
export const aliasThreshold = (threshold: number): number => 1 - (1 - threshold) ** 2

const DISTANCE = 0.3

/** Similarity by words alone. */
export const wordSimilarity = (share: number): number => share ** 0.2

/** Similarity by meaning alone. */
export const meaningSimilarity = (meaning: number): number => 1 - DISTANCE ** (meaning / 0.5)

/** Similarity by words and meaning. */
export const jointSimilarity = (meaning: number, share: number): number => 1 - DISTANCE ** ((meaning + share) / 0.7)

/** Factor of a score by weight, which decides between nearly equal memories (fabric contract §2.2). */
export const weightFactor = (weight: number): number => 1 + 0.1 * (weight - 3)
