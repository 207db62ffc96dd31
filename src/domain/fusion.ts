/** Reciprocal rank fusion of two orderings (threads contract §8): rrf(d) = Σ over legs 1 / (k + rank), rank from 1. */
export interface Fused {
  readonly id: number
  readonly rrf: number
  /** Position in each leg from 1, null where the leg did not find it. */
  readonly ranks: readonly (number | null)[]
}

/** @param legs ids in the order of each leg, best first; ties of the sum go to the smaller id */
export function fuse(legs: readonly (readonly number[])[], k: number): Fused[] {
  const ranks = new Map<number, (number | null)[]>()
  for (const [leg, ids] of legs.entries())
    for (const [i, id] of ids.entries()) {
      const known = ranks.get(id) ?? legs.map(() => null)
      known[leg] = i + 1
      ranks.set(id, known)
    }
  return [...ranks]
    .map(([id, found]) => ({
      id,
      ranks: found,
      rrf: found.reduce<number>((sum, rank) => sum + (rank === null ? 0 : 1 / (k + rank)), 0),
    }))
    .sort((a, b) => b.rrf - a.rrf || a.id - b.id)
}
