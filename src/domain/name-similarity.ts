/** Pairs of adjacent characters of a name, including its ends, after NFC normalization. */
const pairs = (name: string): Set<string> => {
  const padded = ` ${name.normalize('NFC')} `
  return new Set(Array.from({ length: padded.length - 1 }, (_, i) => padded.slice(i, i + 2)))
}

/** The fraction of character pairs that two names have in common, from 0 to 1. */
export function nameSimilarity(a: string, b: string): number {
  const [ours, theirs] = [pairs(a), pairs(b)]
  const shared = [...ours].filter((pair) => theirs.has(pair)).length
  return (2 * shared) / Math.max(1, ours.size + theirs.size)
}

/** The most similar name, ignoring case; null where no name shares a pair of characters. */
export function mostSimilarName(name: string, names: readonly string[]): string | null {
  const asked = name.slice(0, 200).toLowerCase()
  let best: { readonly name: string | null; readonly similarity: number } = { name: null, similarity: 0 }
  for (const other of names) {
    const similarity = nameSimilarity(other.slice(0, 200).toLowerCase(), asked)
    if (similarity > best.similarity) best = { name: other, similarity }
  }
  return best.name
}
