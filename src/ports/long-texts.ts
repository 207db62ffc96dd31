/** Takes long texts out of the rows of entries that were stored before there was a place beside them. For maintenance. */
export interface LongTexts {
  /**
   * Moves a bounded part of those behind an id, in one transaction.
   *
   * @returns how many, and the id to go on from; null at the end
   */
  moveBeside(after: number): Promise<{ readonly moved: number; readonly last: number | null }>
}
