/** Where the lines of long texts stand, made for entries that have no such marks: those of an earlier release. */
export interface TextMarks {
  /**
   * Looks at long entries of all orgs in the order of their ids, and marks those without marks. Reads a few megabytes at most.
   *
   * @param after the last id that was looked at; 0 at the start
   * @returns how many got marks, and the last id of those that were looked at; null when there was no further one
   */
  mark(after: number): Promise<{ readonly marked: number; readonly last: number | null }>
}
