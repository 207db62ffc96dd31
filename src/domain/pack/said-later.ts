import type { Analyzer } from '../search/analysis'
import { counting } from '../search/counting'
import { codePointLength } from '../text'
import type { PackEntry } from './candidate'
import { bestPlaces, cutAround } from './content'
import { contentWordsBy } from './weighing'
import { type GoalWords, weightsByTerm } from './words'

/** Code points of what is told of a later entry beside what it may have changed. */
const MOST = 180
/** A change is mostly a number: what a new one says beside the rarest word of the goal. */
const NEW_NUMBER = 0.4
const NUMBER = /^\d+$/
/** By accident a long talk holds all words of a goal, and no sentence of it two. */
const TOGETHER = 2

/**
 * What a later entry says of the goal, where it stands closest to a number that the earlier one does not hold.
 *
 * @returns null where it says nothing of it in one place
 */
export function saidLater(earlier: PackEntry, later: PackEntry, words: GoalWords, analyzer: Analyzer): string | null {
  const contentWords = contentWordsBy(analyzer)
  const text = later.beginning
  const known = contentWords(earlier.beginning)
  const weights = new Map(weightsByTerm(words))
  const most = Math.max(...weights.values(), 0)
  for (const word of contentWords(text)) if (NUMBER.test(word) && !known.has(word)) weights.set(word, NEW_NUMBER * most)
  const at = bestPlaces(text, weights, analyzer, MOST)
  const goesOn = { before: false, after: later.chars > codePointLength(text) }
  const says = cutAround({ text, at, goesOn }, MOST)
  const { counts } = counting(analyzer, words.terms)(says)
  return counts.filter((times, i) => times > 0 && (words.weights[i] as number) > 0).length < TOGETHER ? null : says
}
