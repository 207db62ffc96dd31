import type { Steps } from '../scheduler'
import { codePointLength, firstCodePoints } from '../text'
import { type Line, LineWalk } from './lines'
import type { Meter } from './meter'
import type { Match, Pattern } from './search-pattern'

/** Maximum length of a line in the answer of `grep_context` (threads contract §13). */
const MAX_SHOWN_LINE = 500

/** A matching line of `grep_context`. Positions are code points. */
export interface MatchingLine {
  readonly number: number
  /** At most 500 code points around the match, with `…` where it is cut. */
  readonly line: string
  /** The first match, relative to the complete line. */
  readonly matchStart: number
  readonly matchEnd: number
  /** The first match, relative to the complete text. */
  readonly start: number
  readonly end: number
  readonly before: readonly string[]
  readonly after: readonly string[]
}

/** The last `count` code points. */
function lastCodePoints(text: string, count: number): string {
  // Twice as many UTF-16 units always contain them.
  const tail = text.slice(-2 * count)
  const whole = (tail.charCodeAt(0) & 0xfc00) === 0xdc00 ? tail.slice(1) : tail
  const surplus = codePointLength(whole) - count
  return surplus <= 0 ? whole : whole.slice(firstCodePoints(whole, surplus).length)
}

/** The first 500 code points of a context line. */
function shortened(text: string, line: Line): string {
  const head = firstCodePoints(
    text.slice(line.start, Math.min(line.end, line.start + 2 * MAX_SHOWN_LINE)),
    MAX_SHOWN_LINE,
  )
  return line.start + head.length < line.end ? `${head}…` : head
}

/** The part of a line around a match, with the match in the middle if possible. */
function around(line: string, match: Match, matchLength: number): string {
  const rest = Math.max(0, MAX_SHOWN_LINE - matchLength)
  const ahead = line.slice(0, match.start)
  const behind = line.slice(match.start)
  // Space that one side does not need goes to the other side.
  const wantedAhead = Math.max(
    Math.floor(rest / 2),
    MAX_SHOWN_LINE - codePointLength(behind.slice(0, 2 * MAX_SHOWN_LINE)),
  )
  const left = lastCodePoints(ahead, wantedAhead)
  const right = firstCodePoints(behind, MAX_SHOWN_LINE - codePointLength(left))
  return `${left.length < ahead.length ? '…' : ''}${left}${right}${right.length < behind.length ? '…' : ''}`
}

/** The current line with its first match (offsets in the text) and its context lines. */
function matchingLine(walk: LineWalk, match: Match, contextLines: number): MatchingLine {
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

/** Maximum number of matching lines per entry (threads contract §13). */
const MAX_ROWS_AN_ENTRY = 1000
/**
 * Maximum characters in all lines of one entry. Without it, 20 long lines around each of 1,000 matches would be 20 MB.
 */
export const MAX_CHARACTERS = 600_000

export interface Grepped {
  /** The first matching lines; empty for a count. */
  readonly lines: readonly MatchingLine[]
  /** Number of matching lines. */
  readonly matches: number
  /** Whether lines were left out or matches may be missing. */
  readonly cut: boolean
  /** Characters in the lines. */
  readonly characters: number
}

/**
 * Finds the matching lines of a text.
 * @param context number of lines before and after each match; null to count only
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
