import type { Scope } from '../domain/identity/scope'
import type { QuantizedVector } from '../domain/meaning/vector'
import type { AtMoment } from '../domain/recall/current'
import type { OpenedFile } from '../domain/recall/hints'
import type { Moment } from '../domain/recall/moment'
import type { Filter } from '../domain/search/filter'
import type { NearbyRequest, VectorSearch } from './vector-index'

/** A memory that may stand before an agent, and its vectors as far as they were asked for. */
export interface AtHandMemory {
  readonly id: number
  readonly vectors: readonly number[]
}

/** What is known of a moment before anything has been compared with it. */
interface AtHand {
  /** Texts of the newest working memories that somebody wrote down, newest first, their beginnings. */
  readonly newest: readonly string[]
  readonly opened: readonly OpenedFile[]
  /**
   * What may be shown, whatever it is like: the newest memories, the newest patterns that language and file of the moment admit, and of
   * layer 3 the newest whose file is one of the moment.
   */
  readonly memories: readonly AtHandMemory[]
  /** Vectors of the org, where an index beside the database is asked, as it always is where that cannot tell; else null. */
  readonly vectors: VectorsKnown | null
}

/** How far the vectors of an org go, by their ids. */
export interface VectorsKnown {
  /** Of the newest; 0 when there is none. */
  readonly newest: number
  /** What an index must have confirmed, for the others to be so few that they are compared beside it. */
  readonly due: number
}

/** What memories are compared with by meaning. */
export interface NearRequest extends Omit<NearbyRequest, 'beside'> {
  readonly query: QuantizedVector
  /** Model and dimensions. */
  readonly model: string
  /** What an index found, and up to which vector more is looked for; null for the database to compare vectors itself. */
  readonly found: (VectorSearch & { readonly newest: number }) | null
}

export interface NearMemory extends AtMoment {
  /** With the nearest of its vectors that was looked at; null where none was. */
  readonly cosine: number | null
}

/**
 * Which memories may stand before an agent; read only. Each method reads as much from a large store as from a small one.
 */
export interface CurrentMemories {
  /** Whether the database itself can find what is near. */
  readonly comparesVectors: boolean

  /** @param model whose vectors are named where an index has to be asked for them; null for none */
  atHand(scope: Scope, project: string | null, moment: Moment, model: string | null): Promise<AtHand>

  /**
   * The memories at hand, those that are near, and those up to the newest vector that the index has not confirmed, as far as scope
   * and filter admit them; each once.
   *
   * @param near null when nothing is compared
   */
  candidates(
    scope: Scope,
    filter: Filter,
    moment: Moment,
    atHand: readonly AtHandMemory[],
    near: NearRequest | null,
  ): Promise<readonly NearMemory[]>
}
