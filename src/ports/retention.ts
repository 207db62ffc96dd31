/**
 * Removes what has had its time, a bounded part a call. Each answers how many went; fewer than the limit: all that there were, where
 * nothing else is said.
 */
export interface Retention {
  /** Entries that have expired, with everything that stands beside them; fewer where they are long, none when there are none left. */
  expireEntries(limit: number): Promise<number>
  /**
   * Looks at semantic memories in the order of their ids and archives those that have decayed (fabric contract §2.3).
   *
   * @param after the last id that was looked at; 0 at the start
   * @returns how many were archived, and the last id of these; null when there was no further one
   */
  archiveDecayed(after: number, limit: number): Promise<{ readonly archived: number; readonly last: number | null }>
  /** Rows of the change log from before an instant, oldest first, but none that is younger than a receipt may be. */
  forgetChanges(before: number, limit: number): Promise<number>
  /**
   * Rows of the audit log from before an instant, oldest first, of the first org behind a name that has such rows; its newest row stays, by
   * which the next one is numbered.
   *
   * @param after the name that was told before; '' at the start
   * @returns how many went, and behind which name it goes on; null when there is nothing more
   */
  forgetAudit(
    after: string,
    before: number,
    limit: number,
  ): Promise<{ readonly removed: number; readonly last: string | null }>
  /** Old states of entries beyond the days that they are kept, oldest first; fewer where they are long, none when there are none left. */
  forgetVersions(limit: number): Promise<number>
  /** Links to entries that are gone and cannot come back, and the notes of such entries; none when there are none left. */
  forgetDanglingLinks(limit: number): Promise<number>
  /** Receipts beyond their hours, oldest first. */
  forgetReceipts(limit: number): Promise<number>
  /** Removed vectors beyond those that an index is still told of. */
  forgetRemovedVectors(limit: number): Promise<number>
  /** Marks of image removals from before an instant, when every write that knew nothing of them is long over. */
  forgetImageRemovals(before: number, limit: number): Promise<number>
}
