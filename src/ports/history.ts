import type { Entry, Generated } from '../domain/entry/entry'
import type { NarrowedState, Readable } from '../domain/entry/readers'
import type { FeedChange, FeedFilter } from '../domain/history/feed'
import type { Version } from '../domain/history/version'
import type { Caller, Scope } from '../domain/identity/scope'
import type { Receipt } from '../domain/receipts/receipt'
import type { Window } from '../domain/search/window'
import type { Millis } from '../domain/time'
import type { EntriesWithin } from './entry-store'

export interface VersionPage {
  /** The newest version that the scope may see; of a deleted entry, that of its deletion. */
  readonly currentVersion: number
  /** Whether the entry is deleted, as far as the scope may see. */
  readonly deleted: boolean
  /** Newest first. */
  readonly versions: readonly Version[]
  readonly total: number
}

/** Selects what to restore: entries by id, or all that one call has deleted. */
export type Restoration =
  /** The last version of each deleted entry, or the version of each entry: one number for all, or one for each ID. */
  | { readonly ids: readonly number[]; readonly version?: number | readonly number[] | undefined }
  | { readonly changeId: string }

/** A retained state that can be restored. */
export interface RetainedVersion {
  readonly id: number
  /** Identifies the retained state for `restore`. */
  readonly kept: number
  /** The current version, or the version of its deletion. */
  readonly currentVersion: number
  /** When that version was made, in milliseconds since 1970, and by whom. */
  readonly currentAt: Millis
  readonly currentBy: string
  readonly live: boolean
  /** JSON of the links removed with it: its own that are not in its metadata. Null for none. */
  readonly edges: string | null
  /** When this state expires, or when the last state of a deleted entry expired; null for never. */
  readonly expiresAt: Millis | null
  readonly state: Entry
  /** The access of the present entry, or of the deleted one; null if the state is its last one. */
  readonly present: Readable | null
}

/** A retained state to restore. */
export interface ToRestore extends RetainedVersion {
  /** Metadata that replaces its own, so that only readers of the present entry can read it. */
  readonly narrowed?: NarrowedState | null
}

export interface Restorable {
  /** The first states with at most `maxBytes` of text and metadata together; the first always fits. */
  readonly kept: readonly RetainedVersion[]
  /** Number of further states that did not fit. */
  readonly more: number
  /** Existing entries that the scope may change, of the ids or of the deleting call: their version and owner. */
  readonly existing: ReadonlyMap<number, { readonly version: number; readonly at: Millis; readonly by: string }>
  /** Entries that the call deleted, that were restored, and then deleted again by another call. */
  readonly again: readonly number[]
}

/** Earlier versions of entries. A version is visible to those who could read the entry then. */
export interface History {
  /** Lists versions; null when the scope may see none of them. */
  versions(scope: Scope, id: number, window: Window): Promise<VersionPage | null>
  /** Returns one version of the entry; null when the scope may not see it. */
  state(scope: Scope, id: number, version: number): Promise<Entry | null>
  /** Returns texts of versions, newest first, up to `maxBytes` together. */
  texts(scope: Scope, id: number, versions: readonly number[], maxBytes: number): Promise<ReadonlyMap<number, string>>
  /** Returns entries as they were at an instant, in the form of `EntryStore.readWithin`. */
  asOf(scope: Scope, ids: readonly number[], at: Millis, maxBytes: number): Promise<EntriesWithin>
  /** Returns states that can be restored, at most `limit`. */
  restorable(
    scope: Scope,
    what: Restoration,
    bounds: { readonly limit: number; readonly maxBytes: number },
  ): Promise<Restorable>
  /**
   * Restores states, all or none, as new versions.
   *
   * @param generated vectors and summary of each text; null where the text does not change
   * @returns the new versions
   * @throws Problem conflict when one was changed, restored or erased meanwhile
   *
   * @example
   * const { kept } = await history.restorable(scope, { ids: [12] }, { limit: 100, maxBytes: 8_000_000 })
   * const versions = await history.restore(caller, kept, kept.map(() => null))
   */
  restore(caller: Caller, states: readonly ToRestore[], generated: readonly (Generated | null)[]): Promise<number[]>
}

/** Start of a page: after a position, at the oldest retained change, or at the next change. */
export type FeedStart = number | 'start' | 'now'

export interface FeedPage {
  readonly changes: readonly FeedChange[]
  /** The position to continue from; no commit that becomes visible later is before it. */
  readonly next: number
  readonly more: boolean
}

export interface NewestChanges {
  /** Only changes before this position; null for all. */
  readonly before: number | null
  readonly limit: number
  readonly filter: FeedFilter
  /** Only changes by this agent; null for all. */
  readonly agent: string | null
  /** Only changes by this key; null for all. */
  readonly keyId: string | null
}

/** Reads the changes of entries of an organization, in the order of commits, as a scope could see them at the time. */
export interface ChangeFeed {
  /**
   * Returns a page of changes. Rows of other organizations are not read.
   *
   * @throws Problem invalid_input with `resync_from` when the changes after the position are no longer retained
   *
   * @example
   * let start: FeedStart = 'start'
   * for (;;) {
   * const { changes, next, more } = await feed.page(scope, filter, start, 200)
   * start = next
   * if (!more) break
   * }
   */
  page(scope: Scope, filter: FeedFilter, start: FeedStart, limit: number): Promise<FeedPage>

  /**
   * Returns the newest changes, newest first, out of the newest 2,000 of the organization; `next` is the position after all of them.
   *
   * @param filter default: every change that the scope can see
   */
  latest(scope: Scope, limit: number, filter?: FeedFilter): Promise<Omit<FeedPage, 'more'>>

  /**
   * Returns changes newest first, for pages of people: one call checks at most 2,000 changes of the organization. `next` is the position
   * after all of them; `older` continues after the checked ones, and is null at the end.
   */
  newest(scope: Scope, request: NewestChanges): Promise<Omit<FeedPage, 'more'> & { readonly older: number | null }>

  /**
   * Returns the position of the last change before a time, so that a page begins with the first change at or after it; for a time before
   * the retained
   * changes, the position of the oldest.
   *
   * @param at milliseconds since 1970
   */
  position(scope: Scope, at: Millis): Promise<number>
}

/**
 * Stores receipts of calls with an idempotency key. The batch of a write with such a key creates its receipt, or fails with `KeyAlreadyUsed` if
 * another call was first.
 */
export interface Receipts {
  /** Finds a receipt of the caller's key that has not expired. */
  find(caller: Caller, key: string): Promise<Receipt | null>
  /**
   * Adds the response of the call that created the receipt (the caller's changeId); creates the receipt when the call wrote nothing. A
   * receipt of another call is not changed, because a call that found nothing to do must not answer for the one that did it. The first
   * response is retained, and the returned receipt has it.
   */
  complete(caller: Caller, given: { readonly key: string; readonly answer: unknown }): Promise<Receipt>
}
