import type { Layer } from '../domain/entry/entry'
import type { Scope } from '../domain/identity/scope'
import type { AtMoment } from '../domain/recall/current'
import type { Moment } from '../domain/recall/moment'
import type { ChosenBy } from '../domain/search/chosen-by'
import type { Filter } from '../domain/search/filter'
import type { TextQuery, Unit } from '../domain/search/query'
import type { ScoredTerm, TermStatistics } from '../domain/search/score'

/** Where words stand: the title, the text, its code blocks and file paths, and beside it the day of creation and the agent. */
export const TEXT_COLUMNS = ['title', 'body', 'code', 'context'] as const
export type TextColumn = (typeof TEXT_COLUMNS)[number]

/** An entry that the engine found, with what the scorer and an ordering policy need. */
export interface TextHit {
  readonly id: number
  /** Empty when the entry has none, or when titles were not searched. */
  readonly title: string
  /** At most the first `SCORED_LENGTH` code points; what lies beyond is found but does not raise the score. */
  readonly text: string
  /**
   * The code block, the path of the file and the aliases that its metadata name, the first `SCORED_LENGTH` of each; empty when code was not
   * searched.
   */
  readonly code: string
  /** The aliases by themselves; none when code was not searched. */
  readonly aliases: readonly string[]
  /** Creation date and agent, as indexed beside the text; empty when they were not searched. */
  readonly context: string
  /** Content words in the whole text. */
  readonly length: number
  /** Ids of the entries one and two places after it in its thread; none but of a search by the expression. */
  readonly following: readonly number[]
  /** Holds every unit of the query. */
  readonly complete: boolean
  /** How many units of the query it holds, of those that chose where few words do; 0 but of a search by units. */
  readonly held: number
  /** Its place among the candidates of a search by units, from 1. */
  readonly place: number
  /** Of a memory, 1 to 5. */
  readonly weight: number
  readonly layer: Layer
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** Null where no moment was named. */
  readonly atMoment: AtMoment | null
  /** Found by parts or compounds of the words alone (`domain/search/compounds.ts`). */
  readonly isByParts?: true
}

/** The same on every backend, since it is part of the score. */
export const SCORED_LENGTH = 8_000

/** What every search by words is told. */
interface Sought {
  /** With an expression. */
  readonly query: TextQuery
  /** What the statistics are wanted of, and what candidates weigh; without any the newest come first. */
  readonly terms: readonly ScoredTerm[]
  readonly filter: Filter
  /**
   * Where units are looked for, one at least. Quoted phrases are never found in `context`. Units by prefix are found in title, body and
   * context only, whatever the columns: the code column does not keep its words as they are written.
   */
  readonly columns: readonly TextColumn[]
}

/** Entries that fulfil the query's expression. */
export interface TextRequest extends Sought {
  /** Captured entries alone are found and counted (capture contract §4), in the place of what lists show. */
  readonly captured?: boolean
  /** As in `UnitsRequest`. */
  readonly totals?: boolean
  readonly depth: {
    /** Those that hold the most and the rarest words, shorter ones before longer. */
    readonly candidates: number
    /** Beside these, where the query has `preferred`, entries that fulfil it: the shortest. */
    readonly complete: number
  }
}

/** Entries that hold any of the query's units, the rarest and the most first, each with how many it holds and its place. */
export interface UnitsRequest extends Sought {
  readonly candidates: number
  /** The agent whose diary pages are found too, by their owner. */
  readonly diaryOf?: string | null
  /** Whether all entries of the scope are counted; without it `statistics` know of terms only. True when absent. */
  readonly totals?: boolean
}

/**
 * Entries that hold scored terms which stand in no more entries than `rare`, the rarest and the most of them first. A term of more leads
 * nowhere and is counted no further, and of each layer a few thousand entries are counted, so that many words cost the same in a store
 * of any size.
 */
export interface RareRequest extends Sought {
  readonly rare: number
  readonly candidates: number
  /** What each hit is to this moment is wanted too. */
  readonly moment?: Moment
}

export interface TextSearch {
  readonly hits: readonly TextHit[]
  /**
   * Counted over all that the scope may search, whatever the filter; but a filter that names a `room` confines what is counted,
   * so that other projects cost and tell nothing. Of no meaning without a hit.
   */
  readonly statistics: TermStatistics
  /**
   * The words that chose the candidates: all; the six rarest, where more than 10,000 entries hold one
   * of more than six; or the rarest, where comparing all entries would take too long. Statistics are of all terms.
   */
  readonly chosenBy: ChosenBy
}

/** What stands in an entry, whether or not words found it. */
export interface Standing extends Pick<TextHit, 'id' | 'title' | 'text' | 'code' | 'aliases'> {
  /** Of an entry of more than `SCORED_LENGTH` bytes, which of the units it holds, by their places; else empty. */
  readonly held: readonly number[]
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
   * By the query's expression. Hits and statistics of the three searches are the same on every backend.
   *
   * @throws Problem limit_exceeded for words that occur in too much text, where no rarer one can choose
   */
  search(scope: Scope, request: TextRequest): Promise<TextSearch>

  /** By the units of the query, whatever its expression says. */
  searchByUnits(scope: Scope, request: UnitsRequest): Promise<TextSearch>

  /** By the rare words of the query, as much from a large store as from a small one. */
  searchByRareWords(scope: Scope, request: RareRequest): Promise<TextSearch>

  /** What stands in these entries, as far as the scope lists them. */
  standing(
    scope: Scope,
    asked: { readonly units: readonly Unit[]; readonly columns: readonly TextColumn[] },
    ids: readonly number[],
  ): Promise<Standing[]>
}
