const LANES = 32

/** Vectors for which memory is allocated at once. */
export const BLOCK = 512

/** Returns the bytes of a vector, including padding. */
export const paddedSize = (dimensions: number): number => Math.ceil(dimensions / LANES) * LANES

/** Bytes in addition to the numbers: square, id, entry and group, with the lookups by id and by group. */
const PER_VECTOR = 128

/** Returns the bytes of a vector in memory. */
export const bytesOf = (dimensions: number): number => paddedSize(dimensions) + PER_VECTOR

/** Returns how many vectors fit into this many bytes of memory, which is allocated in blocks. */
export function capacityOf(dimensions: number, bytes: number): number {
  const fitting = Math.max(1, Math.floor(bytes / bytesOf(dimensions)))
  return fitting < BLOCK ? fitting : fitting - (fitting % BLOCK)
}
