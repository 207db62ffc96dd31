/** Removes what is left of entries that a call has deleted, when it did not come to its end. For maintenance. */
export interface UnfinishedDeletes {
  /**
   * Removes all that one call has deleted and nobody sees any more, a bounded part in each transaction; nothing when it is done.
   *
   * @throws Problem unavailable when the database does not answer; what is left stays out of sight, and may be asked for again
   */
  finish(org: string, changeId: string): Promise<void>
}
