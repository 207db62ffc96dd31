/** Long texts where they stand beside the rows of entries. For maintenance. */
export interface LongTexts {
  /**
   * A text that a call has sent ahead of its transaction (topic `text` of the outbox, whose row is claimed) is awaited no longer; it goes
   * when no entry and no kept state needs it. Nothing happens to one that was sent again meanwhile.
   */
  withdraw(org: string, hash: string): Promise<void>

  /**
   * Takes texts out of the rows of entries that were stored before there was a place beside them: a bounded part of those behind an id,
   * in one transaction.
   *
   * @returns how many, and the id to go on from; null at the end
   */
  moveBeside(after: number): Promise<{ readonly moved: number; readonly last: number | null }>

  /**
   * Keeps the beginnings of a few of the long texts that were stored before beginnings were kept, in the order of their storing.
   *
   * @param after where the last call ended; 0 at the start
   * @returns where to go on; null at the end, and where none are kept
   */
  keepBeginnings(after: number): Promise<number | null>
}
