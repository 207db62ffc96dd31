import type { Entry, EntryPreview, EntryToChange } from '../domain/entry/entry'
import type { EntryChange, NewEntry } from '../domain/entry/entry-write'
import type { JsonObject, Metadata } from '../domain/entry/metadata'
import type { CapturedAt, DeleteSelection, Erased, EraseSelection } from '../domain/entry/selection'
import type { Caller, Scope } from '../domain/identity/scope'
import type { Meeting } from '../domain/recall/equal'
import type { Shown } from '../domain/recall/memory'
import type { StoreStatistics, ThreadSummary } from '../domain/report'
import type { Filter } from '../domain/search/filter'
import type { Window } from '../domain/search/window'

export interface SavedEntry {
  readonly id: number
  readonly version: number
  /** False when a repeated store met the entry that was already there. */
  readonly isNew: boolean
  /** False when the database stopped answering behind the commit: then the schedule makes its words and vectors found. */
  readonly searchable: boolean
  /** Has a summary, of its own or kept. */
  readonly summarized: boolean
  /** Working memories that had to go because the project has no room for more (fabric contract §2). */
  readonly evicted: readonly number[]
}

interface ChangedEntry {
  readonly version: number
  /** As of a saved one. */
  readonly searchable: boolean
  /** As it stands there now, where it was asked for. */
  readonly after?: Shown
}

interface ChangeOptions {
  /** What `imageRemovals` told before the bytes of the images were put. */
  readonly knownRemovals?: readonly number[]
  /** Whether the one entry is to come back, and to be told again where the call is made again. */
  readonly shows?: boolean
}

interface EntryPage {
  readonly entries: readonly EntryPreview[]
  /** Number of matches, from the same consistent read as the page; where a page takes several reads, of each part when it is read. */
  readonly total: number
  /** Counting has stopped behind the page (threads contract §4): there are more, one of them at least counted. Absent where exact. */
  readonly totalIsExact?: false
}

/** A part of an entry's text, in code points. */
export interface Stretch {
  readonly id: number
  readonly start: number
  readonly length: number
}

export interface EntriesWithin {
  readonly entries: readonly Entry[]
  /** Those that are readable too and did not fit. */
  readonly omitted: readonly number[]
}

export interface PageRequest extends Window {
  /** Code points of text to bring; one more than is shown, so that truncation can be seen. */
  readonly previewLength: number
}

interface SaveOptions {
  /** Of memories: each is stored only where no equal one stands, and what stands there is met as this says. */
  readonly meeting?: Meeting | undefined
  /** Whether a repeated turn is met again; true when absent. */
  readonly dedupe?: boolean
  /** What `imageRemovals` told before the bytes of the images were put. */
  readonly knownRemovals?: readonly number[]
  /** Captured entries that go in the same batch, which fails unless all of them stand so. */
  readonly replaces?: readonly CapturedAt[] | undefined
}

/**
 * The entries of all orgs; every method sees and touches only what its scope may see. Each method is at most one round
 * trip to the database (those that write long texts take more, behind the commit, and so does a page of a large store whose filter no
 * index answers), and what writes commits together with its row in
 * the audit log. Failures: `unavailable` when the database does not
 * answer; its message says whether anything can have changed: when the answer to a write is lost, nobody knows.
 */
export interface EntryStore {
  /**
   * Stores entries in order, all or none. With `dedupe`, an entry that repeats the newest turn of its source in its thread
   * updates that turn instead (threads contract §2.2), so a retried store is harmless and equal stores at the same time give
   * one id; without it, each is a new entry.
   *
   * @throws Problem conflict when bytes of an image may be missing, because a removal came between; then they are put again; and
   * when what it replaces stands otherwise
   * @throws MeetingFailed where a meeting is asked for and the entry to match has changed; with `dedupe`, where a repeated turn has
   * reserved keys that the metadata of its store do not name: read them with `repeated` and store again with them
   */
  save(caller: Caller, entries: readonly NewEntry[], options?: SaveOptions): Promise<SavedEntry[]>

  /** For each entry, the metadata of the turn that a store of it with `dedupe` would repeat; null where it repeats none. */
  repeated(caller: Caller, entries: readonly NewEntry[]): Promise<(Metadata | null)[]>

  /** Removals of these images that were begun not long ago. A write that met one asks, puts the bytes and tries again. */
  imageRemovals(caller: Caller, hashes: readonly string[]): Promise<number[]>

  /** Whole entries in no particular order, archived ones and the scope's own diary pages included; unknown ids are left out. */
  read(scope: Scope, ids: readonly number[]): Promise<Entry[]>

  /**
   * As `read`, for updates: texts only as far as one transaction writes their words.
   *
   * @throws Problem limit_exceeded when what stands beside the texts is more than fits into memory
   */
  readToChange(scope: Scope, ids: readonly number[]): Promise<EntryToChange[]>

  /**
   * As `read`, in the order of the ids, and only so many from the beginning as hold `maxBytes` together; the first always
   * fits. The database sends no more than that.
   */
  readWithin(scope: Scope, ids: readonly number[], maxBytes: number): Promise<EntriesWithin>

  /** Newest first: by whole second of creation, then id. Those beyond `PAGE_METADATA_BYTES` are bare. */
  page(scope: Scope, filter: Filter, request: PageRequest): Promise<EntryPage>

  /**
   * Listed entries among the ids, in no particular order; the filter is checked again. Those beyond `PAGE_METADATA_BYTES`, in the
   * order of the ids, are bare.
   */
  previews(scope: Scope, filter: Filter, ids: readonly number[], previewLength: number): Promise<EntryPreview[]>

  /** Parts of the texts of listed entries, cut by the database; the filter is checked again. */
  stretches(
    scope: Scope,
    filter: Filter,
    wanted: readonly Stretch[],
  ): Promise<{ readonly id: number; readonly text: string }[]>

  /**
   * Applies changes, all or none.
   *
   * @throws Problem conflict when one of the rows is no longer at the version that was read, or bytes may be missing
   */
  change(caller: Caller, changes: readonly EntryChange[], options?: ChangeOptions): Promise<ChangedEntry[]>

  /**
   * Merges a patch of plain keys (RFC 7396) into the metadata as it stands, so that patches at the same time never lose
   * each other. The patch must not touch reserved keys.
   *
   * @returns the new version and whether the entry is archived, or null when there is no such entry that the caller may write; then
   * nothing is kept of the call
   * @throws Problem limit_exceeded when the merged metadata would be too large; conflict where the entry was gone as the patch arrived,
   * and is there again
   */
  patch(
    caller: Caller,
    id: number,
    patch: JsonObject,
  ): Promise<{ readonly version: number; readonly archived: boolean } | null>

  /**
   * Deletes what the caller may write, with tags, links, index rows; images that nothing uses any more are queued. The last
   * state is kept as long as history goes. Of many, the first `MOST_DELETED` by id; all of them are gone for every reader at once, and
   * what one transaction cannot remove is removed behind it. Returns how many. One attempt.
   *
   * @throws DeleteRefused when nothing happened: the one entry named is not there at that version
   */
  delete(caller: Caller, selection: DeleteSelection): Promise<number>

  /**
   * Deletes for good, with all that is kept of these entries, whether they stand there, archived or not, have expired or were deleted
   * before; of the latter, what the caller could write when they were. Of a thread all of these, without pages of a diary.
   * The change log keeps that there were changes, and drops what they were about. One attempt.
   *
   * @throws DeleteRefused as `delete`, and while a delete of some of them is still being done in parts
   */
  erase(caller: Caller, selection: EraseSelection): Promise<Erased>

  /** Ends what deletes of these entries have left to be removed. Returns whether there was anything. */
  finishDeletes(caller: Caller, meant: Pick<EraseSelection, 'ids' | 'threadIds'>): Promise<boolean>

  /** An entry that the caller may change, as it stands now; its text is left out. */
  standing(caller: Caller, id: number): Promise<Entry | null>

  /** How many entries a delete would take, or an erasure, and the first of their ids. @throws DeleteRefused as `delete` */
  wouldDelete(
    caller: Caller,
    selection: DeleteSelection,
    erases?: boolean,
  ): Promise<{ readonly count: number; readonly ids: readonly number[] }>

  /** Most recently used first; reads maintained counters. */
  threads(scope: Scope, window: Window): Promise<{ threads: readonly ThreadSummary[]; total: number }>

  statistics(scope: Scope): Promise<StoreStatistics>

  /** Gives an entry the summary of the text it was made from; nothing when the text has changed. For maintenance. */
  summarize(entry: { readonly id: number; readonly textHash: string }, summary: string): Promise<void>

  /** Whether an entry that the scope may see uses the image; its type if so. */
  imageType(scope: Scope, hash: string): Promise<string | null>
}
