import type { Layer } from '../entry/entry'
import { homesOf, type Scope } from '../identity/scope'
import type { Filter } from '../search/filter'

/** A part of an org: an index that knows where entries stand need not look at what stands elsewhere. Null confines nothing. */
export interface VectorRegion {
  readonly layers: readonly Layer[] | null
  /** Project of layers 1 and 2. */
  readonly projectScope: string | null
  /** Project of every layer. */
  readonly project: string | null
  /** All keys of the project that is named, where others were merged into it. */
  readonly homes?: readonly string[]
  /** Those of the scope. */
  readonly projects: readonly string[] | null
  readonly owner: string | null
}

/** Whether a filter asks for anything at all. */
export const isNarrow = (filter: Filter): boolean =>
  !(filter.op === 'and' && filter.of.every((part) => !isNarrow(part)))

/** The part of an org that scope and filter name, null for all of it; and whether the filter asks for nothing beside. */
export function regionOf(
  scope: Scope,
  filter: Filter,
): { readonly region: VectorRegion | null; readonly isWhole: boolean } {
  const { projects, owner } = scope
  let layers: VectorRegion['layers'] = null
  let projectScope: string | null = null
  let project: string | null = null
  let isWhole = true
  for (const part of filter.op === 'and' ? filter.of : [filter])
    if (part.op === 'layer' && layers === null) layers = part.anyOf
    else if (part.op === 'projectScope' && projectScope === null) projectScope = part.is
    else if (part.op === 'project' && project === null) project = part.is
    else if (isNarrow(part)) isWhole = false
  const everywhere = layers === null && projectScope === null && project === null && projects === null
  const named = project ?? projectScope
  const homes = named === null ? [] : homesOf(scope, named)
  const region = { layers, projectScope, project, projects, owner, ...(homes.length > 1 ? { homes } : {}) }
  return { region: everywhere ? null : region, isWhole }
}
