import type { Scope } from '../domain/identity/scope'

/** A committed entry whose words (`index`) or vectors (`embed`) are not written yet. */
export interface PendingEntry {
  readonly topic: 'index' | 'embed'
  readonly id: number
  /** Size of its text and metadata. */
  readonly bytes: number
  /** Whether no worker holds it: its worker died, or it is due. Else its writer, or a lease, may still be active. */
  readonly abandoned: boolean
}

/** Finds committed entries that are missing in the search indexes. */
export interface PendingIndex {
  /**
   * Of the entries that the scope reads, at most `PENDING_AT_ONCE`.
   *
   * @param since milliseconds since 1970; work that was queued or leased before that has no live worker
   */
  look(scope: Scope, since: number): Promise<readonly PendingEntry[]>
  /** Writes the words of these entries, in batches. Never fails. @returns whether all are written */
  writeWords(org: string, ids: readonly number[]): Promise<boolean>
}

/** As many entries as one call of `restore_context` restores. */
export const PENDING_AT_ONCE = 2_000
