import type { Scope } from '../domain/identity/scope'
import type { QuantizedVector } from '../domain/meaning/vector'
import type { AtMoment } from '../domain/recall/current'
import type { OpenedFile } from '../domain/recall/hints'
import type { Moment } from '../domain/recall/moment'
import type { Filter } from '../domain/search/filter'
import type { NearbyRequest, VectorSearch } from './vector-index'

/** A memory that may be shown to an agent, and its requested vectors. */
export interface AtHandMemory {
  readonly id: number
  readonly vectors: readonly number[]
}

/** Data of a work context, read before anything is compared with it. */
interface AtHand {
  /** Previews of the newest working memories that were written on purpose, newest first. */
  readonly newest: readonly string[]
  readonly opened: readonly OpenedFile[]
  /**
   * Candidates whatever their similarity: the newest memories, the newest patterns that match language and file of the context, and of
   * layer 3 the newest whose file is in the context.
   */
  readonly memories: readonly AtHandMemory[]
  /** Range of the organization's vectors, if an external index has to be searched; else null. */
  readonly vectors: VectorsKnown | null
}

/** Range of an organization's vector ids. */
export interface VectorsKnown {
  /** Id of the newest vector; 0 when there is none. */
  readonly newest: number
  /** Id up to which an index must be complete, so that the vectors after it are few enough to compare separately. */
  readonly due: number
}

/** The query vector of a context. */
export interface NearRequest extends Omit<NearbyRequest, 'beside'> {
  readonly query: QuantizedVector
  /** Model and dimensions. */
  readonly model: string
  /** Hits of an index, and the vector id up to which others are compared; null for the database to compare vectors itself. */
  readonly found: (VectorSearch & { readonly newest: number }) | null
}

export interface NearMemory extends AtMoment {
  /** A memory with its most similar vector that was compared; null where none was. */
  readonly cosine: number | null
}

/**
 * Which memories may stand before an agent; read only. Each method reads as much from a large store as from a small one.
 */
export interface CurrentMemories {
  /** Whether the database itself can search by similarity. */
  readonly comparesVectors: boolean

  /** @param model whose vectors an external index has to be searched for; null for none */
  atHand(scope: Scope, project: string | null, moment: Moment, model: string | null): Promise<AtHand>

  /**
   * The memories at hand, those that are near, and those up to the newest vector that the index has not confirmed, as far as scope
   * and filter admit them; each once.
   *
   * @param near null when vectors are not compared
   */
  candidates(
    scope: Scope,
    filter: Filter,
    moment: Moment,
    atHand: readonly AtHandMemory[],
    near: NearRequest | null,
  ): Promise<readonly NearMemory[]>
}
