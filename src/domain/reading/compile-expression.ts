import { RE2JS, RE2JSException, RE2JSSyntaxException } from 're2js'
import { invalidInput, limitExceeded } from '../errors'
import { codePointLength } from '../text'

/** A regular expression as a program (RE2 syntax), and why there is none: where it is malformed, or that it is too large. */

/** Instructions; `.{1000}` and 250 alternatives have about 1,000. */
const MAX_PROGRAM = 2500

/** Compiling costs 1.5 µs an instruction, so what is counted before must be near what comes out. */
const MAX_ESTIMATE = 20_000

const tooLarge = (): Error =>
  limitExceeded(
    `The regular expression is too large: it may compile to ${MAX_PROGRAM} instructions; use smaller counts in {n,m} or fewer alternatives`,
  )

/** How large the program of an expression may become, by its counted repetitions; above the truth rather than below. */
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

/** The index of the bracket that closes the class that opens at `start`, or of the last character. */
function classEnd(pattern: string, start: number): number {
  // Right behind the opening, a closing bracket is a member.
  for (let i = start + (/^\[\^?\]/.exec(pattern.slice(start, start + 3))?.[0].length ?? 1); i < pattern.length; i++) {
    if (pattern[i] === '\\') i++
    else if (pattern.startsWith('[:', i)) i = Math.max(i, pattern.indexOf(':]', i))
    else if (pattern[i] === ']') return i
  }
  return pattern.length - 1
}

/** Whether the end of a line is named outside of classes, of which most (`[^\n]`) leave it out. */
export function namesLineEnd(pattern: string): boolean {
  for (let i = 0; i < pattern.length; i++) {
    if (pattern[i] === '[') i = classEnd(pattern, i)
    else if (pattern[i] === '\\' && /[nr]/.test(pattern.charAt(++i))) return true
  }
  return false
}

/** Where brackets do not pair: the first that closes nothing, else the last that is never closed. */
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

/** In code points, from 1. */
function positionOf(error: RE2JSSyntaxException, pattern: string): number {
  const part = error.getPattern()
  const reason = error.getDescription()
  let at = pattern.length - 1
  if (/[()]$/.test(reason)) at = unpaired(pattern)
  else if (part !== null) at = pattern.indexOf(part)
  // What is escaped is not what is wrong.
  while (part !== null && at > 0 && pattern[at - 1] === '\\') at = pattern.indexOf(part, at + 1)
  return codePointLength(pattern.slice(0, Math.max(0, at))) + 1
}

export function compile(pattern: string, caseSensitive: boolean): RE2JS {
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
