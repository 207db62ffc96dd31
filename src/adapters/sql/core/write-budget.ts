/**
 * How much text one transaction makes searchable, in UTF-16 units. A search index takes the words of a text at once, a megabyte
 * of words that are all new in some 150 ms, and whatever shares a transaction shares its wait. So longer texts are committed
 * without their words and vectors, which follow in transactions of their own before the write is answered (platform contract §6).
 */
export const WRITE_SHARE = 250_000

/**
 * How many bytes of long texts travel in one transaction: a database in the same process serves nobody while they arrive, 9 to 15 ms for
 * each megabyte.
 */
export const TEXTS_SHARE = 4_000_000

/**
 * Which texts of a write become searchable only after its commit.
 *
 * @param lengths of the texts in order; `Infinity` for one that is not at hand
 */
export function beyondShare(lengths: readonly number[]): boolean[] {
  let left = WRITE_SHARE
  return lengths.map((length) => {
    if (length > left) return true
    left -= length
    return false
  })
}
