/** Keeps the search index in step with the way text is analysed, which changes with FTS_LANGUAGE. */
export interface IndexMaintenance {
  /** Whether the whole index was written by the current analysis. */
  isCurrent(): Promise<boolean>
  /**
   * Rewrites the index rows of some entries of all orgs, in order of id, and remembers how far it came.
   *
   * @param limit entries at most; fewer where they are long
   * @returns how many were rewritten, and whether there may be more; none when the index is current
   */
  rebuild(limit: number): Promise<{ readonly written: number; readonly more: boolean }>
  /**
   * Puts parts together that many writes left in the index, a bounded share; what searches find stays the same.
   *
   * @returns whether there may be more to do
   */
  merge(): Promise<boolean>
  /**
   * Takes the words of what was removed out of the index for good, a bounded share; work of the outbox, which is queued anew while there
   * is more.
   *
   * @param key of that work: what was erased, or what was begun
   */
  forget(org: string, key: string): Promise<void>
  /**
   * Writes the words of one entry as it stands now; nothing when it is gone.
   *
   * @throws Problem unavailable when it changed meanwhile
   */
  write(org: string, id: number): Promise<void>
}
