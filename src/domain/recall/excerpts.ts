import { STEP, type Steps } from '../scheduler'
import type { Analyzer } from '../search/analysis'
import type { Unit } from '../search/query'
import { codePointLength, firstCodePoints, isWhiteSpace, offsetAfter, offsetBefore } from '../text'

/** Shortens the contents of memories in an answer (fabric contract §1, "What models receive"). */
const LONGEST_EXCERPT = 2_000

/** Code points for all contents of an answer: `each` per memory, and at least `least`. */
export const budgetOf = (shown: number, each: number, least: number): number => Math.max(least, shown * each)

/** The length to which the longest contents are cut so that all fit into a budget. */
export function sharedLength(lengths: readonly number[], budget: number, longest = LONGEST_EXCERPT): number {
  const sorted = lengths.map((length) => Math.min(length, longest)).sort((a, b) => a - b)
  let left = budget
  for (const [i, length] of sorted.entries()) {
    const share = Math.floor(left / (sorted.length - i))
    if (length > share) return share
    left -= length
  }
  return longest
}

/** A content, complete or cut, with the length of the complete content. */
export interface Excerpt {
  readonly content: string
  readonly truncated?: true
  readonly length?: number
}

/** Maximum distance that a cut moves to reach white space. */
const NEAR = 80

/**
 * Cuts a text to `most` code points: from its start, or around an offset, at white space if there is some close to the
 * cut.
 */
export function excerptOf(text: string, most: number, around: number | null = null): Excerpt {
  if (text.length <= most) return { content: text }
  const length = codePointLength(text)
  if (length <= most) return { content: text }
  const wanted = around === null ? 0 : offsetBefore(text, around, Math.floor(most / 3))
  let from = wanted
  if (from > 0) {
    const end = offsetAfter(text, from, most)
    // A cut that reaches the end of the text includes all of the end.
    if (end === text.length) from = offsetBefore(text, text.length, most)
    from = afterSpace(text, from, around ?? 0)
  }
  const budget = offsetAfter(text, from, most)
  const to = budget === text.length ? budget : beforeSpace(text, from, budget, around ?? from)
  return { content: text.slice(from, to), truncated: true, length }
}

/** The first offset after white space, at most `NEAR` after `from` and not after `shown`. */
function afterSpace(text: string, from: number, shown: number): number {
  if (isWhiteSpace(text[from - 1] as string)) return from
  for (let at = from; at < Math.min(from + NEAR, shown); at++) if (isWhiteSpace(text[at] as string)) return at + 1
  return from
}

/** The last offset before white space, at most `NEAR` before `to` and not before `shown`. */
function beforeSpace(text: string, from: number, to: number, shown: number): number {
  if (isWhiteSpace(text[to] as string)) return to
  for (let at = to - 1; at > Math.max(from, to - NEAR, shown); at--) if (isWhiteSpace(text[at] as string)) return at
  return to
}

/**
 * The offset of the first match of the rarest unit that a text contains; null without a match.
 * @param units rarest first
 */
export function* placeOfMatch(text: string, units: readonly Unit[], analyzer: Analyzer): Steps<number | null> {
  const ranks = new Map<string, number>()
  for (const [rank, { terms }] of units.entries()) for (const term of terms) if (!ranks.has(term)) ranks.set(term, rank)
  let best = units.length
  let place: number | null = null
  let unreported = 0
  let last = 0
  for (const { term, word, start } of analyzer.tokens(text)) {
    unreported += start - last
    last = start
    if (unreported >= STEP) {
      yield unreported
      unreported = 0
    }
    const rank = ranks.get(term) ?? ranks.get(word) ?? units.length
    if (rank >= best) continue
    best = rank
    place = start
    if (rank === 0) break
  }
  yield unreported
  return place
}

/** Cuts contents to a shared budget: the longest to one equal length, each around its offset. */
export function excerptsOf(
  texts: readonly { readonly text: string; readonly around: number | null }[],
  budget: number,
): Excerpt[] {
  const most = sharedLength(
    texts.map(({ text }) => (text.length > 2 * LONGEST_EXCERPT ? LONGEST_EXCERPT : codePointLength(text))),
    budget,
  )
  return texts.map(({ text, around }) => excerptOf(text, most, around))
}

const isEnd = (char: string | undefined): boolean => char === '.' || char === '!' || char === '?'

/** The first sentence of a text, or as much of its first line as fits. */
export function headOf(text: string, most: number): string {
  const line = firstCodePoints(text.trimStart(), most).split('\n', 1)[0] as string
  for (let at = 0; at < line.length - 1; at++) if (isEnd(line[at]) && line[at + 1] === ' ') return line.slice(0, at + 1)
  return line.trimEnd()
}
