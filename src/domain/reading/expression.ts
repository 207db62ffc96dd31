import type { Steps } from '../scheduler'
import { compile } from './compile-expression'
import type { Meter } from './meter'
import type { Match, Pattern, Walk } from './pattern'

/**
 * Searches a regular expression without backtracking (RE2 syntax). Its cost is program size × characters, 20–45 ns each,
 * and nothing interrupts the engine, so that one look is bounded by this product (20 to 45 ms).
 */
const MAX_WORK = 1_000_000
/** What all looks of one call may cost together, in the same measure: seconds, in slices. */
const MAX_WORK_A_CALL = 100_000_000
/** Reading a character costs about as much (domain/scheduler). */
const WORK_OF_A_UNIT = 20
/** A line costs something even when it is empty. */
const LINE_COST = 16

const isLowSurrogate = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xdc00

/**
 * @throws Problem invalid_input for a malformed expression, limit_exceeded for one that is too large
 */
export function expressionPattern(pattern: string, caseSensitive: boolean): Pattern {
  const compiled = compile(pattern, caseSensitive)
  const window = Math.floor(MAX_WORK / compiled.programSize())

  const find = (text: string, from: number): Match | null => {
    const matcher = compiled.matcher(text)
    return matcher.find(from) ? { start: matcher.start(), end: matcher.end() } : null
  }

  /**
   * Looks through a line that is too long for one look, in windows that overlap by half.
   *
   * @returns undefined when a match may have been missed, because it is longer than what overlaps
   */
  function* findInWindows(line: string, meter: Meter): Steps<Match | undefined> {
    for (let from = 0; !meter.exhausted; ) {
      const end = from + window
      const to = end >= line.length ? line.length : end - Number(isLowSurrogate(line, end))
      // One character before the window tells ^ and \b where they stand.
      const lead = Math.min(from, 2)
      const match = find(line.slice(from - lead, to), lead)
      const due = meter.spend(to - from)
      if (due > 0) yield due
      const start = match ? from - lead + match.start : 0
      const stop = match ? from - lead + match.end : 0
      // A match that ends where the window does may be longer, or be none where $ took that end for the line's.
      if (match && (to === line.length || stop < to)) return { start, end: stop }
      if (to === line.length) return undefined
      const next = match && start > from ? start : from + (window >> 1)
      from = next - Number(isLowSurrogate(line, next))
    }
    return undefined
  }

  return {
    rate: compiled.programSize() / WORK_OF_A_UNIT,
    allowance: Math.floor(MAX_WORK_A_CALL / compiled.programSize()),
    *search(text: string, walk: Walk, meter: Meter, found: (match: Match) => void) {
      for (let complete = true; ; ) {
        const { start, end, next } = walk.line
        const line = text.slice(start, end)
        let match: Match | null | undefined
        if (line.length <= window) {
          match = find(line, 0)
          const due = meter.spend(line.length + LINE_COST)
          if (due > 0) yield due
        } else {
          match = yield* findInWindows(line, meter)
          complete &&= match !== undefined
        }
        if (match) found({ start: start + match.start, end: start + match.end })
        if (next >= text.length) return complete
        if (meter.exhausted) return false
        walk.advance()
      }
    },
  }
}
