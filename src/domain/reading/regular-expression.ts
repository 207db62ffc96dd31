import type { RE2JS, RE2JSSyntaxException } from 're2js'
import { deferred } from '../deferred'
import { invalidInput, limitExceeded } from '../errors'
import type { Steps } from '../scheduler'
import { codePointLength } from '../text'
import type { Meter } from './meter'
import type { Match, Pattern, Walk } from './search-pattern'

/** Compiles regular expressions with RE2 syntax, and reports why an expression is invalid or too large. */

/** To be loaded before a pattern is compiled. */
export const expressionLibrary = deferred(() => import('re2js'))

/** Maximum number of instructions. `.{1000}` and 250 alternatives have about 1,000. */
const MAX_PROGRAM = 2500

/** Maximum estimated number of instructions, checked first because compiling takes time per instruction. */
const MAX_ESTIMATE = 20_000

const tooLarge = (): Error =>
  limitExceeded(
    `The regular expression is too large: it may compile to ${MAX_PROGRAM} instructions. Use smaller counts in {n,m} or fewer alternatives`,
  )

/** Estimates the number of instructions from counted repetitions; too high rather than too low. */
function estimate(pattern: string): number {
  const open: number[] = []
  let total = 0
  let atom = 0
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern[i]
    const counts = char === '{' ? /^\{(\d*)(?:,(\d*))?\}/.exec(pattern.slice(i, i + 12)) : null
    if (counts) {
      const times = Math.max(Number(counts[1] || 1), Number(counts[2] || 1), 1)
      total += atom * (times - 1)
      atom *= times
      i += counts[0].length - 1
    } else if (char === '(') open.push(total)
    else if (char === ')') {
      const before = open.pop() ?? 0
      atom = total - before + 2
      total += 2
    } else {
      if (char === '\\') i++
      else if (char === '[') i = classEnd(pattern, i)
      atom = 2
      total += 2
    }
  }
  return total
}

/** The index of the bracket that closes the class at `start`, or of the last character. */
function classEnd(pattern: string, start: number): number {
  // Directly after the opening bracket, a closing bracket is a member.
  for (let i = start + (/^\[\^?\]/.exec(pattern.slice(start, start + 3))?.[0].length ?? 1); i < pattern.length; i++) {
    if (pattern[i] === '\\') i++
    else if (pattern.startsWith('[:', i)) i = Math.max(i, pattern.indexOf(':]', i))
    else if (pattern[i] === ']') return i
  }
  return pattern.length - 1
}

/**
 * Whether an expression contains a line end outside of classes; most classes (`[^\
 * ]`) exclude it.
 */
export function namesLineEnd(pattern: string): boolean {
  for (let i = 0; i < pattern.length; i++) {
    if (pattern[i] === '[') i = classEnd(pattern, i)
    else if (pattern[i] === '\\' && /[nr]/.test(pattern.charAt(++i))) return true
  }
  return false
}

/** The position of an unpaired parenthesis: the first that closes nothing, else the last that is not closed. */
function unpaired(pattern: string): number {
  const open: number[] = []
  for (let i = 0; i < pattern.length; i++) {
    if (pattern[i] === '\\') i++
    else if (pattern[i] === '[') i = classEnd(pattern, i)
    else if (pattern[i] === '(') open.push(i)
    else if (pattern[i] === ')' && open.pop() === undefined) return i
  }
  return open.at(-1) ?? 0
}

/** The position of the error in code points, from 1. */
function positionOf(error: RE2JSSyntaxException, pattern: string): number {
  const part = error.getPattern()
  const reason = error.getDescription()
  let at = pattern.length - 1
  if (/[()]$/.test(reason)) at = unpaired(pattern)
  else if (part !== null) at = pattern.indexOf(part)
  // An escaped occurrence is not the error.
  while (part !== null && at > 0 && pattern[at - 1] === '\\') at = pattern.indexOf(part, at + 1)
  return codePointLength(pattern.slice(0, Math.max(0, at))) + 1
}

export function compile(pattern: string, caseSensitive: boolean): RE2JS {
  const { RE2JS, RE2JSException, RE2JSSyntaxException } = expressionLibrary.loaded()
  if (estimate(pattern) > MAX_ESTIMATE) throw tooLarge()
  try {
    const compiled = RE2JS.compile(pattern, caseSensitive ? 0 : RE2JS.CASE_INSENSITIVE)
    if (compiled.programSize() > MAX_PROGRAM) throw tooLarge()
    return compiled
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error
    if (!(error instanceof RE2JSSyntaxException)) throw tooLarge()
    throw invalidInput(
      `Invalid regular expression: ${error.getDescription()}, position ${positionOf(error, pattern)}. The syntax is ` +
        `RE2's: no lookaround and no back-references`,
    )
  }
}

/**
 * Searches a regular expression without backtracking (RE2 syntax). Its cost is program size × characters, and the
 * engine cannot be interrupted, so this product limits each search.
 */
const MAX_WORK = 1_000_000
/** The same limit for all searches of one call. */
const MAX_WORK_A_CALL = 100_000_000
/** Work that costs as much as reading a character (domain/scheduler). */
const WORK_OF_A_UNIT = 20
/** Cost of a line, even an empty one. */
const LINE_COST = 16

const isLowSurrogate = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xdc00

/**
 * A pattern for a regular expression.
 * @throws Problem invalid_input for an invalid expression, limit_exceeded for one that is too large
 */
export function expressionPattern(pattern: string, caseSensitive: boolean): Pattern {
  const compiled = compile(pattern, caseSensitive)
  const window = Math.floor(MAX_WORK / compiled.programSize())

  const find = (text: string, from: number): Match | null => {
    const matcher = compiled.matcher(text)
    return matcher.find(from) ? { start: matcher.start(), end: matcher.end() } : null
  }

  /**
   * Searches a line that is too long for one search, in windows that overlap by half.
   * @returns undefined when a match may be missing, because it is longer than the overlap
   */
  function* findInWindows(line: string, meter: Meter): Steps<Match | undefined> {
    for (let from = 0; !meter.exhausted; ) {
      const end = from + window
      const to = end >= line.length ? line.length : end - Number(isLowSurrogate(line, end))
      // Characters before the window let ^ and \\b match correctly.
      const lead = Math.min(from, 2)
      const match = find(line.slice(from - lead, to), lead)
      const due = meter.spend(to - from)
      if (due > 0) yield due
      const start = match ? from - lead + match.start : 0
      const stop = match ? from - lead + match.end : 0
      // A match that ends with the window could be longer, or wrong where $ matched the window's end.
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
