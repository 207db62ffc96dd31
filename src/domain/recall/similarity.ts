/**
 * Similarity of recall (fabric contract §4): absolute, from 0 to 1, and of one meaning in every mode, layer and size of the store and with
 * every model. Right answers reach 0.7; what a question about something else finds seldom does.
 */

/** Memories that one leg of a recall keeps. */
export const RETRIEVER_LIMIT = 200

/** What cosines of a model mean: the mean one of texts that have nothing in common, and the median one of a question and its answer. */
export interface Levels {
  readonly nothing: number
  readonly answer: number
  /** Below this sum of the best cosine and half of the share of words found, an answer is doubtful; derived where absent. */
  readonly doubt?: number
}

const SMALLEST_SPAN = 1e-6
/** Where a model's own level of doubt is not known: so far between its other levels, and this much for the words. */
const DOUBT = { span: 0.35, words: 0.35 } as const

export const doubtLevel = ({ nothing, answer, doubt }: Levels): number =>
  doubt ?? nothing + DOUBT.span * (answer - nothing) + DOUBT.words

/** How near in meaning: 0 for nothing in common, 1 for what answers usually are. */
export const meaningOf = (cosine: number, { nothing, answer }: Levels): number =>
  Math.max(0, (cosine - nothing) / Math.max(answer - nothing, SMALLEST_SPAN))

/**
 * What a unit of a query weighs in the share that a memory holds.
 *
 * @param memories in scope
 * @param holding of them, those that hold the unit
 */
const rarity = (memories: number, holding: number): number =>
  Math.log((Math.max(memories, holding) + 1_000) / (holding + 1)) ** 2

/** How much of a query a memory holds, 0 to 1, by the places of the units that it holds. */
export type MatchedFraction = (held: Iterable<number>) => number

/** @param holding how many memories hold each unit of the query */
export function matchedFraction(memories: number, holding: readonly number[]): MatchedFraction {
  const weights = holding.map((one) => rarity(memories, one))
  const all = weights.reduce((sum, weight) => sum + weight, 0)
  return (held) => {
    let sum = 0
    for (const place of new Set(held)) sum += weights[place] as number
    return all === 0 ? 0 : Math.min(1, sum / all)
  }
}

/** Of a memory that a query calls by an alias: what it holds of the query at least, so that it passes by words and by both. */
export const ALIAS_SCORE = 0.75

/**
 * What others have to reach where a query calls memories by an alias: as if each had to pass twice. Below a threshold of 0 nothing is.
 */
export const aliasThreshold = (threshold: number): number => 1 - (1 - threshold) ** 2

const DISTANCE = 0.3

/** By words alone, of the share. */
export const wordSimilarity = (share: number): number => share ** 0.2

/** By meaning alone. */
export const meaningSimilarity = (meaning: number): number => 1 - DISTANCE ** (meaning / 0.5)

/** By both. */
export const jointSimilarity = (meaning: number, share: number): number => 1 - DISTANCE ** ((meaning + share) / 0.7)

/** What the key of an order is multiplied by: weight breaks near-ties (fabric contract §2.2). */
export const weightFactor = (weight: number): number => 1 + 0.1 * (weight - 3)
