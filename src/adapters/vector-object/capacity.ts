const LANES = 32

/** Vectors for which memory is taken at once. */
export const BLOCK = 512

/** Bytes of a vector, with the zeros that fill it up. */
export const paddedSize = (dimensions: number): number => Math.ceil(dimensions / LANES) * LANES

/** Bytes in addition to the numbers: square, id, entry and group, with the lookups by id and by group. */
const PER_VECTOR = 128

/** Bytes that a vector takes in memory. */
export const bytesOf = (dimensions: number): number => paddedSize(dimensions) + PER_VECTOR

/** How many vectors fit into that many bytes of memory, which is taken in blocks. */
export function capacityOf(dimensions: number, bytes: number): number {
  const fitting = Math.max(1, Math.floor(bytes / bytesOf(dimensions)))
  return fitting < BLOCK ? fitting : fitting - (fitting % BLOCK)
}
