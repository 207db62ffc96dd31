/** Keeps the search index in step with the way text is analysed, which changes with FTS_LANGUAGE. */
export interface IndexMaintenance {
  /** Whether the whole index was written by the current analysis. */
  isCurrent(): Promise<boolean>
  /**
   * Rewrites the index rows of some entries of all orgs, in order of id, and remembers how far it came.
   *
   * @returns how many were rewritten; 0 when the index is current
   */
  rebuild(limit: number): Promise<number>
}
