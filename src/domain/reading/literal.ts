import type { Steps } from '../scheduler'
import { codePointLength } from '../text'
import type { Meter } from './meter'
import type { Match, Pattern, Walk } from './pattern'

/**
 * Searches an exact string. The engine's own search is quick but, for a hostile text and pattern, compares each character of
 * one with each of the other: 0.3 ns a comparison, measured in V8.
 */
const MAX_COMPARISONS = 100_000_000
const MAX_SLICE = 1_000_000
/** Telling of a match costs something, however near the next one is. */
const LINE_COST = 160

/** Cutting a text costs nothing to speak of, and what is allowed in all is bounded by what a call reads. */
const UNBOUNDED = Number.POSITIVE_INFINITY

type Find = (part: string) => Match | null

const exactly = (wanted: string): Find => {
  return (part) => {
    const start = part.indexOf(wanted)
    return start === -1 ? null : { start, end: start + wanted.length }
  }
}

/** Unicode's simple case folding, one character to one character, is what the flags `iu` mean; ß is not ss. */
const folding = (wanted: string): Find => {
  const expression = new RegExp(wanted.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'iu')
  return (part) => {
    const start = part.search(expression)
    // Folding never changes the length: no character beyond U+FFFF folds to one below, nor the other way round.
    return start === -1 ? null : { start, end: start + wanted.length }
  }
}

/** @param wanted not empty */
export function literalPattern(wanted: string, caseSensitive: boolean): Pattern {
  const find = caseSensitive ? exactly(wanted) : folding(wanted)
  // Some 20 ms are 48,000 characters read, 20,000,000 passed over, or 60,000,000 compared.
  const rate = Math.max(1 / 400, wanted.length / 1300)
  const slice = Math.min(MAX_SLICE, Math.ceil(MAX_COMPARISONS / wanted.length))
  // A line holds no line end, so nothing that has one stands within a line.
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

/** What the database may look for in the place of a literal. */
export interface Narrowing {
  readonly part: string
  /** Letters A–Z of both are folded; then `part` is in lower case. */
  readonly fold: boolean
}

/** The database compares every place of a text with this much at most. */
const MAX_NARROWING = 32

/**
 * A part of the literal that every text with a match holds, also by a comparison that folds A–Z only. Letters that fold
 * to or from something beyond ASCII break it: k (KELVIN SIGN) and s (ſ) among those of ASCII.
 *
 * @returns null when nothing can be said, so that every text has to be read
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
