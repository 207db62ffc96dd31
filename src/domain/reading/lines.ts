import { codePointLength } from '../text'

/**
 * Lines as `threads.md` §13 counts them: `\
 * `, `\\r\
 * ` and `\\r` end a line, and a line end at the end of the text does not start another line. Offsets in this file are
 * UTF-16 units; callers see code points.
 */

/** A line. `end` excludes the line end; `next` is the start of the following line, or the end of the text. */
export interface Line {
  readonly start: number
  readonly end: number
  readonly next: number
}

/** Finds the next occurrence of a character and caches it, so that increasing positions take linear time in total. */
function seeker(text: string, char: string): (from: number) => number {
  let asked = 0
  let found = -1
  return (from) => {
    if (from < asked || from > found) {
      asked = from
      found = text.indexOf(char, from)
      if (found === -1) found = text.length
    }
    return found
  }
}

/** Returns the line that starts at a given offset. */
export function lineCutter(text: string): (start: number) => Line {
  const nextFeed = seeker(text, '\n')
  const nextReturn = seeker(text, '\r')
  return (start) => {
    const end = Math.min(nextFeed(start), nextReturn(start))
    const pair = text[end] === '\r' && text[end + 1] === '\n'
    return { start, end, next: Math.min(text.length, end + (pair ? 2 : 1)) }
  }
}

/** Iterates over the lines of a text and keeps the last few. */
export class LineWalk {
  /** The current line, with its number from 1. */
  line: Line
  number = 1
  private readonly cut: (start: number) => Line
  private readonly behind: Line[] = []
  /** The last offset that was converted, and its code points. */
  private counted = { place: 0, codePoints: 0 }

  /** @param keep number of previous lines to keep */
  constructor(
    readonly text: string,
    private readonly keep = 0,
  ) {
    this.cut = lineCutter(text)
    this.line = this.cut(0)
  }

  /** Moves to the next line; false at the end. */
  advance(): boolean {
    if (this.line.next >= this.text.length) return false
    if (this.keep > 0) {
      this.behind.push(this.line)
      if (this.behind.length > this.keep) this.behind.shift()
    }
    this.line = this.cut(this.line.next)
    this.number++
    return true
  }

  /** Moves forward to the line that contains an offset. */
  advanceTo(place: number): void {
    while (place >= this.line.next && this.advance());
  }

  /** The code point at which the current line starts. Linear time over all calls. */
  startInCodePoints(): number {
    const { place, codePoints } = this.counted
    this.counted = {
      place: this.line.start,
      codePoints: codePoints + codePointLength(this.text.slice(place, this.line.start)),
    }
    return this.counted.codePoints
  }

  /** The previous lines in memory, oldest first. */
  before(): readonly Line[] {
    return [...this.behind]
  }

  /** Up to `count` lines after the current one. */
  after(count: number): readonly Line[] {
    const lines: Line[] = []
    for (let { next } = this.line; lines.length < count && next < this.text.length; ) {
      const line = this.cut(next)
      lines.push(line)
      next = line.next
    }
    return lines
  }
}

/**
 * A sparse index of the lines of a long text, stored with it, so that reading a line needs only a few thousand
 * characters. Positions are code points from 0; lines count from 1.
 */
export interface LineIndex {
  readonly chars: number
  readonly lines: number
  /**
   * For each full block of `LINE_INDEX_STEP` code points: the number of line starts after the first line, up to the
   * block's end.
   */
  readonly starts: readonly number[]
}

/** Code points per block of the index. */
export const LINE_INDEX_STEP = 8192
/** Maximum length in code points of a text without an index, which is read completely. */
const UNMARKED = 2 * LINE_INDEX_STEP

const isSecondHalf = (unit: number): boolean => (unit & 0xfc00) === 0xdc00

/** Builds the index of any text, short ones included. */
export function lineIndex(text: string): LineIndex {
  const starts: number[] = []
  let chars = 0
  let started = 0
  let endsLine = false
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (isSecondHalf(unit)) continue
    chars++
    endsLine = unit === 10 || (unit === 13 && text.charCodeAt(i + 1) !== 10)
    if (endsLine) started++
    if (chars % LINE_INDEX_STEP === 0) starts.push(started)
  }
  return { chars, lines: started + (endsLine ? 0 : 1), starts }
}

/** The index to store with a text; null for a short one. */
export const storedLineIndex = (text: string): LineIndex | null =>
  text.length <= UNMARKED || codePointLength(text) <= UNMARKED ? null : lineIndex(text)
