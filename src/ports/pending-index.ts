import type { Scope } from '../domain/identity/scope'

/** An entry that is committed while its words (`index`) or its vectors (`embed`) are still to be written. */
export interface PendingEntry {
  readonly topic: 'index' | 'embed'
  readonly id: number
  /** Of its text and metadata. */
  readonly bytes: number
  /** Whether nobody is at it any more: whoever was is dead, or it is due. Else its writer, or a claim, may still be doing it. */
  readonly abandoned: boolean
}

/** What searches cannot find in their indexes yet, although it is committed. */
export interface PendingIndex {
  /**
   * Of the entries that the scope reads, at most `PENDING_AT_ONCE`.
   *
   * @param since milliseconds since 1970; what was queued or claimed before that is nobody's, since whoever did it is gone
   */
  look(scope: Scope, since: number): Promise<readonly PendingEntry[]>
  /** Writes the words of these entries, a share at a time. Never fails. @returns whether all are written */
  writeWords(org: string, ids: readonly number[]): Promise<boolean>
}

/** Words and vectors of as many entries as one call of `restore_context` brings back. */
export const PENDING_AT_ONCE = 2_000
