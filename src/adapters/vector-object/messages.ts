import type { Layer } from '../../domain/entry/entry'
import type { VectorRegion } from '../../domain/meaning/chunk'
import type { VectorPlace } from '../../ports/vector-index'
import type { Scored, ScoredEntries } from './scan'

/** Requests and responses of a vector object. Hits are arrays of numbers, since many small objects are slow to send. */

/** A `VectorRegion` in a form that can be sent. */
export type Region = Omit<VectorRegion, 'layers' | 'projects' | 'homes'> & {
  readonly homes?: string[]
  readonly layers: Layer[] | null
  readonly projects: string[] | null
}

/** The searched places, and the scope. */
export interface Nearby {
  readonly layers: Layer[]
  readonly most: number
  readonly least: number
  readonly sight: { readonly project: string | null; readonly owner: string | null; readonly projects: string[] | null }
  readonly beside: Float64Array
}

export type Answered<Answer> = Answer & {
  /** Every vector up to this ID was compared, left out, or deleted. */
  readonly upTo: number
  /** Number of entries whose vectors are left out. */
  readonly leftOut: number
}

export interface FoundNearest extends ScoredEntries {
  /** Whether there may be more. */
  readonly cut: boolean
}

export interface FoundNearby {
  readonly named: Scored
  readonly nearest: ScoredEntries
}

export function isInRegion({
  layers,
  projectScope,
  project,
  homes,
  projects,
  owner,
}: Region): (at: VectorPlace) => boolean {
  const isOf = (at: VectorPlace, one: string): boolean => at.project === one || homes?.includes(at.project) === true
  const open = projects && new Set(['', ...projects])
  return (at) =>
    (layers === null || layers.includes(at.layer)) &&
    (projectScope === null || at.layer === 3 || isOf(at, projectScope)) &&
    (project === null || isOf(at, project)) &&
    (at.reader === '' || at.reader === owner) &&
    (open === null || open.has(at.project))
}

/** Returns a condition for the searched places. */
export function isInPlaces({ layers, sight }: Pick<Nearby, 'layers' | 'sight'>): (at: VectorPlace) => boolean {
  const { project, owner, projects } = sight
  return isInRegion({ layers, projectScope: project, project: null, projects, owner })
}
