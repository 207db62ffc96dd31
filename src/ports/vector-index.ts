import type { Layer } from '../domain/entry/entry'
import type { Scope } from '../domain/identity/scope'
import type { VectorRegion } from '../domain/meaning/region'
import type { QuantizedVector } from '../domain/meaning/vector'

/** An index over the vectors that stand beside the entries. It can always be rebuilt from them; it is never the truth. */

/** Where an entry stands that lists show. */
export interface VectorPlace {
  readonly layer: Layer
  /** Empty for none. */
  readonly project: string
  /** The owner who alone may read it; empty for everybody. */
  readonly reader: string
}

export interface IndexedVector {
  /** Id of the row in the database; never reused, since an entry whose text changes, or that moves, gets new rows. */
  readonly id: number
  readonly entryId: number
  /** Null for what no list shows. */
  readonly place: VectorPlace | null
  /** As `domain/meaning/vector.ts` packs it. */
  readonly data: string
}

export interface VectorHit {
  readonly id: number
  /** Cosine of the angle to the query, −1 to 1. */
  readonly cosine: number
  /** Told by a search of an index that knows it. */
  readonly entryId?: number | undefined
}

export interface VectorSearch {
  /** Best first. */
  readonly hits: readonly VectorHit[]
  /** Every vector up to this id is in the index, unless it was removed or left out; later ones may be. */
  readonly confirmedUpTo: number
  /** There may be more hits than were returned. */
  readonly cut: boolean
  /** Of an index that is approximate and not placed: these are the true cosines nevertheless, of what stands in the region alone. */
  readonly isExact?: boolean
}

/** One change of an index, in order of ids; all of it may be applied twice. */
export interface VectorChanges {
  /** The state that they follow: an index that has not come so far, since it began anew meanwhile, may not take them. */
  readonly since: VectorIndexState
  readonly added: readonly IndexedVector[]
  /** Every vector up to this id is in `added`, was added before, or is gone. */
  readonly addedUpTo: number
  readonly removed: readonly number[]
  readonly removedUpTo: number
}

export interface VectorIndexState {
  readonly addedUpTo: number
  readonly removedUpTo: number
}

/** A space of vectors that can be compared: those of one org, made by one model. */
export interface VectorSpace {
  readonly org: string
  /** Model and dimensions. */
  readonly model: string
  readonly dimensions: number
}

/** What is near in a part of the org. */
export interface NearbyRequest {
  readonly layers: readonly Layer[]
  /** Entries of these layers together at most. */
  readonly most: number
  /** None is farther than this cosine. */
  readonly least: number
  /** Confines layers 1 and 2; null for every project of the scope. */
  readonly project: string | null
  /** Vectors whose cosines are wanted wherever they are. */
  readonly beside: readonly number[]
}

export interface VectorIndex {
  readonly backend: 'object' | 'vectorize' | 'pgvector'
  /** Most hits that one search can bring; Infinity when it can bring all. */
  readonly depth: number
  /** Its cosines are near the true ones, not equal: they are computed again from the rows. */
  readonly approximate: boolean
  /** Knows where entries stand, so that a search finds what stands in its region and nothing else. */
  readonly placed: boolean
  /** Vectors of a space that a search compares; of more, the newest. Infinity for all. */
  capacity(dimensions: number): number
  /** Entries of a space whose vectors are left out, as the index last answered in this isolate. */
  leftOut(space: Pick<VectorSpace, 'org' | 'model'>): number
  /**
   * The nearest vectors. May still hold vectors that are gone from the database, and lack those that are not confirmed.
   *
   * @param region what is asked for stands there alone; an index that is not `placed` brings others too
   * @throws Problem unavailable
   */
  search(space: VectorSpace, query: QuantizedVector, limit: number, region?: VectorRegion | null): Promise<VectorSearch>
  /**
   * The nearest entries of a part of the org, each by its nearest vector, in no order; what the scope may not see is not looked at. Null
   * where an index does not know where entries stand, or has not heard of any. What expired or is leaving may be among them.
   *
   * @throws Problem unavailable
   */
  readonly nearby:
    | ((
        space: VectorSpace,
        scope: Scope,
        query: QuantizedVector,
        request: NearbyRequest,
      ) => Promise<VectorSearch | null>)
    | null
  apply(space: VectorSpace, changes: VectorChanges): Promise<void>
  /** Whether everything that was applied can be found; asks again for what got lost on the way. */
  settle(space: VectorSpace): Promise<boolean>
  /** How far the index has come; what lies beyond is to be applied next. */
  state(space: VectorSpace): Promise<VectorIndexState>
}
