import type { Filter } from '../domain/filter'
import type { Marks, Moment, OpenedFile } from '../domain/recall/current'
import type { Memory } from '../domain/recall/memory'
import type { Scope } from '../domain/scope'

/** A memory with regard to a moment. */
export interface Candidate {
  /** Its text ends after `LONGEST_READ` code points. */
  readonly memory: Memory
  readonly marks: Marks
  /** Milliseconds since 1970; null when it was never read. */
  readonly accessedAt: number | null
  /** The text goes on. */
  readonly cut: boolean
}

/** Longer texts are brought only when they are shown. */
export const LONGEST_READ = 20_000

/** What is known of a moment before anything has been compared with it. */
export interface AtHand {
  /** Texts of the newest working memories, newest first, their beginnings. */
  readonly newest: readonly string[]
  readonly opened: readonly OpenedFile[]
  /** Those of layer 1 with the best scores, apart from what similarity adds. */
  readonly working: readonly Candidate[]
  /** Best first, as far as language and file of the moment admit them. */
  readonly patterns: readonly Candidate[]
  /** The newest of layer 2. */
  readonly recent: readonly Candidate[]
  /** Those of layer 3 whose file is one of the moment. */
  readonly ofFile: readonly Candidate[]
}

/** Which memories may stand before an agent; read only, each method one round trip. */
export interface CurrentMemories {
  atHand(scope: Scope, project: string | null, moment: Moment): Promise<AtHand>

  /**
   * Memories by their ids, and those that vectors belong to, as far as the filter admits them. Shares a round trip with what is read
   * in the same moment.
   */
  named(
    scope: Scope,
    filter: Filter,
    moment: Moment,
    wanted: { readonly ids: readonly number[]; readonly vectors: readonly number[] },
  ): Promise<Candidate[]>
}
