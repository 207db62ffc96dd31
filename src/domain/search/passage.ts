import { offsetAfter, offsetBefore } from '../text'
import type { Analyzer } from './analysis'
import type { Unit } from './query'

/** Code points of a text that highlights and passages look at; what lies beyond is found, but not shown (platform contract §6). */
export const LOOKED_AT = 50_000

/** What a cross-encoder reads of an entry: at most 2,000 code points (threads contract §8). */
export const MAX_PASSAGE = 2000
/** Of these, what stands before the first hit. */
const BEFORE = 500

/**
 * The stretch around the first hit of the words that found an entry, or its beginning where none lies in what was read.
 *
 * @param text the first `LOOKED_AT` code points
 */
export function passageAround(text: string, units: readonly Unit[], analyzer: Analyzer): string {
  if (text.length <= MAX_PASSAGE) return text
  const terms = new Set(units.flatMap((unit) => unit.terms))
  let hit = 0
  for (const { term, word, start } of analyzer.tokens(text))
    if (terms.has(term) || terms.has(word)) {
      hit = start
      break
    }
  const from = offsetBefore(text, hit, BEFORE)
  const to = offsetAfter(text, from, MAX_PASSAGE)
  return text.slice(to === text.length ? offsetBefore(text, to, MAX_PASSAGE) : from, to)
}
