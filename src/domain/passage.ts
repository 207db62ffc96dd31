import type { Analyzer } from './analysis'
import type { Unit } from './query'

/** What a cross-encoder reads of an entry: at most 2,000 code points (threads contract §8). */
const MAX_PASSAGE = 2000

/**
 * The nearest chunk where meaning found the entry, else the stretch around the first hit of its words.
 *
 * @param chunk in code points
 */
export function passageAround(
  text: string,
  chunk: { readonly start: number; readonly length: number } | null,
  units: readonly Unit[],
  analyzer: Analyzer,
): string {
  const chars = [...text]
  if (chars.length <= MAX_PASSAGE) return text
  if (chunk !== null) return chars.slice(chunk.start, chunk.start + Math.min(chunk.length, MAX_PASSAGE)).join('')
  const terms = new Set(units.flatMap((unit) => unit.terms))
  const hit = analyzer.tokenize(text).find(({ term }) => terms.has(term))
  const at = hit === undefined ? 0 : [...text.slice(0, hit.start)].length
  const start = Math.max(0, Math.min(at - MAX_PASSAGE / 4, chars.length - MAX_PASSAGE))
  return chars.slice(start, start + MAX_PASSAGE).join('')
}
