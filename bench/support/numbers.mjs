// Small sums that both benches need.

/**
 * Returns the value below which a fraction of the sorted numbers lies (nearest rank).
 *
 * @param {readonly number[]} values
 * @param {number} share 0–1
 */
export function percentile(values, share) {
  if (values.length === 0) return Number.NaN
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))]
}

/** @param {readonly number[]} values */
export const mean = (values) => values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1)

/** Three digits that count, without an exponent. */
export const short = (value) =>
  !Number.isFinite(value) ? '–' : value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)))

export const thousands = (value) => Math.round(value).toLocaleString('en-GB')

/**
 * A generator of numbers in [0, 1) that gives the same sequence for the same seed (mulberry32).
 *
 * @param {number} seed
 */
export function random(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/**
 * Formats rows as a Markdown table; the first column is left-aligned, the others right-aligned.
 *
 * @param {readonly string[]} head
 * @param {readonly (readonly (string | number)[])[]} rows
 */
export function markdownTable(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map((_, i) => (i === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n')
}
