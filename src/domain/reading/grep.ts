import type { Steps } from '../scheduler'
import { type MatchingLine, matchingLine } from './excerpt'
import { LineWalk } from './lines'
import type { Meter } from './meter'
import type { Pattern } from './pattern'

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
