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
  /** Has one of these normalized tags; empty for no such condition. */
  readonly tags: readonly string[]
  /** Only archived ones; without it, none of them. */
  readonly archived?: boolean | undefined
}

interface MemoryPage {
  readonly memories: readonly Memory[]
  /** Ids of the page whose texts exceed the byte limit. */
  readonly omitted: readonly number[]
  /** Exact; from the same consistent read, except for a list by very frequent tags. */
  readonly total: number
}

export interface SummarizableQuery {
  /** Null for memories without a project. */
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
  /** Returns a memory that the scope may change, including an archived one; null when there is none. */
  findToChange(scope: Scope, project: string | null, id: number): Promise<Memory | null>

  /** Like `find`, and counts an access, which this answer already includes. Changes no version and no log. */
  access(scope: Scope, project: string | null, id: number): Promise<Memory | null>

  /** Lists memories, newest first: by the millisecond of creation, then id. The first memory of a page always fits into `maxBytes`. */
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

  /** Returns those of the ids that belong to another project: of layer 3, from a project, and not tagged as shared. Like `shown`. */
  away(scope: Scope, project: string, ids: readonly number[]): Promise<ReadonlySet<number>>

  /**
   * Returns memories that may be summarized: unpinned ones that everyone in the project may read, of its own thread, oldest first. Each
   * with a preview of its text.
   */
  summarizable(scope: Scope, query: SummarizableQuery): Promise<(Original & EntryVersion)[]>

  /** Returns the oldest existing memory that is equal to each of these; null for none. */
  equals(scope: Scope, wanted: readonly Sameness[]): Promise<(Equal | null)[]>

  /** Returns visible memories of a project (null: of none) for problems with this key, oldest first. */
  reported(scope: Scope, project: string | null, key: string): Promise<Reported[]>

  /** Returns the number of memories of each sort. */
  count(scope: Scope, project: string | null): Promise<MemoryCount[]>
}
