import { cosineOf, dot, type QuantizedVector } from '../meaning/vector'

interface Placed {
  /** Of its nearest stretch, and the dot product of that with itself; null where it has none. */
  readonly vector: QuantizedVector | null
  readonly squares: number
}

/** How near two entries are in meaning, 0 to 1; null where one has no vector. */
export type Nearness = (a: Placed, b: Placed) => number | null

function nearnessOf(a: Placed, b: Placed): number | null {
  if (a.vector === null || b.vector === null || a.vector.values.length !== b.vector.values.length) return null
  return Math.max(0, cosineOf(dot(a.vector.values, b.vector.values), a.squares, b.squares))
}

/**
 * Compares entries, each two of `all` once: duplicates are looked for and variety is weighed among the same ones.
 *
 * @param all a few hundred at most, since a number is kept for each two of them
 */
export function createNearness(all: readonly Placed[]): Nearness {
  const places = new Map(all.map((one, place) => [one, place]))
  const known = new Float64Array(all.length * all.length).fill(Number.NaN)
  return (a, b) => {
    const [i, j] = [places.get(a), places.get(b)]
    if (i === undefined || j === undefined) return nearnessOf(a, b)
    const at = i < j ? i * all.length + j : j * all.length + i
    const before = known[at] as number
    if (!Number.isNaN(before)) return before
    const near = nearnessOf(a, b)
    if (near !== null) known[at] = near
    return near
  }
}
