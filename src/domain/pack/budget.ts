// Selects the items of a pack that fit into its budget, and the notes in its head.

import { type Doubt, NOTHING_FITS } from '../recall/answer-confidence'
import type { PackEntry } from './candidate'
import { headOf, minimalItem } from './item'
import { inline } from './markdown'
import type { OmittedEntry, PackItem } from './pack'
import type { PackRequest } from './pack-request'
import { fitToBudget, type Passage, sizeOf } from './passages'
import type { RankedEntry } from './rank-entries'
import { type PackSectionName, SECTION_TITLES } from './sections'

/** An item with its budget, in characters of the sections as JSON (packs contract). */
export interface Planned<T> {
  readonly one: T
  /** Whether the item has only the fields that it cannot be used without (`minimalItem`), in addition to its content. */
  readonly bare: boolean
  /** Maximum characters of its content. */
  readonly budget: number
}

export interface Plannable {
  /** Without content and linked entries. */
  readonly item: PackItem
  readonly passage: Passage
  /** Maximum code points of its content. */
  readonly most: number
}

/** Characters reserved for superseded and conflicting entries, which are known later. */
const OPPOSITIONS = 40
/** Minimum characters of a content for an item to be included. */
const LEAST = 100

const itemSize = (item: PackItem): number => JSON.stringify(item).length + 1

const sectionSize = (facet: PackSectionName): number =>
  JSON.stringify({ facet, title: SECTION_TITLES[facet], items: [] }).length + 1

/**
 * Selects the items that fit with their complete contents, best first. The first item is cut if it is too large alone,
 * and has fewer fields if the budget is nearly used up.
 * @param total characters of all sections
 * @param ofSection maximum fraction for one section, unless other sections leave more
 */
export function plan<T extends Plannable>(chosen: readonly T[], total: number, ofSection = 1): Planned<T>[] {
  const facets = new Map<PackSectionName, number>()
  const planned: Planned<T>[] = []
  let left = total - 2
  const keep = (one: T, bare: boolean, beside: number, budget: number): void => {
    facets.set(one.item.facet, (facets.get(one.item.facet) ?? 0) + beside + budget)
    planned.push({ one, bare, budget })
    left -= beside + budget
  }
  const planOne = (one: T, isCapped: boolean): boolean => {
    const section = facets.has(one.item.facet) ? 0 : sectionSize(one.item.facet)
    const beside = itemSize(one.item) + section + OPPOSITIONS
    const full = sizeOf(fitToBudget(one.passage, one.most, Number.MAX_SAFE_INTEGER))
    const ofFacet = (facets.get(one.item.facet) ?? 0) + beside + full
    if (isCapped && planned.length > 0 && ofFacet > ofSection * total) return false
    if (beside + full <= left) keep(one, false, beside, full)
    else if (planned.length > 0) return true
    else if (left - beside >= Math.min(full, LEAST)) keep(one, false, beside, left - beside)
    else {
      const bare = itemSize(minimalItem(one.item)) + section
      if (left > bare) keep(one, true, bare, left - bare)
    }
    return true
  }
  // The budget that other sections leave is for the items that were held back.
  const heldBack = chosen.filter((one) => !planOne(one, ofSection < 1))
  for (const one of heldBack) planOne(one, false)
  const place = new Map(chosen.map((one, i) => [one, i]))
  return planned.sort((a, b) => (place.get(a.one) as number) - (place.get(b.one) as number))
}

/** The remaining characters of a content after superseded and conflicting entries were added. */
export function remainingSize({ one, bare, budget }: Planned<Plannable>, item: PackItem): number {
  const before = itemSize(bare ? minimalItem(one.item) : one.item) + (bare ? 0 : OPPOSITIONS)
  return Math.max(0, budget - Math.max(0, itemSize(item) - before))
}

const DEGRADED = 'Semantic search was not available; these are full-text results only.'
const NOTHING = 'No stored memory is about this goal.'

/**
 * Notes for the head of a pack.
 * @param found all entries that were found
 */
export function packNotes(
  found: readonly Pick<PackEntry, 'project'>[],
  { project, homes }: Pick<PackRequest, 'project'> & { readonly homes: readonly string[] },
  { doubt, isEmpty, degraded }: { readonly doubt: Doubt; readonly isEmpty: boolean; readonly degraded: boolean },
): string[] {
  const isForeign = project !== null && !found.some((entry) => entry.project !== null && homes.includes(entry.project))
  return [
    ...(degraded ? [DEGRADED] : []),
    ...(isForeign ? [`No result is in project ${inline(project)}. Check the spelling of the project.`] : []),
    ...(isEmpty ? [NOTHING] : doubt === 'doubtful' ? [`${NOTHING_FITS} below.`] : []),
  ]
}

/** Maximum number of omitted entries per reason. */
const MOST_TOLD = 20

/** The omitted entries of a reason, best first. */
export const omittedEntries = (why: OmittedEntry['why'], some: readonly RankedEntry[]): OmittedEntry[] =>
  [...some]
    .sort((a, b) => b.score - a.score || b.entry.id - a.entry.id)
    .slice(0, MOST_TOLD)
    .map((one) => {
      const { name, type, score } = headOf(one)
      return { why, id: one.entry.id, name, type, score }
    })
