import type { Steps } from '../scheduler'
import { codePointLength } from '../text'
import type { Meter } from './meter'
import type { Match, Pattern, Walk } from './search-pattern'

/**
 * Searches an exact string. The search of V8 is fast, but for a hostile text and pattern it compares every character of
 * one with every character of the other, so each slice is limited by that product.
 */
const MAX_COMPARISONS = 100_000_000
const MAX_SLICE = 1_000_000
/** Cost of reporting a match, regardless of its distance to the next one. */
const LINE_COST = 160

/** A literal search needs no allowance: its total cost is bounded by the text that a call reads. */
const UNBOUNDED = Number.POSITIVE_INFINITY

type Find = (part: string) => Match | null

const exactly = (wanted: string): Find => {
  return (part) => {
    const start = part.indexOf(wanted)
    return start === -1 ? null : { start, end: start + wanted.length }
  }
}

/** Simple case folding of Unicode, one character to one, as with the flags `iu`; ß does not match ss. */
const folding = (wanted: string): Find => {
  const expression = new RegExp(wanted.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'iu')
  return (part) => {
    const start = part.search(expression)
    // Folding does not change the length: no character beyond U+FFFF folds to one below, or the reverse.
    return start === -1 ? null : { start, end: start + wanted.length }
  }
}

/** A pattern for a literal. @param wanted not empty */
export function literalPattern(wanted: string, caseSensitive: boolean): Pattern {
  const find = caseSensitive ? exactly(wanted) : folding(wanted)
  // 48,000 characters read, 20,000,000 skipped or 60,000,000 compared take about the same time.
  const rate = Math.max(1 / 400, wanted.length / 1300)
  const slice = Math.min(MAX_SLICE, Math.ceil(MAX_COMPARISONS / wanted.length))
  // A line contains no line ends, so a literal with one never matches.
  const possible = !/[\r\n]/.test(wanted)

  function* next(text: string, from: number, meter: Meter): Steps<Match | null> {
    for (let at = from; at < text.length; at += slice) {
      const match = find(at === 0 && text.length <= slice ? text : text.slice(at, at + slice + wanted.length - 1))
      const due = meter.spend(match ? match.end + LINE_COST : Math.min(slice, text.length - at))
      if (due > 0) yield due
      if (match) return { start: at + match.start, end: at + match.end }
    }
    return null
  }

  return {
    rate,
    allowance: UNBOUNDED,
    *search(text: string, walk: Walk, meter: Meter, found: (match: Match) => void) {
      for (let from = 0; possible && from < text.length; from = walk.line.next) {
        const match = yield* next(text, from, meter)
        if (match === null) break
        walk.advanceTo(match.start)
        found(match)
      }
      return true
    },
  }
}

/** A string that a database can search for to exclude entries. */
export interface Narrowing {
  readonly part: string
  /** Whether letters A–Z are folded in both; then `part` is in lower case. */
  readonly fold: boolean
}

/** Maximum length of a narrowing string: a database may compare all of it at every position. */
const MAX_NARROWING = 32

/**
 * The longest part of a literal that every match contains, also under a comparison that folds only A–Z. Letters that
 * fold to or from a non-ASCII character end it, such as k (KELVIN SIGN) and s (ſ).
 * @returns null when no part qualifies, so that all texts must be read
 */
export function narrowingOf(wanted: string, caseSensitive: boolean): Narrowing | null {
  if (caseSensitive) return { part: [...wanted].slice(0, MAX_NARROWING).join(''), fold: false }
  let best = ''
  let run = ''
  for (const char of wanted) {
    const plain = char < '\u0080' ? !/[ks]/i.test(char) : char.toLowerCase() === char && char.toUpperCase() === char
    run = plain && codePointLength(run) < MAX_NARROWING ? run + char : ''
    if (run.length > best.length) best = run
  }
  return best === '' ? null : { part: best.toLowerCase(), fold: true }
}
