import type { Scope } from '../domain/identity/scope'
import type { Narrowing } from '../domain/reading/literal'
import type { LineMarks } from '../domain/reading/marks'
import type { Part, Stretch } from '../domain/reading/range'
import type { Filter } from '../domain/search/filter'

export interface ScanRequest {
  readonly filter: Filter
  /** Only these entries; null for all. */
  readonly ids: readonly number[] | null
  /** Only entries with a lower id; null to begin with the newest. */
  readonly beforeId: number | null
  /** What the texts to be read hold; null: all are to be read. */
  readonly narrowing: Narrowing | null
  /** How many entries to cover at most. */
  readonly limit: number
  /** As the scan before this one told. */
  readonly inParts?: boolean
}

/** An entry whose text is to be searched. */
export interface Candidate {
  readonly id: number
  readonly threadId: string
  /** No less than the UTF-8 bytes of the text. */
  readonly bytes: number
  /** Its place among the entries that the scan covered, from 1. */
  readonly place: number
  /** The texts of the first candidates come at once. */
  readonly text: string | null
}

/** A stretch of the entries, newest id first. */
export interface Scan {
  /** In order; those that were covered and are not among them hold no match. */
  readonly candidates: readonly Candidate[]
  readonly covered: number
  /** No entry above it is left to cover; the lowest id covered as a rule, null when none was. */
  readonly lastId: number | null
  readonly more: boolean
  /** Whether a part of all entries was gone through, whatever the filter admits of it: then maybe none was covered, and there is more. */
  readonly inParts: boolean
}

/** How long a text is, and where its lines stand, without the text itself where it is long. */
interface TextMeasure {
  readonly textHash: string
  /** Null: the text has to be looked at, and stands in `text`. */
  readonly marks: LineMarks | null
  readonly text: string | null
  /** What most likely holds the part that was asked for; null where the whole text stands here, or no part was named. */
  readonly near: { readonly from: number; readonly to: number; readonly text: string } | null
}

/** Texts of entries, found and read in parts. Each method shows only what its scope may see. */
export interface EntryTexts {
  /** Which listed entries a search through texts covers next. Covers less than asked for when they are large. */
  scan(scope: Scope, request: ScanRequest): Promise<Scan>

  /** Whole texts of listed entries by id; those that are gone are left out. */
  texts(scope: Scope, ids: readonly number[]): Promise<ReadonlyMap<number, string>>

  /**
   * Of an entry that may be read by id (archived ones and own diary pages too); null when there is none.
   *
   * @param part brought at once where it can be told from the marks in the database (domain `likelyStretch`)
   */
  measure(scope: Scope, id: number, part?: Part): Promise<TextMeasure | null>

  /** A stretch of the text that was measured; null when the entry or its text is another by now. */
  stretch(scope: Scope, id: number, textHash: string, stretch: Stretch): Promise<string | null>
}
