/** Which of many numbers are the largest? */

/**
 * Places of the largest numbers, in any order; with them all that equal the least of these.
 *
 * @param most how many are wanted, at least 1
 */
export function placesOfBest(values: Float64Array, most: number): Uint32Array {
  if (values.length <= most) return Uint32Array.from(values, (_, place) => place)
  const least = leastOfBest(values, most)
  const places: number[] = []
  for (let place = 0; place < values.length; place++) if ((values[place] as number) >= least) places.push(place)
  return Uint32Array.from(places)
}

/** The `most`-th largest number: a heap of the best so far, whose root is the least of them, which few numbers pass. */
function leastOfBest(values: Float64Array, most: number): number {
  const heap = values.slice(0, most).sort()
  for (let place = most; place < values.length; place++) {
    const value = values[place] as number
    if (value <= (heap[0] as number)) continue
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child + 1 < most && (heap[child + 1] as number) < (heap[child] as number)) child++
      if (child >= most || (heap[child] as number) >= value) break
      heap[at] = heap[child] as number
      at = child
    }
    heap[at] = value
  }
  return heap[0] as number
}
