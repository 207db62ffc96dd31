/** The calls of a chat model by background work. A row in the database counts them, so the daily limit holds for all isolates. */
export interface ModelCalls {
  /** Counts one call before it is made. @returns false when the limit of this day (UTC) is reached; then nothing is counted */
  take(): Promise<boolean>
}
