import { codePointLength } from '../text'

/**
 * Lines as `threads.md` §13 counts them: `\n`, `\r\n` and `\r` end a line, and an end at the very end starts no further
 * line. Places in this file are UTF-16 units, because that is what searching a string gives; callers see code points.
 */

/** One line: `end` leaves out what ends it, `next` is where the following one starts (or the end of the text). */
export interface Line {
  readonly start: number
  readonly end: number
  readonly next: number
}

/** Finds the next place of a character, remembering the last answer, so that asking forwards is linear in all. */
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

/** The line that starts at a place. */
export function lineCutter(text: string): (start: number) => Line {
  const nextFeed = seeker(text, '\n')
  const nextReturn = seeker(text, '\r')
  return (start) => {
    const end = Math.min(nextFeed(start), nextReturn(start))
    const pair = text[end] === '\r' && text[end + 1] === '\n'
    return { start, end, next: Math.min(text.length, end + (pair ? 2 : 1)) }
  }
}

/** Walks the lines of a text from the first on and remembers the last few it has left behind. */
export class LineWalk {
  /** The line it stands on, and its number from 1. */
  line: Line
  number = 1
  private readonly cut: (start: number) => Line
  private readonly behind: Line[] = []
  /** A place that was counted up to, and its code points. */
  private counted = { place: 0, codePoints: 0 }

  /** @param keep how many lines to remember */
  constructor(
    readonly text: string,
    private readonly keep = 0,
  ) {
    this.cut = lineCutter(text)
    this.line = this.cut(0)
  }

  /** Goes on by one line; false when there is none. */
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

  /** Goes on to the line that holds this place, which is not behind. */
  advanceTo(place: number): void {
    while (place >= this.line.next && this.advance());
  }

  /** The code point at which the current line begins. Linear over a walk. */
  startInCodePoints(): number {
    const { place, codePoints } = this.counted
    this.counted = {
      place: this.line.start,
      codePoints: codePoints + codePointLength(this.text.slice(place, this.line.start)),
    }
    return this.counted.codePoints
  }

  /** The remembered lines, oldest first. */
  before(): readonly Line[] {
    return [...this.behind]
  }

  /** Up to `count` lines after the one it stands on. */
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
 * Where the lines of a long text stand, roughly: kept beside it, so that any line of it is found by reading a few
 * thousand characters. Places are code points from 0, lines count from 1.
 */
export interface LineIndex {
  readonly chars: number
  readonly lines: number
  /** For each full stretch of `MARK_EVERY` code points, how many lines have started behind the first, up to its end. */
  readonly starts: readonly number[]
}

/** One mark for this many code points. */
export const LINE_INDEX_STEP = 8192
/** Texts up to here, in code points, have no marks: they are read whole. */
const UNMARKED = 2 * LINE_INDEX_STEP

const isSecondHalf = (unit: number): boolean => (unit & 0xfc00) === 0xdc00

/** Marks of any text, however short. */
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

/** The marks that are kept beside a text; null for one that is short. */
export const keptMarks = (text: string): LineIndex | null =>
  text.length <= UNMARKED || codePointLength(text) <= UNMARKED ? null : lineIndex(text)
