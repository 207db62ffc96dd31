import type { Filter } from '../domain/filter'
import type { TextQuery } from '../domain/query'
import type { Scope } from '../domain/scope'
import type { ScoredTerm, TermStatistics } from '../domain/score'

/** An entry that the engine found, with what the scorer needs. */
export interface TextHit {
  readonly id: number
  readonly threadId: string
  /** At most the first `SCORED_LENGTH` code points; what lies beyond is found but does not raise the score. */
  readonly text: string
  /** Creation date and agent, as indexed beside the text. */
  readonly context: string
  /** Content words in the whole text. */
  readonly length: number
  /** Ids of the entries one and two places after it in its thread. */
  readonly following: readonly number[]
  readonly complete: boolean
}

export const SCORED_LENGTH = 8_000

export interface TextSearch {
  readonly hits: readonly TextHit[]
  readonly statistics: TermStatistics
}

/**
 * Finds candidates by words. The index is written by the entry store in the batch that writes the row, so what was
 * stored is found by the next call.
 */
export interface FullText {
  /** `fts5` or `tsvector`. */
  readonly engine: string
  readonly language: string
  readonly stemming: boolean

  /**
   * The engine's best 200 entries that fulfil the query's expression and the filter, plus in `match` the best 100 of
   * those that hold every unit. One round trip.
   */
  search(scope: Scope, query: TextQuery, terms: readonly ScoredTerm[], filter: Filter): Promise<TextSearch>
}
