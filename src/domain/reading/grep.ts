import type { Steps } from '../scheduler'
import { codePointLength, firstCodePoints } from '../text'
import { type Line, LineWalk } from './lines'
import type { Meter } from './meter'
import type { Match, Pattern } from './pattern'

/** Longer lines are shown in part (threads contract §13). */
const MAX_SHOWN_LINE = 500

/** A matching line as `grep_context` tells it; places are code points. */
export interface MatchingLine {
  readonly number: number
  /** At most 500 code points around the match, with `…` on a side that is cut. */
  readonly line: string
  /** The first match, in the whole line. */
  readonly matchStart: number
  readonly matchEnd: number
  /** The first match, in the complete text. */
  readonly start: number
  readonly end: number
  readonly before: readonly string[]
  readonly after: readonly string[]
}

/** The last `count` code points. */
function lastCodePoints(text: string, count: number): string {
  // Twice as many units hold them, whatever they are.
  const tail = text.slice(-2 * count)
  const whole = (tail.charCodeAt(0) & 0xfc00) === 0xdc00 ? tail.slice(1) : tail
  const surplus = codePointLength(whole) - count
  return surplus <= 0 ? whole : whole.slice(firstCodePoints(whole, surplus).length)
}

/** The first 500 code points of a line beside a match. */
function shortened(text: string, line: Line): string {
  const head = firstCodePoints(
    text.slice(line.start, Math.min(line.end, line.start + 2 * MAX_SHOWN_LINE)),
    MAX_SHOWN_LINE,
  )
  return line.start + head.length < line.end ? `${head}…` : head
}

/** The stretch of a line that shows the match in its middle, as far as the line goes. */
function around(line: string, match: Match, matchLength: number): string {
  const rest = Math.max(0, MAX_SHOWN_LINE - matchLength)
  const ahead = line.slice(0, match.start)
  const behind = line.slice(match.start)
  // What one side does not need, the other may have.
  const wantedAhead = Math.max(
    Math.floor(rest / 2),
    MAX_SHOWN_LINE - codePointLength(behind.slice(0, 2 * MAX_SHOWN_LINE)),
  )
  const left = lastCodePoints(ahead, wantedAhead)
  const right = firstCodePoints(behind, MAX_SHOWN_LINE - codePointLength(left))
  return `${left.length < ahead.length ? '…' : ''}${left}${right}${right.length < behind.length ? '…' : ''}`
}

/** The line that the walk stands on, with its first match (places in the text) and the lines around it. */
export function matchingLine(walk: LineWalk, match: Match, contextLines: number): MatchingLine {
  const { text, line, number } = walk
  const whole = text.slice(line.start, line.end)
  const own = { start: match.start - line.start, end: match.end - line.start }
  const matchStart = codePointLength(whole.slice(0, own.start))
  const matchLength = codePointLength(whole.slice(own.start, own.end))
  const lineStart = walk.startInCodePoints()
  const isLong = whole.length > MAX_SHOWN_LINE && codePointLength(whole) > MAX_SHOWN_LINE
  return {
    number,
    line: isLong ? around(whole, own, matchLength) : whole,
    matchStart,
    matchEnd: matchStart + matchLength,
    start: lineStart + matchStart,
    end: lineStart + matchStart + matchLength,
    before: walk.before().map((one) => shortened(text, one)),
    after: walk.after(contextLines).map((one) => shortened(text, one)),
  }
}

/** An entry tells at most this many matching lines (threads contract §13). */
const MAX_ROWS_AN_ENTRY = 1000
/** What the rows of one entry may hold in all; 20 long lines around each of 1,000 would be 20 MB. */
export const MAX_CHARACTERS = 600_000

export interface Grepped {
  /** The first matching lines; empty when only their number was asked for. */
  readonly lines: readonly MatchingLine[]
  /** How many lines match. */
  readonly matches: number
  /** Not all matches are told, or not all can be known. */
  readonly cut: boolean
  /** How much text the lines hold. */
  readonly characters: number
}

/**
 * The matching lines of a text.
 *
 * @param context lines to bring before and after each; null to count only
 */
export function* grepText(text: string, pattern: Pattern, meter: Meter, context: number | null): Steps<Grepped> {
  const walk = new LineWalk(text, context ?? 0)
  const lines: MatchingLine[] = []
  let matches = 0
  let characters = 0
  let isWhole = true
  const complete = yield* pattern.search(text, walk, meter, (match) => {
    matches++
    if (context === null) return
    isWhole &&= lines.length < MAX_ROWS_AN_ENTRY && characters <= MAX_CHARACTERS
    if (!isWhole) return
    const line = matchingLine(walk, match, context)
    characters += [line.line, ...line.before, ...line.after].reduce((sum, { length }) => sum + length, 0)
    lines.push(line)
  })
  return { lines, matches, cut: !complete || !isWhole, characters }
}
