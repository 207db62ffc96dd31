import type { Layer } from '../domain/entry/entry'
import type { EntryVersion } from '../domain/entry/entry-write'
import type { Kind } from '../domain/entry/kind'
import type { Scope } from '../domain/identity/scope'
import type { Original } from '../domain/recall/digest'
import type { Equal, Sameness } from '../domain/recall/equal'
import type { Memory, MemoryCount, MemoryType } from '../domain/recall/memory'
import type { Reported } from '../domain/recall/problem'
import type { Filter } from '../domain/search/filter'
import type { Window } from '../domain/search/window'

export interface MemoryQuery extends Window {
  readonly layer: Layer
  /** Null for every kind. */
  readonly kinds: readonly Kind[] | null
  /** Has one of these normalised tags; empty for no such condition. */
  readonly tags: readonly string[]
  /** Archived ones alone; without it, none of them. */
  readonly archived?: boolean | undefined
}

interface MemoryPage {
  readonly memories: readonly Memory[]
  /** Of the page, those whose texts would pass the bytes that were allowed. */
  readonly omitted: readonly number[]
  /** Exact; from the same consistent read, but of a list by tags that very many have. */
  readonly total: number
}

export interface SummarizableQuery {
  /** Null for memories of no project. */
  readonly project: string | null
  readonly layer: Layer
  readonly types: readonly MemoryType[]
  /** Milliseconds since 1970, inclusive. */
  readonly createdBefore: number
  readonly limit: number
}

/**
 * Entries as memories in layers, read only. With a project,
 * layers 1 and 2 of others and of none do not exist; without one, every project of the scope is meant. Layer 3 belongs to the org.
 */
export interface Memories {
  /** One that is the scope's to change, also an archived one; null when there is none. */
  findToChange(scope: Scope, project: string | null, id: number): Promise<Memory | null>

  /** As `find`, noted as an access, which this answer already counts. Changes no version and leaves no trace in any log. */
  access(scope: Scope, project: string | null, id: number): Promise<Memory | null>

  /** Newest first: by the millisecond of creation, then id. The first memory of a page always fits into `maxBytes`. */
  list(scope: Scope, project: string | null, query: MemoryQuery, maxBytes: number): Promise<MemoryPage>

  /**
   * Those of the ids that are listed and that the filter admits, in the order of the ids; as many from the beginning as fit into
   * `maxBytes`, of the others the ids. The first always fits.
   */
  shown(
    scope: Scope,
    project: string | null,
    filter: Filter,
    ids: readonly number[],
    maxBytes: number,
  ): Promise<Omit<MemoryPage, 'total'>>

  /** Those of the ids that are at home in another project than this: of layer 3, from one, and not tagged as everybody's. As `shown`. */
  away(scope: Scope, project: string, ids: readonly number[]): Promise<ReadonlySet<number>>

  /**
   * What may be summed up: unpinned memories that everybody in the project may read, of its own thread, the oldest first. Of each
   * the beginning of its text.
   */
  summarizable(scope: Scope, query: SummarizableQuery): Promise<(Original & EntryVersion)[]>

  /** What stands already and is equal to each of these, the oldest; null for none. */
  equals(scope: Scope, wanted: readonly Sameness[]): Promise<(Equal | null)[]>

  /** Visible memories of a project (null: of none) that stand for problems with this key, the oldest first. */
  reported(scope: Scope, project: string | null, key: string): Promise<Reported[]>

  /** How many there are of each sort. */
  count(scope: Scope, project: string | null): Promise<MemoryCount[]>
}
