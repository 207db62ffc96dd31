import type { Entry, EntryPreview, EntryToChange } from '../domain/entry/entry'
import type { EntryChange, NewEntry } from '../domain/entry/entry-write'
import type { JsonObject, Metadata } from '../domain/entry/metadata'
import type { CapturedAt, DeleteSelection, Erased, EraseSelection } from '../domain/entry/selection'
import type { Caller, Scope } from '../domain/identity/scope'
import type { DuplicatePolicy } from '../domain/recall/duplicates'
import type { Shown } from '../domain/recall/memory'
import type { Filter } from '../domain/search/filter'
import type { Window } from '../domain/search/window'
import type { StoreStatistics, ThreadSummary } from '../domain/statistics'

export interface SavedEntry {
  readonly id: number
  readonly version: number
  /** False when a repeated store matched the existing entry. */
  readonly isNew: boolean
  /** False when the database stopped responding after the commit: then the schedule indexes its words and vectors. */
  readonly searchable: boolean
  /** Whether it has a summary, its own or the existing one. */
  readonly summarized: boolean
  /** Working memories that were evicted because the project has no space for more (fabric contract §2). */
  readonly evicted: readonly number[]
}

interface ChangedEntry {
  readonly version: number
  /** As in `SavedEntry`. */
  readonly searchable: boolean
  /** The stored entry after the change, if requested. */
  readonly after?: Shown
}

interface ChangeOptions {
  /** Result of `imageRemovals` from before the bytes of the images were stored. */
  readonly knownRemovals?: readonly number[]
  /** Whether to return the changed entry, and again when the call is repeated. */
  readonly shows?: boolean
}

interface EntryPage {
  readonly entries: readonly EntryPreview[]
  /** Number of matches, from the same consistent read as the page; if a page needs several reads, each part counts when it is read. */
  readonly total: number
  /** Whether counting stopped after the page (threads contract §4): there are more, at least one of them counted. Absent if exact. */
  readonly totalIsExact?: false
}

/** A part of an entry's text, in code points. */
export interface TextRange {
  readonly id: number
  readonly start: number
  readonly length: number
}

export interface EntriesWithin {
  readonly entries: readonly Entry[]
  /** Ids of readable entries that did not fit. */
  readonly omitted: readonly number[]
}

export interface PageRequest extends Window {
  /** Code points of text to return; one more than is shown, to detect truncation. */
  readonly previewLength: number
}

interface SaveOptions {
  /** Duplicate policy for memories: each is stored only if no equal one exists, and an existing one is updated by this policy. */
  readonly meeting?: DuplicatePolicy | undefined
  /** Whether a repeated message updates the existing one; true when absent. */
  readonly dedupe?: boolean
  /** Result of `imageRemovals` from before the bytes of the images were stored. */
  readonly knownRemovals?: readonly number[]
  /** Captured entries to delete in the same batch, which fails unless all are at these versions. */
  readonly replaces?: readonly CapturedAt[] | undefined
}

/**
 * Stores the entries of all organizations. Every method reads and changes only what its scope may see. Each method is at most one round
 * trip to the database (writes of long texts need more, after the commit, and so does a page of a large store whose filter has no index). A
 * write commits together with its row in the audit log. Failures: `unavailable` when the database does not respond; its message states
 * whether the write may have happened, since the response to a write can be lost.
 */
export interface EntryStore {
  /**
   * Stores entries in order, all or none. With `dedupe`, an entry that repeats the newest message of its source in its thread
   * updates that message instead (threads contract §2.2), so a retry is harmless and equal stores at the same time give
   * one id; without it, each is a new entry.
   *
   * @throws Problem conflict when bytes of an image may be missing, because a removal ran meanwhile: store them again; and
   * when an entry to replace has another version
   *
   * @throws DuplicateChanged when a matched entry has changed; with `dedupe`, when a repeated message has
   * reserved keys that the new metadata do not have: read them with `repeated` and store again with them
   *
   * @example
   * const [saved] = await entries.save(caller, [entry], { dedupe: true })
   * if (saved?.isNew === false) console.log(`updated ${saved.id}`)
   */
  save(caller: Caller, entries: readonly NewEntry[], options?: SaveOptions): Promise<SavedEntry[]>

  /** Returns for each entry the metadata of the message that a store with `dedupe` would repeat; null if it repeats none. */
  repeated(caller: Caller, entries: readonly NewEntry[]): Promise<(Metadata | null)[]>

  /** Returns recent removals of these images. A write that conflicts with one calls this, stores the bytes and tries again. */
  imageRemovals(caller: Caller, hashes: readonly string[]): Promise<number[]>

  /** Returns complete entries in no particular order, including archived ones and the scope's own diary pages; unknown ids are left out. */
  read(scope: Scope, ids: readonly number[]): Promise<Entry[]>

  /**
   * Like `read`, for updates: texts only up to the size that one transaction can index.
   *
   * @throws Problem limit_exceeded when the data other than texts exceeds the memory
   */
  readToChange(scope: Scope, ids: readonly number[]): Promise<EntryToChange[]>

  /**
   * Like `read`, in the order of the ids, and only the first ones with at most `maxBytes` together; the first always
   * fits. The database sends no more than that.
   *
   * @example
   * const { entries, omitted } = await store.readWithin(scope, [12, 7], 8_000_000)
   */
  readWithin(scope: Scope, ids: readonly number[], maxBytes: number): Promise<EntriesWithin>

  /**
   * Returns a page, newest first: by whole second of creation, then id. Metadata, tags and images beyond `PAGE_METADATA_BYTES` are left
   * out.
   */
  page(scope: Scope, filter: Filter, request: PageRequest): Promise<EntryPage>

  /**
   * Returns previews of listed entries with these ids, in no particular order; the filter is checked again. Metadata, tags and images
   * beyond `PAGE_METADATA_BYTES`, in the order of the ids, are left out.
   */
  previews(scope: Scope, filter: Filter, ids: readonly number[], previewLength: number): Promise<EntryPreview[]>

  /** Returns parts of the texts of listed entries, cut by the database; the filter is checked again. */
  textRanges(
    scope: Scope,
    filter: Filter,
    wanted: readonly TextRange[],
  ): Promise<{ readonly id: number; readonly text: string }[]>

  /**
   * Applies changes, all or none.
   *
   * @throws Problem conflict when one of the rows is no longer at the version that was read, or bytes may be missing
   */
  change(caller: Caller, changes: readonly EntryChange[], options?: ChangeOptions): Promise<ChangedEntry[]>

  /**
   * Merges a patch of plain keys (RFC 7396) into the stored metadata, so that concurrent patches never lose
   * each other. The patch must not contain reserved keys.
   *
   * @returns the new version and whether the entry is archived, or null when the caller may not write such an entry; then
   * nothing is changed or logged
   *
   * @throws Problem limit_exceeded when the merged metadata would be too large; conflict when the entry was deleted as the patch arrived,
   * and has been restored
   */
  patch(
    caller: Caller,
    id: number,
    patch: JsonObject,
  ): Promise<{ readonly version: number; readonly archived: boolean } | null>

  /**
   * Deletes entries that the caller may write, with tags, links and index rows; unused images are queued for removal. The last version is
   * retained in
   * the history. A large selection is limited to the first `MOST_DELETED` by id; all of them become invisible at once, and rows beyond one
   * transaction
   * are removed after it. Returns the number of entries. One attempt.
   *
   * @throws DeleteRefused when nothing was deleted: the named entry does not exist at that version
   */
  delete(caller: Caller, selection: DeleteSelection): Promise<number>

  /**
   * Deletes entries permanently, with all retained data: existing ones, archived or not, expired ones, and ones deleted before, if the
   * caller could
   * write them then. For a thread, all of these except diary pages. The change log retains the changes without their content. One attempt.
   *
   * @throws DeleteRefused as `delete`, and while another delete of some of them is still in progress
   */
  erase(caller: Caller, selection: EraseSelection): Promise<Erased>

  /** Removes the remaining rows of deleted entries. Returns whether there were any. */
  finishDeletes(caller: Caller, meant: Pick<EraseSelection, 'ids' | 'threadIds'>): Promise<boolean>

  /** Returns the present state of an entry that the caller may change, without its text. */
  current(caller: Caller, id: number): Promise<Entry | null>

  /** Returns how many entries a delete or an erasure would affect, and the first of their ids. @throws DeleteRefused as `delete` */
  wouldDelete(
    caller: Caller,
    selection: DeleteSelection,
    erases?: boolean,
  ): Promise<{ readonly count: number; readonly ids: readonly number[] }>

  /** Lists threads, most recently used first unless another order is requested; reads maintained counters. */
  threads(scope: Scope, window: ThreadWindow): Promise<{ threads: readonly ThreadSummary[]; total: number }>

  statistics(scope: Scope): Promise<StoreStatistics>

  /** Stores the summary of an entry's text; does nothing when the text has changed. For maintenance. */
  summarize(entry: { readonly id: number; readonly textHash: string }, summary: string): Promise<void>

  /** Returns the type of an image if an entry that the scope may see uses it, else null. */
  imageType(scope: Scope, hash: string): Promise<string | null>
}

export interface ThreadWindow extends Window {
  /** Default: `last`, most recently used first. `entries`: most first. `name`: by code points. */
  readonly order?: 'last' | 'entries' | 'name'
  /** Only threads whose names contain this, with the same case. */
  readonly contains?: string | null
}
