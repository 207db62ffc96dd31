import type { Scope } from '../domain/identity/scope'
import type { LineIndex } from '../domain/reading/lines'
import type { Narrowing } from '../domain/reading/literal'
import type { LineRange, Part } from '../domain/reading/range'
import type { Filter } from '../domain/search/filter'

export interface ScanRequest {
  readonly filter: Filter
  /** Only these entries; null for all. */
  readonly ids: readonly number[] | null
  /** Only entries with a lower id; null to start with the newest. */
  readonly beforeId: number | null
  /** A condition that the texts must match; null: all are read. */
  readonly narrowing: Narrowing | null
  /** Maximum number of entries to cover. */
  readonly limit: number
  /** As returned by the previous scan. */
  readonly inParts?: boolean
}

/** An entry whose text is to be searched. */
export interface Candidate {
  readonly id: number
  readonly threadId: string
  /** At least the UTF-8 bytes of the text. */
  readonly bytes: number
  /** Its position in the entries that the scan covered, from 1. */
  readonly place: number
  /** The texts of the first candidates are returned at once. */
  readonly text: string | null
}

/** A range of the entries, newest id first. */
export interface Scan {
  /** In order; covered entries that are not in it contain no match. */
  readonly candidates: readonly Candidate[]
  readonly covered: number
  /** All entries above it are covered; usually the lowest covered id, null when none was. */
  readonly lastId: number | null
  readonly more: boolean
  /** Whether a part of all entries was scanned, whatever the filter matches: then possibly none was covered, and there is more. */
  readonly inParts: boolean
}

/** The length of a text and its line index, without the text itself if it is long. */
interface TextMeasure {
  readonly textHash: string
  /** Null: the index is not stored, and `text` has the complete text. */
  readonly marks: LineIndex | null
  readonly text: string | null
  /** The range that probably contains the requested part; null when the complete text is here, or no part was requested. */
  readonly range: { readonly from: number; readonly to: number; readonly text: string } | null
}

/** Texts of entries, found and read in parts. Each method shows only what its scope may see. */
export interface EntryTexts {
  /** Returns the listed entries that a search through texts covers next. Covers fewer than requested when they are large. */
  scan(scope: Scope, request: ScanRequest): Promise<Scan>

  /** Returns complete texts of listed entries by id; deleted ones are left out. */
  texts(scope: Scope, ids: readonly number[]): Promise<ReadonlyMap<number, string>>

  /**
   * Measures the text of an entry that may be read by id (including archived ones and own diary pages); null when there is none.
   *
   * @param part returned at once if the line index in the database locates it (domain `likelyRange`)
   */
  measure(scope: Scope, id: number, part?: Part): Promise<TextMeasure | null>

  /** Returns a range of the measured text; null when the entry or its text has changed. */
  range(scope: Scope, id: number, textHash: string, stretch: LineRange): Promise<string | null>
}

/** Removes long texts that are stored in a separate table. For maintenance. */
export interface LongTexts {
  /**
   * Ends the staging of a text (topic `text` of the outbox, whose row is leased): it is deleted unless an entry or a retained version needs
   * it. A text that was staged again meanwhile is not deleted.
   */
  withdraw(org: string, hash: string): Promise<void>
}
