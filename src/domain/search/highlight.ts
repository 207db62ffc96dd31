import { codePointLength, firstCodePoints, isWhiteSpace, trim, WHITE_SPACE_RUN } from '../text'
import type { Analyzer, Token } from './analysis'
import { findHits, HIGHLIGHT_LIMIT, type HitWords } from './hits'
import type { Unit } from './query'

/**
 * Selects and marks the part of a text that best shows why it matched (threads contract §6.4). The result is plain text
 * and is not HTML-escaped.
 */
const MAX_LENGTH = 300
const OPEN = '<mark>'
const CLOSE = '</mark>'
const CUT = '…'
const MARK_LENGTH = OPEN.length + CLOSE.length
/** Text before the first word and after the last one is shown up to this length. */
const EDGE = 20

/** The words of a text, the matched words, and the length of any range as it is shown. */
class Layout {
  readonly words: number
  /** Index of the last matched word at or before each word; -1 without one. */
  readonly lastHit: Int32Array
  /** Number of code points before each offset, with white space collapsed. */
  private readonly lengths: Uint32Array
  /** Number of marks that start at or before each word. */
  private readonly marks: Uint32Array
  private readonly start: number
  private readonly end: number

  /** @param goesOn whether the stored text is longer than this part */
  constructor(
    readonly text: string,
    readonly tokens: readonly Token[],
    readonly hits: HitWords,
    private readonly goesOn: boolean,
  ) {
    this.words = tokens.length
    this.lengths = shownLengths(text)
    this.marks = new Uint32Array(tokens.length)
    this.lastHit = new Int32Array(tokens.length)
    let marks = 0
    let last = -1
    for (const [i, token] of tokens.entries()) {
      if (this.isHit(i)) {
        // Character pairs overlap; adjacent marks of one run become one.
        if (last < 0 || token.start >= (tokens[last] as Token).end) marks++
        last = i
      }
      this.marks[i] = marks
      this.lastHit[i] = last
    }
    const first = tokens[0]?.start ?? 0
    const final = tokens.at(-1)?.end ?? 0
    this.start = this.between(0, first) <= EDGE ? 0 : first
    this.end = !goesOn && this.between(final, text.length) <= EDGE ? text.length : final
  }

  isHit(word: number): boolean {
    return ((this.hits.low[word] as number) | (this.hits.high[word] as number)) !== 0
  }

  /** Whether the range ends at the end of the stored text. */
  isWhole(to: number): boolean {
    return to === this.text.length && !this.goesOn
  }

  private between(from: number, to: number): number {
    return (this.lengths[to] as number) - (this.lengths[from] as number)
  }

  /** The offsets of words `first` to `last`; the first and last word include the ends of the text. */
  range(first: number, last: number): { readonly from: number; readonly to: number } {
    return {
      from: first === 0 ? this.start : (this.tokens[first] as Token).start,
      to: last === this.words - 1 ? this.end : (this.tokens[last] as Token).end,
    }
  }

  /** Whether words `first` to `last` fit, including marks and ellipses. */
  fits(first: number, last: number): boolean {
    const { from, to } = this.range(first, last)
    const marks = (this.marks[last] as number) - (this.marks[first] as number) + Number(this.isHit(first))
    return this.between(from, to) + marks * MARK_LENGTH + 2 * CUT.length <= MAX_LENGTH
  }
}

function shownLengths(text: string): Uint32Array {
  const lengths = new Uint32Array(text.length + 1)
  let length = 0
  let wasSpace = false
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    const isSpace = (unit <= 0x20 || unit >= 0x85) && isWhiteSpace(text[i] as string)
    const continues = (isSpace && wasSpace) || (unit >= 0xdc00 && unit <= 0xdfff)
    if (!continues) length++
    wasSpace = isSpace
    lengths[i + 1] = length
  }
  return lengths
}

/** Counts distinct units and matched words in a window over the words. */
class Tally {
  units = 0
  hitWords = 0
  private readonly counts = new Uint32Array(64)

  constructor(private readonly hits: HitWords) {}

  move(word: number, by: 1 | -1): void {
    const [low, high] = [this.hits.low[word] as number, this.hits.high[word] as number]
    if ((low | high) === 0) return
    this.hitWords += by
    for (let bits = low; bits !== 0; bits &= bits - 1) this.count(31 - Math.clz32(bits & -bits), by)
    for (let bits = high; bits !== 0; bits &= bits - 1) this.count(63 - Math.clz32(bits & -bits), by)
  }

  private count(unit: number, by: 1 | -1): void {
    const before = this.counts[unit] as number
    this.counts[unit] = before + by
    if (before + by === 0) this.units--
    else if (before === 0) this.units++
  }
}

/** The window with the most distinct units, then the most matches, then the earliest; it starts with a match. */
function bestStretch(layout: Layout): { first: number; last: number } {
  const tally = new Tally(layout.hits)
  let best = { first: 0, last: 0, units: 0, hits: 0 }
  let left = 0
  let right = -1
  for (let first = 0; first < layout.words; first++) {
    if (!layout.isHit(first)) continue
    while (right < first) tally.move(++right, 1)
    while (left < first) tally.move(left++, -1)
    while (right > first && !layout.fits(first, right)) tally.move(right--, -1)
    while (right + 1 < layout.words && layout.fits(first, right + 1)) tally.move(++right, 1)
    const { units, hitWords: hits } = tally
    if (units > best.units || (units === best.units && hits > best.hits))
      best = { first, last: layout.lastHit[right] as number, units, hits }
  }
  return best
}

/** Extends a range on both sides as far as the length allows, for context. */
function widen(layout: Layout, stretch: { first: number; last: number }): { first: number; last: number } {
  let { first, last } = stretch
  for (let grown = true; grown; ) {
    grown = false
    if (last < layout.words - 1 && layout.fits(first, last + 1)) {
      last++
      grown = true
    }
    if (first > 0 && layout.fits(first - 1, last)) {
      first--
      grown = true
    }
  }
  return { first, last }
}

const collapse = (text: string): string => text.replace(WHITE_SPACE_RUN, ' ')

/** Renders words `first` to `last` with marks and ellipses. */
function render(layout: Layout, first: number, last: number): string {
  const { text, tokens } = layout
  const { from, to } = layout.range(first, last)
  const marks: { start: number; end: number }[] = []
  for (let i = first; i <= last; i++) {
    if (!layout.isHit(i)) continue
    const { start, end } = tokens[i] as Token
    const previous = marks.at(-1)
    if (previous && start < previous.end) previous.end = Math.max(previous.end, end)
    else marks.push({ start, end })
  }
  let out = from > 0 ? CUT : ''
  let at = from
  for (const mark of marks) {
    out += collapse(text.slice(at, mark.start)) + OPEN + collapse(text.slice(mark.start, mark.end)) + CLOSE
    at = mark.end
  }
  return out + collapse(text.slice(at, to)) + (layout.isWhole(to) ? '' : CUT)
}

/** Renders a single word that is too long, cut. */
function oneLongWord({ text, tokens }: Layout, at: number): string {
  const { start, end } = tokens[at] as Token
  const budget = MAX_LENGTH - MARK_LENGTH - 2 * CUT.length
  return CUT + OPEN + firstCodePoints(text.slice(start, end), budget) + CLOSE + CUT
}

/**
 * Highlights the matches in a text. Linear time for any units.
 * @param source the text, or at least its first `LOOKED_AT + 1` code points
 * @returns at most 300 code points with all matched words in `<mark>`, or null without a match in the first `LOOKED_AT`
 */
export function highlight(source: string, units: readonly Unit[], analyzer: Analyzer): string | null {
  const whole = trim(source)
  const text = firstCodePoints(whole, HIGHLIGHT_LIMIT)
  const goesOn = text.length < whole.length
  const tokens = analyzer.tokenize(text)
  // A word at the cut is incomplete.
  while (goesOn && tokens.at(-1)?.end === text.length) tokens.pop()
  const layout = new Layout(text, tokens, findHits(tokens, units), goesOn)
  if ((layout.lastHit.at(-1) ?? -1) < 0) return null
  const { first, last } = widen(layout, bestStretch(layout))
  const rendered = render(layout, first, last)
  return codePointLength(rendered) <= MAX_LENGTH ? rendered : oneLongWord(layout, first)
}
