import type { Layer, Source, TextVector } from '../domain/entry/entry'
import type { Scope } from '../domain/identity/scope'
import type { QuantizedVector } from '../domain/meaning/vector'
import type { Filter } from '../domain/search/filter'
import type { VectorChanges, VectorIndexState, VectorSpace } from './vector-index'

/** The exact parts of a cosine to the query. */
export interface Compared {
  /** Dot product with the query. */
  readonly product: number
  /** Dot product with itself. */
  readonly squares: number
}

/** A vector of an entry. */
export interface VectorRow {
  readonly id: number
  readonly entryId: number
  /** As packed by `domain/meaning/vector.ts`; null if the database returned the parts of the cosine. */
  readonly data: string | null
  readonly compared: Compared | null
  /** Its range of the text, in code points. */
  readonly start: number
  readonly length: number
  /** Layer of its entry, 1 to 5. */
  readonly weight: number
  /** Of its entry. */
  readonly layer: Layer
}

export interface VectorLookup {
  readonly model: string
  readonly filter: Filter
  /** The query, if the database compares vectors itself. */
  readonly query: QuantizedVector
  /** Vector ids that an index found, most similar first. */
  readonly hits: readonly number[]
  /** The next ones, read only if `hits` belong to too few entries. */
  readonly further: readonly number[]
  readonly enough: number
  /** Whether to return the parts of the hits' cosines; without it they have neither `data` nor `compared`. */
  readonly hitData: boolean
  /** Rows above this id are read too, because the index has not confirmed them. */
  readonly confirmedUpTo: number
  /** Maximum number of unconfirmed rows. */
  readonly unconfirmedLimit: number
  /**
   * If `hits` are too few, returns the matching rows when there are at most this many, or, from a database that compares them itself, this
   * many of the most similar ones; 0: none.
   */
  readonly eligibleLimit: number
}

export interface VectorLookupResult {
  /** Those of the hits that still exist and match scope and filter. */
  readonly hits: readonly VectorRow[]
  /** Whether `further` was read too. */
  readonly readFurther: boolean
  readonly unconfirmed: readonly VectorRow[]
  readonly moreUnconfirmed: boolean
  /**
   * Every row that matches scope and filter, or the most similar of them; null when there are more than requested, or none were requested.
   */
  readonly eligible: readonly VectorRow[] | null
}

/** An entry whose vectors are to be made. */
export interface Unembedded {
  readonly id: number
  readonly org: string
  readonly source: Source
  readonly title: string | null
  readonly text: string
  readonly textHash: string
}

/** Number of entries that the caller may see, and of those with vectors of a model. */
export interface VectorCounts {
  readonly entries: number
  readonly vectors: number
  readonly bytes: number
}

/** Reads and writes the vectors in the database, from which indexes are made. */
export interface VectorRows {
  lookUp(scope: Scope, lookup: VectorLookup): Promise<VectorLookupResult>
  /**
   * Returns the first chunks of these entries that scope and filter admit, with the parts of the cosine if there is a query.
   */
  ofEntries(
    scope: Scope,
    model: string,
    filter: Filter,
    entryIds: readonly number[],
    chunks: number,
    query: QuantizedVector | null,
  ): Promise<VectorRow[]>
  /**
   * Returns the entries that match scope and filter, which is checked for all if they can be scanned in parts; null when there are too
   * many, or a lookup finds them anyway.
   */
  fewAdmitted(scope: Scope, filter: Filter, most: number): Promise<readonly number[] | null>
  /**
   * Scans this many vectors of the organization after an id, as a last resort, and returns those that match scope and filter, in order.
   * `last` is the last scanned one, whether it matched or not; null at the end.
   */
  scan(
    scope: Scope,
    model: string,
    filter: Filter,
    afterId: number,
    most: number,
  ): Promise<{ readonly rows: readonly VectorRow[]; readonly last: number | null }>
  /** Returns the next changes for an index at this state; null when it is up to date. */
  changesSince(space: VectorSpace, state: VectorIndexState, limit: number): Promise<VectorChanges | null>
  /** Returns the size of the texts of these entries, if they exist; of any organization, for maintenance. */
  sizesOf(ids: readonly number[]): Promise<{ readonly id: number; readonly bytes: number }[]>
  /** Returns the present state of these entries, to make vectors; of any organization, for maintenance. */
  textsOf(ids: readonly number[]): Promise<Unembedded[]>
  /**
   * Scans this many entries after an id, of all organizations, and returns those without a vector of the model, of one organization or of
   * all for null, in order. `last` is the last scanned one; null at the end.
   */
  unembedded(
    org: string | null,
    model: string,
    afterId: number,
    limit: number,
  ): Promise<{ readonly missing: readonly number[]; readonly last: number | null }>
  /** Returns the number of entries of an organization, of any reader, and of those with a vector of the model. */
  coverage(org: string, model: string): Promise<{ readonly entries: number; readonly embedded: number }>
  /** Replaces the entry's vectors, unless its title or text has changed meanwhile, and removes the pending work. */
  replace(entry: Pick<Unembedded, 'id' | 'org' | 'title' | 'textHash'>, vectors: readonly TextVector[]): Promise<void>
  /** Removes these vectors of any organization, and queues their entries to be embedded again. */
  rebuild(ids: readonly number[]): Promise<void>
  counts(scope: Scope, model: string): Promise<VectorCounts>
  /** Returns the number of vectors of the model in the organization that has the most, by the counters. */
  largest(model: string): Promise<number>
  /** Returns the number of entries of a scope without a vector of the model, by the counters. */
  waiting(scope: Scope, model: string): Promise<number>
}
