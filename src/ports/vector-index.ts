import type { Layer } from '../domain/entry/entry'
import type { Scope } from '../domain/identity/scope'
import type { VectorRegion } from '../domain/meaning/chunk'
import type { QuantizedVector } from '../domain/meaning/vector'

/** An index of the vectors in the database. It can always be rebuilt from them, and is never authoritative. */

/** Location of a listed entry. */
export interface VectorPlace {
  readonly layer: Layer
  /** Empty for none. */
  readonly project: string
  /** The only owner who may read it; empty for everyone. */
  readonly reader: string
}

export interface IndexedVector {
  /** Id of the row in the database; never reused, since an entry whose text or location changes gets new rows. */
  readonly id: number
  readonly entryId: number
  /** Null for an entry that is not listed. */
  readonly place: VectorPlace | null
  /** As packed by `domain/meaning/vector.ts`. */
  readonly data: string
}

export interface VectorHit {
  readonly id: number
  /** Cosine of the angle to the query, −1 to 1. */
  readonly cosine: number
  /** Returned by an index that stores it. */
  readonly entryId?: number | undefined
}

export interface VectorSearch {
  /** Best first. */
  readonly hits: readonly VectorHit[]
  /** Every vector up to this id is in the index, unless it was removed or left out; later ones may be. */
  readonly confirmedUpTo: number
  /** Whether there may be more hits than were returned. */
  readonly cut: boolean
  /** Of an approximate index without locations: the cosines are exact, and all hits are in the region. */
  readonly isExact?: boolean
}

/** One change of an index, in order of ids; it can be applied twice. */
export interface VectorChanges {
  /** The state before it: an index that is not at this state, because it was rebuilt meanwhile, must refuse it. */
  readonly since: VectorIndexState
  readonly added: readonly IndexedVector[]
  /** Every vector up to this id is in `added`, was added before, or is deleted. */
  readonly addedUpTo: number
  readonly removed: readonly number[]
  readonly removedUpTo: number
}

export interface VectorIndexState {
  readonly addedUpTo: number
  readonly removedUpTo: number
}

/** A space of comparable vectors: those of one organization, made by one model. */
export interface VectorSpace {
  readonly org: string
  /** Model and dimensions. */
  readonly model: string
  readonly dimensions: number
}

/** A similarity search in a part of the organization. */
export interface SimilarRequest {
  readonly layers: readonly Layer[]
  /** Maximum number of entries of these layers together. */
  readonly most: number
  /** Minimum cosine. */
  readonly least: number
  /** Limits layers 1 and 2; null for every project of the scope. */
  readonly project: string | null
  /** Vectors whose cosines are returned wherever they are. */
  readonly beside: readonly number[]
}

export interface VectorIndex {
  readonly backend: 'object' | 'vectorize' | 'pgvector'
  /** Maximum number of hits of one search; Infinity when it can return all. */
  readonly depth: number
  /** Whether its cosines are approximate: they are computed again from the rows. */
  readonly approximate: boolean
  /** Whether it stores locations, so that a search returns only hits in its region. */
  readonly placed: boolean
  /** Vectors of a space that a search compares; of more, the newest. Infinity for all. */
  capacity(dimensions: number): number
  /** Entries of a space whose vectors are left out, as the index last answered in this isolate. */
  leftOut(space: Pick<VectorSpace, 'org' | 'model'>): number
  /**
   * Returns the most similar vectors. May still include vectors deleted from the database, and lack unconfirmed ones.
   *
   * @param region limits the search; an index that is not `placed` may return others too
   *
   * @example
   * const { hits } = await index.search({ org, model: 'local', dimensions: 512 }, quantize(vector), 100)
   * @throws Problem unavailable
   */
  search(space: VectorSpace, query: QuantizedVector, limit: number, region?: VectorRegion | null): Promise<VectorSearch>
  /**
   * Returns the most similar entries of a part of the organization, each by its most similar vector, in no order; invisible entries are not
   * read. Null if the index has no locations, or no vectors. Expired entries and pending deletions may be included.
   *
   * @throws Problem unavailable
   */
  readonly nearby:
    | ((
        space: VectorSpace,
        scope: Scope,
        query: QuantizedVector,
        request: SimilarRequest,
      ) => Promise<VectorSearch | null>)
    | null
  apply(space: VectorSpace, changes: VectorChanges): Promise<void>
  /** Returns whether everything that was applied can be found; applies lost changes again. */
  settle(space: VectorSpace): Promise<boolean>
  /** Returns the state of the index; later changes are to be applied next, unless it is full of changes that it has not confirmed. */
  state(space: VectorSpace): Promise<VectorIndexState & { readonly isFull?: boolean }>
}
