import type { Layer, Source, TextVector } from '../domain/entry/entry'
import type { Scope } from '../domain/identity/scope'
import type { QuantizedVector } from '../domain/meaning/vector'
import type { Filter } from '../domain/search/filter'
import type { VectorChanges, VectorIndexState, VectorSpace } from './vector-index'

/** What a cosine to the query is made of, to the last bit. */
export interface Compared {
  /** Dot product with the query. */
  readonly product: number
  /** Dot product with itself. */
  readonly squares: number
}

/** A vector as it stands beside its entry. */
export interface VectorRow {
  readonly id: number
  readonly entryId: number
  /** As `domain/meaning/vector.ts` packs it; null where the database told what comparing takes. */
  readonly data: string | null
  readonly compared: Compared | null
  /** The stretch of text it stands for, in code points. */
  readonly start: number
  readonly length: number
  /** Of its entry, 1 to 5. */
  readonly weight: number
  /** Of its entry. */
  readonly layer: Layer
}

export interface VectorLookup {
  readonly model: string
  readonly filter: Filter
  /** What is compared, where the database does so itself. */
  readonly query: QuantizedVector
  /** Vector ids that an index found, the nearest first. */
  readonly hits: readonly number[]
  /** The next ones, looked up only where `hits` belong to fewer entries than are enough. */
  readonly further: readonly number[]
  readonly enough: number
  /** Bring what the hits' cosines are made of too; without it they have neither `data` nor `compared`. */
  readonly hitData: boolean
  /** Rows above this id are asked for, because the index has not confirmed them. */
  readonly confirmedUpTo: number
  /** At most this many unconfirmed rows are brought. */
  readonly unconfirmedLimit: number
  /**
   * Where `hits` are not enough, bring the eligible rows when there are at most this many, or, of a database that compares them itself,
   * the nearest so many; 0: do not look.
   */
  readonly eligibleLimit: number
}

export interface VectorLookupResult {
  /** Those of the hits that still exist and that scope and filter admit. */
  readonly hits: readonly VectorRow[]
  /** Whether `further` was looked up too. */
  readonly lookedFurther: boolean
  readonly unconfirmed: readonly VectorRow[]
  readonly moreUnconfirmed: boolean
  /** Every row that scope and filter admit, or the nearest of them; null when there are more than asked for, or none was looked for. */
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

/** How much of what the caller may see has vectors of a model. */
export interface VectorCounts {
  readonly entries: number
  readonly vectors: number
  readonly bytes: number
}

/** The vectors in the database, which are the truth that indexes are made from. */
export interface VectorRows {
  lookUp(scope: Scope, lookup: VectorLookup): Promise<VectorLookupResult>
  /**
   * The first chunks of these entries that scope and filter admit, to be compared with the query where there is one.
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
   * The entries that scope and filter admit, which is asked of all where these can be gone through in parts; null where they are more than
   * that, or a look-up finds them anyway.
   */
  fewAdmitted(scope: Scope, filter: Filter, most: number): Promise<readonly number[] | null>
  /**
   * Goes through so many vectors of the org after an id, for the scan of last resort: those that scope and filter admit, in order.
   * `last` is the last that was gone through, whether it was admitted or not; null when there are no more.
   */
  scan(
    scope: Scope,
    model: string,
    filter: Filter,
    afterId: number,
    most: number,
  ): Promise<{ readonly rows: readonly VectorRow[]; readonly last: number | null }>
  /** What an index at this state has to hear next; null when it is up to date. */
  changesSince(space: VectorSpace, state: VectorIndexState, limit: number): Promise<VectorChanges | null>
  /** How much there is to read of these entries, those that exist; of any org, for maintenance. */
  sizesOf(ids: readonly number[]): Promise<{ readonly id: number; readonly bytes: number }[]>
  /** Entries of these ids as they are now, to make vectors of; of any org, for maintenance. */
  textsOf(ids: readonly number[]): Promise<Unembedded[]>
  /**
   * Looks at so many entries after an id, of all orgs, and names those without a vector of the model, of one org or of all
   * for null, in order. `last` is the last that was looked at; null when there are no more.
   */
  unembedded(
    org: string | null,
    model: string,
    afterId: number,
    limit: number,
  ): Promise<{ readonly missing: readonly number[]; readonly last: number | null }>
  /** How many entries an org has, whoever may see them, and how many of them have a vector of the model. */
  coverage(org: string, model: string): Promise<{ readonly entries: number; readonly embedded: number }>
  /** Replaces the entry's vectors, unless its title or text has changed meanwhile, and removes the pending work. */
  replace(entry: Pick<Unembedded, 'id' | 'org' | 'title' | 'textHash'>, vectors: readonly TextVector[]): Promise<void>
  /** Removes these vectors of any org, and queues their entries to be embedded again. */
  rebuild(ids: readonly number[]): Promise<void>
  counts(scope: Scope, model: string): Promise<VectorCounts>
  /** Vectors of the model in the organization that has the most, as counters have them. */
  largest(model: string): Promise<number>
  /** How many entries of a scope have no vector of the model, as counters have them. */
  waiting(scope: Scope, model: string): Promise<number>
}
