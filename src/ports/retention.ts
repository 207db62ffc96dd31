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
