import type { Filter } from '../domain/filter'
import type { Marks, Moment, OpenedFile } from '../domain/recall/current'
import type { Memory } from '../domain/recall/memory'
import type { Scope } from '../domain/scope'
import type { QuantizedVector } from '../domain/vector'
import type { VectorSearch } from './vector-index'

/** A memory with regard to a moment: what its rank follows from. */
export interface AtMoment extends Pick<Memory, 'id' | 'layer' | 'kind' | 'weight' | 'updatedAt'> {
  /** Of the last access, else of the creation; milliseconds since 1970. */
  readonly usedAt: number
  readonly marks: Marks
}

/** What is known of a moment before anything has been compared with it. */
export interface AtHand {
  /** Texts of the newest working memories, newest first, their beginnings. */
  readonly newest: readonly string[]
  readonly opened: readonly OpenedFile[]
  /** Those of layer 1 with the best scores, apart from what similarity adds. */
  readonly working: readonly AtMoment[]
  /** Best first, as far as language and file of the moment admit them. */
  readonly patterns: readonly AtMoment[]
  /** The newest of layer 2. */
  readonly recent: readonly AtMoment[]
  /** Those of layer 3 whose file is one of the moment. */
  readonly ofFile: readonly AtMoment[]
}

/** What memories are compared with by meaning. */
export interface NearRequest {
  readonly query: QuantizedVector
  /** Model and dimensions. */
  readonly model: string
  /** What an index found; null where the database finds vectors itself. */
  readonly found: VectorSearch | null
  /** Vectors that are looked at where the database finds them. */
  readonly depth: number
  /** Vectors that are brought. */
  readonly most: number
}

export interface NearMemory extends AtMoment {
  /** With one of its chunks. */
  readonly cosine: number
}

/**
 * Which memories may stand before an agent; read only, each method one round trip, that reads as much from a large store as from a
 * small one.
 */
export interface CurrentMemories {
  /** Whether the database itself finds what is near, so that no index has to be asked before. */
  readonly findsVectors: boolean

  atHand(scope: Scope, project: string | null, moment: Moment): Promise<AtHand>

  /**
   * The memories of the nearest vectors that scope and filter admit, and of those that the index has not confirmed; one may come by
   * several. Shares a round trip with what is read in the same moment.
   */
  near(scope: Scope, filter: Filter, moment: Moment, request: NearRequest): Promise<NearMemory[]>
}
