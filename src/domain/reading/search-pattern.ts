import type { Steps } from '../scheduler'
import type { Meter } from './meter'

/** The position of a match in a text or line, in UTF-16 units. */
export interface Match {
  readonly start: number
  readonly end: number
}

/** A search pattern with a known worst-case cost. */
export interface Pattern {
  /** Cost per character searched, in characters read (domain/scheduler). */
  readonly rate: number
  /** Maximum number of characters that one call can search. */
  readonly allowance: number
  /**
   * Calls `found` for each matching line in order, with its first match (offsets in the text).
   * @returns false when matches may be missing: a line was too long for the pattern, or the allowance was used up
   */
  readonly search: (text: string, walk: Walk, meter: Meter, found: (match: Match) => void) => Steps<boolean>
}

/** An iterator over the lines of a text. Before `found` is called, it is moved to the matching line. */
export interface Walk {
  readonly line: { readonly start: number; readonly end: number; readonly next: number }
  advance(): boolean
  advanceTo(place: number): void
}
