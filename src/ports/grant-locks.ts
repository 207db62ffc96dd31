import type { Millis } from '../domain/time'

/** The secret of a token request, by its SHA-256 in hexadecimal. */
export interface Presented {
  readonly kind: 'code' | 'refresh' | 'revocation'
  readonly hash: string
}

export type Verdict =
  /** The request may proceed. `isKnown`: the token is the newest of the grant, or the previous one, whatever another store reports. */
  | { readonly kind: 'go'; readonly isKnown: boolean }
  /** The refresh token was exchanged `age` milliseconds ago; its answer is returned again. */
  | { readonly kind: 'again'; readonly answer: string; readonly age: Millis }
  /** The code or the token was used before. `endsGrant`: another client may have a copy. */
  | { readonly kind: 'refused'; readonly endsGrant: boolean }

export type Outcome =
  /**
   * Tokens were issued. `next`: hash of the new refresh token; `answer`: sealed response, for a repeated request; null for a code.
   */
  | { readonly kind: 'exchanged'; readonly next: string | null; readonly answer: string | null }
  | { readonly kind: 'ended' }
  | { readonly kind: 'unchanged' }

export interface GrantLock {
  readonly verdict: Verdict
  /**
   * Records the outcome of the request and releases the lock; must be called exactly once.
   *
   * @returns false when the lock was lost meanwhile; then nothing is recorded, and issued tokens must not be sent
   */
  finish(outcome: Outcome): Promise<boolean>
}

/** Serializes the token requests of each OAuth grant across isolates, and records used tokens. */
export interface GrantLocks {
  /**
   * Waits until no other request of the grant is in progress.
   *
   * @throws when the lock service does not respond; no token may then be issued
   */
  begin(grant: string, presented: Presented): Promise<GrantLock>
}
