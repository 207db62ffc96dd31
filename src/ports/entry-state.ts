import type { Scope } from '../domain/identity/scope'
import type { Millis } from '../domain/time'

/** The state of an entry that searches depend on, next to its content. */
export interface EntryState {
  /** When it expires, milliseconds since 1970; null for never. May have passed. */
  readonly expiresAt: Millis | null
  /** Whether its words are in the full-text index. */
  readonly hasWords: boolean
  /** Whether it has a vector of the model; null where no model is given. */
  readonly hasVectors: boolean | null
}

/** Reads what explains why a search did not find an entry. */
export interface EntryStates {
  /**
   * The state of an entry, also of one that has expired and is not removed yet; null for one that the scope could not read before
   * its expiry.
   *
   * @param model as `modelKey` names it; null for none
   */
  stateOf(scope: Scope, id: number, model: string | null): Promise<EntryState | null>
}
