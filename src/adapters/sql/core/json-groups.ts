import { utf8Length } from '../../../domain/text'

/** A value in D1 holds at most 2 MB. */
const MAX_JSON = 1_500_000

/**
 * Rows in groups whose JSON fits into one value.
 *
 * @param sizeOf a row's share of the JSON, in bytes
 */
export function inGroups<T>(rows: Iterable<T>, sizeOf: (row: T) => number): T[][] {
  const groups: T[][] = []
  let size = MAX_JSON
  for (const row of rows) {
    const own = sizeOf(row)
    if (size + own > MAX_JSON) {
      groups.push([])
      size = 0
    }
    groups.at(-1)?.push(row)
    size += own
  }
  return groups
}

/** Rows as JSON texts of arrays, each of which fits into one value; a row that is larger by itself stands alone. */
export const jsonGroups = (rows: readonly unknown[]): string[] =>
  inGroups(
    rows.map((row) => JSON.stringify(row)),
    (json) => utf8Length(json) + 1,
  ).map((group) => `[${group.join(',')}]`)
