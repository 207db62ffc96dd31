/** Two memories on one subject, by ID: the later one may replace the earlier one. */
export interface MemoryPair {
  readonly later: number
  readonly earlier: number
}
