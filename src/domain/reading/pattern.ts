import type { Steps } from '../scheduler'
import type { Meter } from './meter'

/** A place in a text or line, in UTF-16 units. */
export interface Match {
  readonly start: number
  readonly end: number
}

/** What a text is searched for; what that costs in the worst case is known beforehand. */
export interface Pattern {
  /** The cost of searching a character, in characters read (domain/scheduler). */
  readonly rate: number
  /** Characters that one call may search. */
  readonly allowance: number
  /**
   * Tells `found` of each matching line, the first of them first, with its first match (places in the text).
   *
   * @returns false when matches may be missing: a line was too long for the pattern, or the allowance was spent
   */
  readonly search: (text: string, walk: Walk, meter: Meter, found: (match: Match) => void) => Steps<boolean>
}

/** Where the search stands among the lines: at `found`, on the line that matches. */
export interface Walk {
  readonly line: { readonly start: number; readonly end: number; readonly next: number }
  advance(): boolean
  advanceTo(place: number): void
}
