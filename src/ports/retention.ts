import type { Scope } from '../domain/identity/scope'
import type { Millis } from '../domain/time'

/**
 * Removes expired data, a bounded part per call. Each method returns how many rows were removed; fewer than the limit means that none are
 * left, unless stated otherwise.
 */
export interface Retention {
  /** Removes expired entries with all their data; fewer if they are long, none when none are left. */
  expireEntries(limit: number): Promise<number>
  /**
   * Checks semantic memories in the order of their ids, and archives those that have decayed (fabric contract §2.3).
   *
   * @param after the last id that was checked; 0 at the start
   * @returns how many were archived, and the last checked id; null at the end
   */
  archiveDecayed(after: number, limit: number): Promise<{ readonly archived: number; readonly last: number | null }>
  /** Removes rows of the change log from before an instant, oldest first, but none that is younger than the lifetime of receipts. */
  forgetChanges(before: number, limit: number): Promise<number>
  /**
   * Removes rows of the audit log from before an instant, oldest first, of the first organization after a name that has such rows; its
   * newest row stays, because it numbers the next one.
   *
   * @param after the name that the previous call returned; '' at the start
   * @returns how many were removed, and the name to continue after; null at the end
   */
  forgetAudit(
    after: string,
    before: number,
    limit: number,
  ): Promise<{ readonly removed: number; readonly last: string | null }>
  /** Removes old states of entries after their retention time, oldest first; fewer if they are long, none when none are left. */
  forgetVersions(limit: number): Promise<number>
  /** Removes links to deleted entries that cannot be restored, and the notes of such entries; none when none are left. */
  forgetDanglingLinks(limit: number): Promise<number>
  /** Removes expired receipts, oldest first. */
  forgetReceipts(limit: number): Promise<number>
  /** Removes deleted vectors that every index has processed. */
  forgetRemovedVectors(limit: number): Promise<number>
  /** Removes tombstones of images from before an instant, when every write that did not know of them has ended. */
  forgetImageRemovals(before: number, limit: number): Promise<number>
}

/** Progress of a step of the schedule. */
export interface StepState {
  /** Cursor of its next batch; null at the start. */
  readonly cursor: string | null
  /** When it last completed, milliseconds since 1970. */
  readonly finishedAt: Millis | null
  /** Number of failures since it last succeeded. */
  readonly failures: number
  readonly lastError: string | null
}

/** Stores the progress of the schedule's steps between runs. */
export interface ScheduleJournal {
  /** Returns all steps that were ever recorded. */
  read(): Promise<ReadonlyMap<string, StepState>>
  write(step: string, state: StepState): Promise<void>
}

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
  pending(scope: Scope, since: number): Promise<readonly PendingEntry[]>
  /** Writes the words of these entries, in batches. Never fails. @returns whether all are written */
  writeWords(org: string, ids: readonly number[]): Promise<boolean>
}

/** As many entries as one call of `restore_context` restores. */
export const PENDING_AT_ONCE = 2_000

/** Updates the search index when the analysis of texts changes, for example with FTS_LANGUAGE. */
export interface IndexMaintenance {
  /** Returns whether the complete index was written by the current analysis. */
  isCurrent(): Promise<boolean>
  /**
   * Rewrites the index rows of some entries of all organizations, in order of id, and records its progress.
   *
   * @param limit maximum number of entries; fewer if they are long
   * @returns how many were rewritten, and whether there may be more; none when the index is current
   */
  rebuild(limit: number): Promise<{ readonly written: number; readonly more: boolean }>
  /**
   * Merges a bounded part of the index segments that many writes left; the results of searches do not change.
   *
   * @returns whether there may be more to do
   */
  merge(): Promise<boolean>
  /**
   * Removes a bounded part of the words of deleted entries from the index permanently; work of the outbox, which is queued again until it
   * is done.
   *
   * @param key of that work: the erased id, or the started part
   */
  forget(org: string, key: string): Promise<void>
  /**
   * Indexes the words of one entry in its present state; does nothing when it was deleted.
   *
   * @throws Problem unavailable when it changed meanwhile
   */
  write(org: string, id: number): Promise<void>
}
