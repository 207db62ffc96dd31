/**
 * Formats a number with its noun: `1 volume`, `2 volumes`, `0 entries`.
 *
 * @param {number} count
 * @param {string} one
 * @param {string} [many]
 */
export const counted = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`
