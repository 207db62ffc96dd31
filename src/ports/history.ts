import type { Entry, Generated } from '../domain/entry/entry'
import type { NarrowedState, Readable } from '../domain/entry/readers'
import type { Version } from '../domain/history/version'
import type { Caller, Scope } from '../domain/identity/scope'
import type { Window } from '../domain/search/window'
import type { Millis } from '../domain/time'
import type { EntriesWithin } from './entry-store'

export interface VersionPage {
  /** The newest that the scope may see; of a deleted entry, that of its deletion. */
  readonly currentVersion: number
  /** Whether lists and reads know it no more, as far as the scope may see. */
  readonly deleted: boolean
  /** Newest first. */
  readonly versions: readonly Version[]
  readonly total: number
}

/** What a restoration means: entries by id, or whatever one call has deleted. */
export type Restoration =
  | { readonly ids: readonly number[]; readonly version?: number | undefined }
  | { readonly changeId: string }

/** A state that is kept and may be brought back. */
export interface Kept {
  readonly id: number
  /** Names the kept state to `restore`. */
  readonly kept: number
  /** What stands there now, or the version of its deletion. */
  readonly currentVersion: number
  /** When that came to be, in milliseconds since 1970, and by whom. */
  readonly currentAt: Millis
  readonly currentBy: string
  readonly live: boolean
  /** JSON of the links that went with it: its own that its metadata do not name. Null for none. */
  readonly edges: string | null
  /** When this state ends, or the last state of what is gone ended; null for never. */
  readonly expiresAt: Millis | null
  readonly state: Entry
  /** The access of the present entry, or of the deleted one; null where the state is its last one. */
  readonly present: Readable | null
}

/** A kept state that is restored. */
export interface ToRestore extends Kept {
  /** Metadata that replaces its own, so that only readers of the present entry can read it. */
  readonly narrowed?: NarrowedState | null
}

interface Restorable {
  /** Those that hold no more than `maxBytes` of text and metadata together; the first always fits. */
  readonly kept: readonly Kept[]
  /** How many more there are, which did not fit. */
  readonly more: number
  /** Entries that stand there and are the scope's to change, of the ids or of what the call deleted: their version, and whose it is. */
  readonly standing: ReadonlyMap<number, { readonly version: number; readonly at: Millis; readonly by: string }>
  /** What the call deleted, came back, and was deleted again by another call. */
  readonly again: readonly number[]
}

/** What entries were before. Old states are shown to whom they were visible. */
export interface History {
  /** Null when there is nothing of it that the scope may see. */
  versions(scope: Scope, id: number, window: Window): Promise<VersionPage | null>
  /** The entry as it was; null as above. */
  state(scope: Scope, id: number, version: number): Promise<Entry | null>
  /** Texts of versions, newest first, as long as they hold no more than `maxBytes` together. */
  texts(scope: Scope, id: number, versions: readonly number[], maxBytes: number): Promise<ReadonlyMap<number, string>>
  /** Entries as they were at an instant, as `EntryStore.readWithin` brings them. */
  asOf(scope: Scope, ids: readonly number[], at: Millis, maxBytes: number): Promise<EntriesWithin>
  /** States to be brought back, of which at most `limit` come. */
  restorable(
    scope: Scope,
    what: Restoration,
    bounds: { readonly limit: number; readonly maxBytes: number },
  ): Promise<Restorable>
  /**
   * Brings states back, all or none, as new versions.
   *
   * @param generated what models made of each text; null where the text stays what it is
   * @returns the new versions
   * @throws Problem conflict when one was changed, brought back or forgotten meanwhile
   */
  restore(caller: Caller, states: readonly ToRestore[], generated: readonly (Generated | null)[]): Promise<number[]>
}
