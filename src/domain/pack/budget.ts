// What has a reader of a pack to know of how it was made? An empty one never looks as if nothing were known (platform contract §6).

import { type Doubt, NOTHING_FITS } from '../recall/doubt'
import type { PackEntry } from './candidate'
import { fitted, type Passage, sizeOf } from './content'
import { FACET_TITLES, type Facet } from './facets'
import { bareOf, itemOf } from './item'
import { inline } from './markdown'
import type { LeftOut, LeftOutWhy, PackItem } from './pack'
import type { RankedEntry } from './rank-entries'
import type { PackRequest } from './request'

/** Which items of a pack fit, in characters of its sections as JSON (packs contract). */
export interface Planned<T> {
  readonly one: T
  /** In addition to its content the item has only the fields that it cannot be used without (`bareOf`). */
  readonly bare: boolean
  /** Characters that its content may take. */
  readonly budget: number
}

export interface Plannable {
  /** Without content and neighbors. */
  readonly item: PackItem
  readonly passage: Passage
  /** Code points of its content. */
  readonly most: number
}

/** Characters reserved for the entries that an item supersedes or conflicts with, which are known later. */
const OPPOSITIONS = 40
/** Characters of a content that an item is not worth its place without. */
const LEAST = 100

export const itemSize = (item: PackItem): number => JSON.stringify(item).length + 1

const sectionSize = (facet: Facet): number =>
  JSON.stringify({ facet, title: FACET_TITLES[facet], items: [] }).length + 1

/**
 * The items that fit with their complete contents, best first; those that do not fit are left out. The first one is cut where it alone is
 * too large, and has fewer fields where the budget is nearly used.
 *
 * @param total characters of all sections
 * @param ofSection the part of them that one section gets at most, unless the other sections leave more
 */
export function plan<T extends Plannable>(chosen: readonly T[], total: number, ofSection = 1): Planned<T>[] {
  const facets = new Map<Facet, number>()
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
    const full = sizeOf(fitted(one.passage, one.most, Number.MAX_SAFE_INTEGER))
    const ofFacet = (facets.get(one.item.facet) ?? 0) + beside + full
    if (isCapped && planned.length > 0 && ofFacet > ofSection * total) return false
    if (beside + full <= left) keep(one, false, beside, full)
    else if (planned.length > 0) return true
    else if (left - beside >= Math.min(full, LEAST)) keep(one, false, beside, left - beside)
    else {
      const bare = itemSize(bareOf(one.item)) + section
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

/** The characters that are left to a content once it is known what its item supersedes and conflicts with. */
export function sizeLeft({ one, bare, budget }: Planned<Plannable>, item: PackItem): number {
  const before = itemSize(bare ? bareOf(one.item) : one.item) + (bare ? 0 : OPPOSITIONS)
  return Math.max(0, budget - Math.max(0, itemSize(item) - before))
}

const DEGRADED = 'Meaning could not be searched; this is what words found.'
const NOTHING = 'Nothing that is stored has to do with this goal.'

/**
 * Lines for the head of a pack.
 *
 * @param found entries that were found
 */
export function saidOfPack(
  found: readonly Pick<PackEntry, 'project'>[],
  { project, homes }: Pick<PackRequest, 'project'> & { readonly homes: readonly string[] },
  { doubt, isEmpty, degraded }: { readonly doubt: Doubt; readonly isEmpty: boolean; readonly degraded: boolean },
): string[] {
  const isForeign = project !== null && !found.some((entry) => entry.project !== null && homes.includes(entry.project))
  return [
    ...(degraded ? [DEGRADED] : []),
    ...(isForeign ? [`Nothing that was found stands in project ${inline(project)}; look whether it is spelt so.`] : []),
    ...(isEmpty ? [NOTHING] : doubt === 'doubtful' ? [`${NOTHING_FITS} below.`] : []),
  ]
}

/** Of each cause the best so many are told. */
const MOST_TOLD = 20

/** What of the entries that were found stands in no pack, the best first. */
export const leftOut = (why: LeftOutWhy, some: readonly RankedEntry[]): LeftOut[] =>
  [...some]
    .sort((a, b) => b.score - a.score || b.entry.id - a.entry.id)
    .slice(0, MOST_TOLD)
    .map((one) => {
      const { name, type, score } = itemOf(one)
      return { why, id: one.entry.id, name, type, score }
    })
