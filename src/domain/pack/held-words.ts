// What does it say that a text holds words of a goal, where it is long?
import { WEIGHTS, type Weights } from './weights'

/** What the length of a text takes from the words that it holds. */
export const longCost = (length: number, { words }: Weights): number =>
  Math.min(words.longestCost, 1 + words.lengthCost * Math.log(Math.max(1, length / words.long)))

/** Of a text that is longer than what is looked at: the share that the number of words which it holds somewhere makes likely. */
export function shareOfHeld(
  { known, whole }: { readonly known: readonly number[]; readonly whole: number },
  held: number,
  length: number,
  given: Weights = WEIGHTS,
): number {
  if (whole === 0 || known.length === 0) return 0
  const mean = known.reduce((sum, weight) => sum + weight, 0) / known.length
  return Math.min(1, (held * mean) / whole / longCost(length, given))
}
