import type { Layer } from '../domain/entry/entry'
import type { EntryVersion } from '../domain/entry/entry-write'
import type { Kind } from '../domain/entry/kind'
import type { Principal, Scope } from '../domain/identity/scope'
import type { QuantizedVector } from '../domain/meaning/vector'
import type { EqualityKey, EqualMemory } from '../domain/recall/duplicates'
import type { Reported } from '../domain/recall/failure-key'
import type { Memory, MemoryCount, MemorySummary, MemoryType } from '../domain/recall/memory'
import type { MemoryInContext } from '../domain/recall/rank-current'
import type { OpenedFile } from '../domain/recall/suggestions'
import type { Original } from '../domain/recall/summary-text'
import type { WorkContext } from '../domain/recall/work-context'
import type { Filter } from '../domain/search/filter'
import type { Window } from '../domain/search/window'
import type { Millis } from '../domain/time'
import type { SimilarRequest, VectorSearch } from './vector-index'

export interface MemoryQuery extends Window {
  readonly layer: Layer
  /** Null for every kind. */
  readonly kinds: readonly Kind[] | null
  /** Only memories with one of these normalized tags; empty for all. */
  readonly tags: readonly string[]
  /** Only archived memories; by default none of them. */
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
 * Reads entries as memories in layers. With a project, layers 1 and 2 of others and without project are excluded; without one, every
 * project of the scope is included. Layer 3 belongs to the organization.
 */
export interface Memories {
  /** Returns a memory that the scope may change, including an archived one; null when there is none. */
  findToChange(scope: Scope, project: string | null, id: number): Promise<Memory | null>

  /** Like `find`, and counts an access, which this answer already includes. Changes no version and no log. */
  access(scope: Scope, project: string | null, id: number): Promise<Memory | null>

  /** Lists memories, newest first: by the millisecond of creation, then id. The first memory of a page always fits into `maxBytes`. */
  list(scope: Scope, project: string | null, query: MemoryQuery, maxBytes: number): Promise<MemoryPage>

  /**
   * Returns those of the ids that are listed and that the filter matches, in the order of the ids, up to `maxBytes`; of the others only the
   * ids. The first one is always returned.
   */
  shown(
    scope: Scope,
    project: string | null,
    filter: Filter,
    ids: readonly number[],
    maxBytes: number,
  ): Promise<Omit<MemoryPage, 'total'>>

  /**
   * Returns those of the ids that belong to another project: of layer 3, from a project, and not tagged as shared. Accepts ids like
   * `shown`.
   */
  away(scope: Scope, project: string, ids: readonly number[]): Promise<ReadonlySet<number>>

  /**
   * Returns memories that may be summarized: unpinned ones that everyone in the project may read, of its own thread, oldest first. Each
   * with a preview of its text.
   */
  summarizable(scope: Scope, query: SummarizableQuery): Promise<(Original & EntryVersion)[]>

  /** Returns for each the oldest memory that is equal to it; null for none. */
  equals(scope: Scope, wanted: readonly EqualityKey[]): Promise<(EqualMemory | null)[]>

  /** Returns visible memories of a project (null: without project) for problems with this key, oldest first. */
  reported(scope: Scope, project: string | null, key: string): Promise<Reported[]>

  /** Returns the number of memories of each kind. */
  count(scope: Scope, project: string | null): Promise<MemoryCount[]>
}

/** A memory that may be shown to an agent, and its requested vectors. */
export interface AtHandMemory {
  readonly id: number
  readonly vectors: readonly number[]
}

/** Data of a work context, read before vectors are compared. */
interface AtHand {
  /** Previews of the newest working memories that were written on purpose, newest first. */
  readonly newest: readonly string[]
  readonly opened: readonly OpenedFile[]
  /**
   * Candidates of any similarity: the newest memories, the newest patterns that match language and file of the context, and of layer 3 the
   * newest whose file is in the context.
   */
  readonly memories: readonly AtHandMemory[]
  /** Range of the organization's vectors, if an external index has to be searched; else null. */
  readonly vectors: VectorProgress | null
}

/** Range of an organization's vector ids. */
export interface VectorProgress {
  /** Id of the newest vector; 0 when there is none. */
  readonly newest: number
  /** Id up to which an index must be complete, so that the vectors after it are few enough to compare separately. */
  readonly due: number
}

/** The query vector of a context. */
export interface SimilarMemoriesRequest extends Omit<SimilarRequest, 'beside'> {
  readonly query: QuantizedVector
  /** Model and dimensions. */
  readonly model: string
  /**
   * Hits of an index, and the vector id up to which others are compared; null if the database compares vectors itself.
   */
  readonly found: (VectorSearch & { readonly newest: number }) | null
}

export interface SimilarMemory extends MemoryInContext {
  /** The cosine of its most similar compared vector; null if none was compared. */
  readonly cosine: number | null
}

/**
 * Selects memories for the current work; read only. The cost of each method does not depend on the size of the store.
 */
export interface CurrentMemories {
  /** Whether the database itself can search by similarity. */
  readonly comparesVectors: boolean

  /**
   * Returns the data of a work context. @param model whose vectors an external index has to be searched for; null for none
   */
  atHand(scope: Scope, project: string | null, moment: WorkContext, model: string | null): Promise<AtHand>

  /**
   * Returns the memories at hand, the similar ones, and those up to the newest vector that the index has not confirmed, if scope and filter
   * admit
   * them; each once.
   *
   * @param near null when vectors are not compared
   */
  candidates(
    scope: Scope,
    filter: Filter,
    moment: WorkContext,
    atHand: readonly AtHandMemory[],
    near: SimilarMemoriesRequest | null,
  ): Promise<readonly SimilarMemory[]>
}

/** A last-seen marker, and the memories stored since. */
interface Sighting {
  /** Milliseconds since 1970. */
  readonly seenAt: Millis
  /** The newest entry of the organization at that time; later entries have greater ids, independent of clocks. */
  readonly lastId: number
}

export interface Since {
  /** Null for the first visit. */
  readonly last: Sighting | null
  /** The newest entry of the organization. */
  readonly newestId: number
  /** Number of new memories of layers 2 and 3 since; 0 for the first visit. */
  readonly added: number
  /** The owner of the last-seen positions. */
  readonly recent: readonly MemorySummary[]
}

/** A visitor: an owner's agent in a session of a project. */
export interface Visit {
  /** Null for none: then memories of the complete scope count. */
  readonly project: string | null
  readonly sessionId: string | null
}

/** The owner of the markers. */
export type Visitor = Pick<Principal, 'org' | 'projects' | 'owner' | 'agent' | 'merged'>

/** Moves the position of the session, never back. An owner has at most a thousand positions; the oldest are deleted. */
export interface LastSeen {
  /**
   * Returns what is new since the session's own marker, else since the newest one of that owner and agent in the project.
   *
   * @param most maximum length of `recent`, and code points of each content
   */
  since(visitor: Visitor, visit: Visit, most: { readonly memories: number; readonly content: number }): Promise<Since>

  /**
   * Moves the position of the session, never back. An owner has at most a thousand positions; the oldest are deleted.
   */
  note(visitor: Visitor, visit: Visit, sighting: Sighting): Promise<void>
}
