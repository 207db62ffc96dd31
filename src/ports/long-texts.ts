/** Long texts where they stand beside the rows of entries. For maintenance. */
export interface LongTexts {
  /**
   * A text that a call has sent ahead of its transaction (topic `text` of the outbox, whose row is claimed) is awaited no longer; it goes
   * when no entry and no kept state needs it. Nothing happens to one that was sent again meanwhile.
   */
  withdraw(org: string, hash: string): Promise<void>
}
