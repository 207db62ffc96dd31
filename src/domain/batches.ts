/**
 * Groups consecutive items into batches of at most `most`; a larger item is a batch of its own.
 * @example inBatches(texts, ({ length }) => length, 8_000)
 */
export function inBatches<T>(items: readonly T[], sizeOf: (item: T) => number, most: number): T[][] {
  const batches: T[][] = []
  let size = 0
  for (const item of items) {
    const last = batches.at(-1)
    size += sizeOf(item)
    if (last !== undefined && size <= most) last.push(item)
    else {
      batches.push([item])
      size = sizeOf(item)
    }
  }
  return batches
}
