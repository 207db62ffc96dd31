import type { Analyzer } from '../search/analysis'
import { counting } from '../search/counting'
import { codePointLength } from '../text'
import type { PackEntry } from './candidate'
import { bestPlaces, cutAround } from './content'
import { contentWordsBy } from './weighing'
import { WEIGHTS } from './weights'
import { type GoalWords, weightsByTerm } from './words'

const { codePoints, newNumber, together } = WEIGHTS.anew.excerpt
const NUMBER = /^\d+$/

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
  for (const word of contentWords(text)) if (NUMBER.test(word) && !known.has(word)) weights.set(word, newNumber * most)
  const at = bestPlaces(text, weights, analyzer, codePoints)
  const goesOn = { before: false, after: later.chars > codePointLength(text) }
  const says = cutAround({ text, at, goesOn }, codePoints)
  const { counts } = counting(analyzer, words.terms)(says)
  return counts.filter((times, i) => times > 0 && (words.weights[i] as number) > 0).length < together ? null : says
}
