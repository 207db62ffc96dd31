import { fitted, type Passage, type Room, roomOf } from './content'
import { FACET_TITLES, type Facet } from './facets'
import { itemMarkdown } from './markdown'
import type { PackItem } from './pack'
import { WEIGHTS } from './weights'

/** How much of a pack fits: which items, and how much of each one's text (packs contract). */
export interface Planned<T> {
  readonly one: T
  /** The room that its content may take. */
  readonly room: Room
}

export interface Plannable {
  /** Without content and neighbours. */
  readonly item: PackItem
  readonly passage: Passage
  /** Code points of its content. */
  readonly most: number
  /** It stands there whatever the goal says: what has to do with the goal comes before its text. */
  readonly anyway: boolean
}

/** What the last look may still add to an item: what it supersedes and conflicts with. */
const { oppositions: OPPOSITIONS, least: LEAST, related: FOR_RELATED } = WEIGHTS.budget

const add = (a: Room, b: Room): Room => ({ json: a.json + b.json, markdown: a.markdown + b.markdown })
const within = (a: Room, b: Room): boolean => a.json <= b.json && a.markdown <= b.markdown

const sectionRoom = (facet: Facet): Room => ({
  json: JSON.stringify({ facet, title: FACET_TITLES[facet], items: [] }).length + 1,
  markdown: FACET_TITLES[facet].length + 6,
})

const itemRoom = (item: PackItem): Room => ({
  json: JSON.stringify(item).length + 1 + OPPOSITIONS,
  markdown: itemMarkdown(item).length + 2 + OPPOSITIONS,
})

const smaller = (a: Room, b: Room): Room => ({
  json: Math.min(a.json, b.json),
  markdown: Math.min(a.markdown, b.markdown),
})

/**
 * Gives room to as many items as fit with the beginning of their content, in their order, then to their contents, best first.
 *
 * @param total room of all sections
 */
export function plan<T extends Plannable>(chosen: readonly T[], total: Room, withRelated: boolean): Planned<T>[] {
  const share = withRelated ? 1 - FOR_RELATED : 1
  const all: Room = { json: Math.floor(total.json * share) - 2, markdown: Math.floor(total.markdown * share) }
  let used: Room = { json: 0, markdown: 0 }
  const facets = new Set<Facet>()
  const kept: { readonly one: T; readonly full: Room; least: Room }[] = []
  for (const one of chosen) {
    const most = { json: one.most * 6, markdown: one.most * 6 }
    const full = roomOf(fitted(one.passage, one.most, most))
    const least = smaller(full, { json: LEAST, markdown: LEAST })
    const own = add(itemRoom(one.item), facets.has(one.item.facet) ? NOTHING : sectionRoom(one.item.facet))
    const after = add(used, add(own, least))
    if (!within(after, all)) continue
    used = after
    facets.add(one.item.facet)
    kept.push({ one, full, least })
  }
  const byWorth = [...kept].sort(
    (a, b) => Number(a.one.anyway) - Number(b.one.anyway) || b.one.item.score - a.one.item.score,
  )
  return byWorth.map(({ one, full, least }) => {
    const free = { json: all.json - used.json, markdown: all.markdown - used.markdown }
    const more = smaller(free, { json: full.json - least.json, markdown: full.markdown - least.markdown })
    used = add(used, more)
    return { one, room: add(least, more) }
  })
}

const NOTHING: Room = { json: 0, markdown: 0 }
