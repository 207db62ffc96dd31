import { bareOf } from './bare-item'
import { fitted, type Passage, type Size, sizeOf } from './content'
import { FACET_TITLES, type Facet } from './facets'
import { itemMarkdown } from './markdown'
import type { PackItem } from './pack'
import { WEIGHTS } from './weights'

/** How much of a pack fits: which items, and how much of each one's text (packs contract). */
export interface Planned<T> {
  readonly one: T
  /** What the item says beside its content is cut to what it cannot be used without (`bareOf`). */
  readonly bare: boolean
  /** The room that its content may take. */
  readonly budget: Size
  /** Characters that are kept for what it supersedes and conflicts with; what these take beyond them is taken from its content. */
  readonly oppositions: number
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

const { roomy: ROOMY, scarce: SCARCE, bare: BARE } = WEIGHTS.budget

const add = (a: Size, b: Size): Size => ({ json: a.json + b.json, markdown: a.markdown + b.markdown })
const within = (a: Size, b: Size): boolean => a.json <= b.json && a.markdown <= b.markdown

const sectionSize = (facet: Facet): Size => ({
  json: JSON.stringify({ facet, title: FACET_TITLES[facet], items: [] }).length + 1,
  markdown: FACET_TITLES[facet].length + 6,
})

/** @param oppositions what the last look may still add: what it supersedes and conflicts with */
const itemSize = (item: PackItem, oppositions: number): Size => ({
  json: JSON.stringify(item).length + 1 + oppositions,
  markdown: itemMarkdown(item).length + 2 + oppositions,
})

const smaller = (a: Size, b: Size): Size => ({
  json: Math.min(a.json, b.json),
  markdown: Math.min(a.markdown, b.markdown),
})

/** The room that is left to a content once it is known what its item supersedes and conflicts with. */
export function sizeLeft({ one, bare, budget, oppositions }: Planned<Plannable>, item: PackItem): Size {
  const [before, after] = [itemSize(bare ? bareOf(one.item) : one.item, oppositions), itemSize(item, 0)]
  return {
    json: Math.max(0, budget.json - Math.max(0, after.json - before.json)),
    markdown: Math.max(0, budget.markdown - Math.max(0, after.markdown - before.markdown)),
  }
}

/** How items are given room: what an item takes at least beside itself, and what is kept for neighbours of all. */
interface Frugality {
  /** Characters of its text that an item is not worth its place without. */
  readonly least: number
  readonly oppositions: number
  /** A share of the whole. */
  readonly related: number
  /** Items say little beside their contents. */
  readonly bare: boolean
}

interface Kept<T> {
  readonly one: T
  readonly full: Size
  readonly least: Size
}

/** As many as fit with the beginning of their content, in their order, and what they take together. */
function keep<T extends Plannable>(chosen: readonly T[], all: Size, by: Frugality): { kept: Kept<T>[]; used: Size } {
  let used = NOTHING
  const facets = new Set<Facet>()
  const kept: Kept<T>[] = []
  for (const one of chosen) {
    const most = { json: one.most * 6, markdown: one.most * 6 }
    const full = sizeOf(fitted(one.passage, one.most, most))
    const least = smaller(full, { json: by.least, markdown: by.least })
    const section = facets.has(one.item.facet) ? NOTHING : sectionSize(one.item.facet)
    const item = by.bare ? bareOf(one.item) : one.item
    const after = add(used, add(add(itemSize(item, by.oppositions), section), least))
    if (!within(after, all)) continue
    used = after
    facets.add(one.item.facet)
    kept.push({ one, full, least })
  }
  return { kept, used }
}

const byWorth = (a: Plannable, b: Plannable): number =>
  Number(a.anyway) - Number(b.anyway) || b.item.score - a.item.score

/**
 * Gives room to as many items as fit with the beginning of their content, then to their contents, best first. Where not all fit, what says
 * most of the goal comes first, with less of its text each, and nothing is kept for neighbours; where nothing fits, what an item says
 * beside its content goes too.
 *
 * @param total room of all sections
 */
export function plan<T extends Plannable>(chosen: readonly T[], total: Size, withRelated: boolean): Planned<T>[] {
  const given = (by: Frugality, order: readonly T[]) => {
    const share = 1 - by.related
    const all: Size = { json: Math.floor(total.json * share) - 2, markdown: Math.floor(total.markdown * share) }
    return { ...keep(order, all, by), all, oppositions: by.oppositions, bare: by.bare }
  }
  const roomy = given({ ...ROOMY, related: withRelated ? ROOMY.related : 0 }, chosen)
  const best = [...chosen].sort(byWorth)
  const scarce = roomy.kept.length === chosen.length ? roomy : given(SCARCE, best)
  const { kept, all, oppositions, bare, ...rest } = scarce.kept.length > 0 ? scarce : given(BARE, best)
  let { used } = rest
  return [...kept]
    .sort((a, b) => byWorth(a.one, b.one))
    .map(({ one, full, least }) => {
      const free = { json: all.json - used.json, markdown: all.markdown - used.markdown }
      const more = smaller(free, { json: full.json - least.json, markdown: full.markdown - least.markdown })
      used = add(used, more)
      return { one, bare, budget: add(least, more), oppositions }
    })
}

const NOTHING: Size = { json: 0, markdown: 0 }
