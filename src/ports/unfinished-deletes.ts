/** Finishes deletes that were interrupted. For maintenance. */
export interface UnfinishedDeletes {
  /**
   * Removes the remaining rows of one call's delete, a bounded part in each transaction; does nothing when it is done.
   *
   * @throws Problem unavailable when the database does not respond; remaining rows stay invisible, and the call can be repeated
   */
  finish(org: string, changeId: string): Promise<void>
}
