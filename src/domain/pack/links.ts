import type { PackLink } from './candidate'

/** Which links decide what a pack shows. */

/** The entries that contradict one, or that it contradicts: neither is shown without the other. */
export type Opponents = (id: number) => ReadonlySet<number>

const NONE: ReadonlySet<number> = new Set()

export function opponentsIn(links: readonly PackLink[]): Opponents {
  const opponents = new Map<number, Set<number>>()
  const add = (one: number, other: number) => {
    const known = opponents.get(one)
    if (known === undefined) opponents.set(one, new Set([other]))
    else known.add(other)
  }
  for (const { from, relation, to } of links) {
    if (relation !== 'contradicts' || from === to) continue
    add(from, to)
    add(to, from)
  }
  return (id) => opponents.get(id) ?? NONE
}

/** The entries that supersede each one. */
export function successorsIn(links: readonly PackLink[]): ReadonlyMap<number, readonly number[]> {
  const successors = new Map<number, number[]>()
  for (const { from, relation, to } of links)
    if (relation === 'supersedes' && from !== to) successors.set(to, [...(successors.get(to) ?? []), from])
  return successors
}
