import type { Neighbor, PackLink } from './candidate'
import type { PackItem, PackRelated } from './pack'

/** Interprets links for the selection of entries. */

/** The entries that contradict an entry, or that it contradicts. One is only shown together with the other. */
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

/** The successors of each entry. */
export function successorsIn(links: readonly PackLink[]): ReadonlyMap<number, readonly number[]> {
  const successors = new Map<number, number[]>()
  for (const { from, relation, to } of links)
    if (relation === 'supersedes' && from !== to) successors.set(to, [...(successors.get(to) ?? []), from])
  return successors
}

/** The entries linked with an item: direct links first, then, with two steps, links of these. */
function neighborsOf(id: number, all: readonly Neighbor[], steps: number): PackRelated[] {
  const known = new Set([id])
  const related: PackRelated[] = []
  const add = ({ id: other, kind, name, relation, direction }: Neighbor, distance: number) => {
    if (known.has(other)) return
    known.add(other)
    related.push({ id: String(other), type: kind, name, relationship: relation, direction, distance })
  }
  const first = all.filter(({ of }) => of === id)
  for (const one of first) add(one, 1)
  if (steps > 1) for (const { id: next } of first) for (const one of all) if (one.of === next) add(one, 2)
  return related
}

/** Adds linked entries to items within the budget, one per item in turn. */
export function withRelated(
  items: readonly PackItem[],
  neighbors: readonly Neighbor[],
  { most, steps }: { readonly most: number; readonly steps: number },
  total: number,
): PackItem[] {
  if (most === 0) return [...items]
  const all = items.map((item) => neighborsOf(Number(item.id), neighbors, steps).slice(0, most))
  const given = items.map((item) => ({ ...item, related: [] as PackRelated[] }))
  const facets = new Set(items.map(({ facet }) => facet))
  let used = given.reduce((sum, item) => sum + JSON.stringify(item).length + 1, facets.size * 80)
  for (let nth = 0; nth < most; nth++)
    for (const [i, item] of given.entries()) {
      const related = all[i]?.[nth]
      if (related === undefined) continue
      const more = JSON.stringify(related).length + 1
      if (used + more > total) continue
      item.related.push(related)
      used += more
    }
  return given
}
