/** Removes long texts that are stored in a separate table. For maintenance. */
export interface LongTexts {
  /**
   * Ends the wait for a text that a call staged before its transaction (topic `text` of the outbox, whose row is claimed): it is deleted
   * unless an entry or a retained state needs it. A text that was staged again meanwhile is not deleted.
   */
  withdraw(org: string, hash: string): Promise<void>
}
