import type { Layer } from '../../domain/entry/entry'
import type { VectorRegion } from '../../domain/meaning/region'
import type { VectorPlace } from '../../ports/vector-index'
import type { Scored, ScoredEntries } from './scan'
import type { Part, Stretch } from './storage'

/** What objects are asked and what they answer, as it travels: hits as arrays of numbers, since many small objects are slow to send. */

/** A `VectorRegion` that can be sent. */
export type Region = Omit<VectorRegion, 'layers' | 'projects' | 'homes'> & {
  readonly homes?: string[]
  readonly layers: Layer[] | null
  readonly projects: string[] | null
}

/** What is looked at, and who asks. */
export interface Nearby {
  readonly layers: Layer[]
  readonly most: number
  readonly least: number
  readonly sight: { readonly project: string | null; readonly owner: string | null; readonly projects: string[] | null }
  readonly beside: Float64Array
}

/** Of which vectors an answer was made; the first object also tells which others there are. */
export type Answered<Answer> = Answer & Stretch & { readonly parts: Part[] }

export interface FoundNearest extends Scored {
  /** Of each; not told by an object of 1.0.0-rc.1, as a release is rolled out. */
  readonly entries?: Float64Array
  /** There may be more. */
  readonly cut: boolean
}

export interface FoundNearby {
  readonly named: Scored
  readonly nearest: ScoredEntries
}

/** The name of an object beside the first, which has the name of the space. */
export const partName = (name: string, n: number): string => `${name}\n${n}`

/** Whether an object that knows a stretch has all that the first believes it to have. */
export const covers = ({ first, upTo }: Stretch, part: Part): boolean => first <= part.first && upTo >= part.told

export function standsIn({
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

/** The places that are looked at. */
export function standsNear({ layers, sight }: Pick<Nearby, 'layers' | 'sight'>): (at: VectorPlace) => boolean {
  const { project, owner, projects } = sight
  return standsIn({ layers, projectScope: project, project: null, projects, owner })
}
