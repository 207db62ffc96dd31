/**
 * The same results, each one that is superseded behind its successor where both are among them.
 *
 * @param of the id of a result, and of the entry that supersedes it
 */
export function successorsFirst<T>(
  results: readonly T[],
  of: (result: T) => { readonly id: number; readonly supersededBy?: number | undefined },
): T[] {
  const byId = new Map(results.map((result) => [of(result).id, result]))
  const placed = new Set<number>()
  const ordered: T[] = []
  const place = (result: T, waiting: ReadonlySet<number>): void => {
    const { id, supersededBy } = of(result)
    if (placed.has(id) || waiting.has(id)) return
    const successor = supersededBy === undefined ? undefined : byId.get(supersededBy)
    if (successor !== undefined) place(successor, new Set([...waiting, id]))
    placed.add(id)
    ordered.push(result)
  }
  for (const result of results) place(result, new Set())
  return ordered
}
