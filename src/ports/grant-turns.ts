import type { Millis } from '../domain/time'

/** The secret of a token request, by its SHA-256 in hexadecimal. */
export interface Presented {
  readonly kind: 'code' | 'refresh' | 'revocation'
  readonly hash: string
}

export type Verdict =
  /** The request may be carried out. `isKnown`: the token is the newest of the grant, or the one before, whatever another store says. */
  | { readonly kind: 'go'; readonly isKnown: boolean }
  /** The refresh token was exchanged `age` milliseconds ago; its answer is to be given again. */
  | { readonly kind: 'again'; readonly answer: string; readonly age: Millis }
  /** The code or the token was used before. `endsGrant`: another client may have a copy. */
  | { readonly kind: 'refused'; readonly endsGrant: boolean }

export type Outcome =
  /** Tokens were issued. `next`: hash of the new refresh token; `answer`: sealed, to be given again; null for a code. */
  | { readonly kind: 'exchanged'; readonly next: string | null; readonly answer: string | null }
  | { readonly kind: 'ended' }
  | { readonly kind: 'unchanged' }

export interface Turn {
  readonly verdict: Verdict
  /**
   * Notes what the request did and lets the next one begin; to be called exactly once.
   *
   * @returns false when the turn was lost meanwhile; then nothing is noted, and what was issued must not be handed out
   */
  finish(outcome: Outcome): Promise<boolean>
}

/** Carries out the token requests of each OAuth grant one after the other, over all isolates, and remembers what was used. */
export interface GrantTurns {
  /**
   * Waits until no other request of the grant is carried out.
   *
   * @throws when the turns do not answer; no token may then be issued
   */
  begin(grant: string, presented: Presented): Promise<Turn>
}
