// Finds the word that the user probably meant.

/** Counts the edits between two words; a swap of two neighbors is one edit. */
function distance(/** @type {string} */ a, /** @type {string} */ b) {
  /** @type {number[]} */
  let before = []
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const edits = [Number(row[j]) + 1, Number(next[j - 1]) + 1, Number(row[j - 1]) + (a[i - 1] === b[j - 1] ? 0 : 1)]
      next.push(Math.min(...edits, isSwapped ? Number(before[j - 2]) + 1 : Number.POSITIVE_INFINITY))
    }
    before = row
    row = next
  }
  return Number(row[b.length])
}

/**
 * Returns the known word closest to a typed one: at most a third of its letters differ, or it starts with what was typed.
 *
 * @param {string} typed
 * @param {Iterable<string>} known
 * @returns {string | undefined}
 */
export function nearestWord(typed, known) {
  const word = typed.toLowerCase()
  const [best] = [...known]
    .map((name) => ({ name, edits: distance(word, name.toLowerCase()) }))
    .filter(
      ({ name, edits }) =>
        edits <= Math.max(1, Math.floor(word.length / 3)) || (word.length > 2 && name.startsWith(word)),
    )
    .sort((a, b) => a.edits - b.edits)
  return best?.name
}

/** Returns ` Did you mean "x"?`, or an empty string. @param {string} typed @param {Iterable<string>} known */
export function didYouMean(typed, known) {
  const name = nearestWord(typed, known)
  return name === undefined ? '' : ` Did you mean "${name}"?`
}
