import type { Layer } from '../domain/entry/entry'
import type { Scope } from '../domain/identity/scope'
import type { MemoryInContext } from '../domain/recall/rank-current'
import type { WorkContext } from '../domain/recall/work-context'
import type { CandidateSelection } from '../domain/search/candidate-selection'
import type { Filter } from '../domain/search/filter'
import type { TextQuery, Unit } from '../domain/search/query'
import type { ScoredTerm, TermStatistics } from '../domain/search/score'

/** Searchable columns: the title, the text, its code blocks and file paths, and the context (day of creation and agent). */
export const TEXT_COLUMNS = ['title', 'body', 'code', 'context'] as const
export type TextColumn = (typeof TEXT_COLUMNS)[number]

/** An entry that the engine found, with the data for scoring and ordering. */
export interface TextHit {
  readonly id: number
  /** Empty when the entry has none, or when titles were not searched. */
  readonly title: string
  /** At most the first `SCORED_LENGTH` code points; text after them is found but does not raise the score. */
  readonly text: string
  /**
   * The terms of the complete text in order, separated by spaces, so that it need not be analyzed again; null if the database does not have
   * them or the text is longer than `SCORED_LENGTH` bytes.
   */
  readonly terms: string | null
  /**
   * The code block, the file path and the aliases in its metadata, the first `SCORED_LENGTH` of each; empty when code was not searched.
   */
  readonly code: string
  /** The aliases alone; none when code was not searched. */
  readonly aliases: readonly string[]
  /** Creation date and agent, as indexed; empty when they were not searched. */
  readonly context: string
  /** Number of content words of the complete text. */
  readonly length: number
  /** Ids of the entries one and two positions after it in its thread; only of a search by the expression. */
  readonly following: readonly number[]
  /** Whether it contains every unit of the query. */
  readonly complete: boolean
  /** Number of units of the query that it contains, of those that selected candidates if few words do; 0 except for a search by units. */
  readonly held: number
  /** Its rank in the candidates of a search by units, from 1. */
  readonly place: number
  /** Layer of a memory, 1 to 5. */
  readonly weight: number
  readonly layer: Layer
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** Null without a work context. */
  readonly atMoment: MemoryInContext | null
  /** Whether only parts or compounds of the words were found (`domain/search/compounds.ts`). */
  readonly isByParts?: true
}

/** The same on every backend, since it is part of the score. */
export const SCORED_LENGTH = 8_000

/** Options of every search by words. */
interface Sought {
  /** With an expression. */
  readonly query: TextQuery
  /** Terms to count, and their weights for candidates; without any the newest come first. */
  readonly terms: readonly ScoredTerm[]
  readonly filter: Filter
  /**
   * Columns that are searched, at least one. Quoted phrases are never found in `context`. Prefix units are found in title, body and context
   * only, whatever the columns: the code column does not store its words as written.
   */
  readonly columns: readonly TextColumn[]
}

/** Finds entries that match the query's expression. */
export interface TextRequest extends Sought {
  /** Only captured entries are found and counted (capture contract §4), instead of listed ones. */
  readonly captured?: boolean
  /** As in `UnitsRequest`. */
  readonly totals?: boolean
  /** False if texts are only counted: hits with `terms` may have an empty text. */
  readonly texts?: boolean
  readonly depth: {
    /** Prefers entries with the most and the rarest words, shorter ones before longer. */
    readonly candidates: number
    /** In addition, if the query has `preferred`, entries that match it: the shortest. */
    readonly complete: number
  }
}

/**
 * Finds entries that contain any of the query's units: those with the rarest and most units first, each with its number of units and its
 * rank.
 */
export interface UnitsRequest extends Sought {
  readonly candidates: number
  /** The agent whose diary pages are found too, by their owner. */
  readonly diaryOf?: string | null
  /** Whether all entries of the scope are counted; without it `statistics` cover terms only. True when absent. */
  readonly totals?: boolean
}

/**
 * Finds entries with scored terms that occur in at most `rare` entries: those with the rarest and most terms first. More frequent terms are
 * not used and not counted further, and a few thousand entries of each layer are counted, so that the cost does not depend on the size of
 * the store.
 */
export interface RareRequest extends Sought {
  readonly rare: number
  readonly candidates: number
  /** Whether to return each hit's relation to this work context. */
  readonly moment?: WorkContext
}

export interface TextSearch {
  readonly hits: readonly TextHit[]
  /**
   * Counted over everything that the scope may search, whatever the filter; but a filter on `room` limits the count, so that other projects
   * have no cost and no effect. Undefined without a hit.
   */
  readonly statistics: TermStatistics
  /**
   * The words that chose the candidates: all; or the rarest, when many entries match one of more than six words, or when comparing all
   * entries would take too long. Statistics are of all terms.
   */
  readonly chosenBy: CandidateSelection
}

/** The matched content of an entry, whether or not it was found by words. */
export interface EntryText extends Pick<TextHit, 'id' | 'title' | 'text' | 'code' | 'aliases'> {
  /** For an entry of more than `SCORED_LENGTH` bytes, the units it contains, by their positions; else empty. */
  readonly held: readonly number[]
}

/**
 * Finds candidates by words. The entry store writes the index in the batch of the row, so that the next call finds a stored entry.
 */
export interface FullText {
  /** `fts5` or `tsvector`. */
  readonly engine: string
  readonly language: string
  readonly stemming: boolean

  /**
   * Searches by the query's expression. Hits and statistics of the three searches are the same on every backend.
   *
   * @throws Problem limit_exceeded for words that occur in too much text, unless the query has a rarer one
   */
  search(scope: Scope, request: TextRequest): Promise<TextSearch>

  /** Searches by the units of the query, ignoring its expression. */
  searchByUnits(scope: Scope, request: UnitsRequest): Promise<TextSearch>

  /** Searches by the rare words of the query; reads as much from a large store as from a small one. */
  searchByRareWords(scope: Scope, request: RareRequest): Promise<TextSearch>

  /** Returns the matched content of these entries, if the scope lists them. */
  entryTexts(
    scope: Scope,
    asked: { readonly units: readonly Unit[]; readonly columns: readonly TextColumn[] },
    ids: readonly number[],
  ): Promise<EntryText[]>
}
