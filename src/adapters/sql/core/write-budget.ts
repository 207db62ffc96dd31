/**
 * Maximum text that one transaction indexes, in UTF-16 code units. Indexing long texts delays every write that shares the transaction, so
 * longer texts are committed without words and vectors, which follow in separate transactions before the call returns (platform contract
 * §6).
 */
export const WRITE_BUDGET = 250_000

/**
 * Maximum bytes of long texts in one transaction: an embedded database cannot serve other calls while they are written.
 */
export const TEXTS_CHUNK = 4_000_000

/**
 * Returns which texts of a write are indexed only after its commit.
 *
 * @param lengths of the texts in order; `Infinity` if unknown
 */
export function indexedAfterCommit(lengths: readonly number[]): boolean[] {
  let left = WRITE_BUDGET
  return lengths.map((length) => {
    if (length > left) return true
    left -= length
    return false
  })
}
