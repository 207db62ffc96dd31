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
   * Removes a bounded part of the words of deleted entries from the index for good; work of the outbox, which is queued again while there
   * is more.
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
