/** Vectors in one row. */
const PACK = 32

/** Vectors of a file in packs of lines. */
export function packVectors(vectors: readonly string[]): { first: number; count: number; data: string }[] {
  const packs: { first: number; count: number; data: string }[] = []
  for (let first = 0; first < vectors.length; first += PACK) {
    const part = vectors.slice(first, first + PACK)
    packs.push({ first, count: part.length, data: part.join('\n') })
  }
  return packs
}
