import type { TextVector } from '../domain/entry/entry'
import type { Caller, Scope } from '../domain/identity/scope'
import type { Millis } from '../domain/time'
import type { IncomingEntry, IncomingLink } from '../domain/transfer/incoming'
import type { IncomingVersion } from '../domain/transfer/incoming-version'

/** What is known here of an entry of another store. */
export interface Remembered {
  /** Ours. */
  readonly entryId: number
  /** At which it stood after it came; 0: its id was given, but it has not come; null for the org's own entries. */
  readonly version: number | null
  /** Of the newest file it came with, milliseconds since 1970; null as above. */
  readonly at: Millis | null
  /** What stands there. */
  readonly standing: {
    readonly version: number
    readonly updatedAt: Millis
    readonly isPendingDeletion: boolean
    /** Of the org's own entries, one that the scope may read and not change: it is what it is. */
    readonly isReadOnly?: true
  } | null
  /** The newest version that it ever had, where it does not stand. */
  readonly last: number
}

export interface NewId {
  readonly theirId: string
  /** The id that is kept where it is free in the whole database; null for any. */
  readonly wanted: number | null
}

/** An entry that comes in, under its id here. */
export interface TakenEntry {
  readonly theirId: string
  readonly id: number
  /** The version that is replaced; null where none stands. */
  readonly replaces: number | null
  /** The version that it gets. */
  readonly version: number
  readonly entry: IncomingEntry
  /** Ours. */
  readonly links: readonly IncomingLink[]
  /** Of what it says of entries that have not come: theirs. */
  readonly waiting: readonly Waiting[]
  /** Its vectors; null where it keeps what it has, or gets new ones later. */
  readonly vectors: readonly TextVector[] | null
  /** Whether models are to make vectors of it. */
  readonly queueVectors: boolean
}

export interface Waiting {
  readonly theirId: string
  /** Null for an id in its metadata. */
  readonly link: Omit<IncomingLink, 'to'> | null
}

export interface TakenVersion {
  /** Of its entry here. */
  readonly id: number
  readonly state: IncomingVersion
}

export interface ImportBatch {
  readonly store: string
  /** When the file was made, milliseconds since 1970. */
  readonly at: Millis
  readonly entries: readonly TakenEntry[]
  readonly deleted: readonly { readonly theirId: string; readonly id: number; readonly version: number }[]
  readonly versions: readonly TakenVersion[]
  /** Of entries that came before, at the versions they stand at. */
  readonly vectors: readonly {
    readonly id: number
    readonly version: number
    readonly vectors: readonly TextVector[]
  }[]
  /** Deleted entries whose states alone came: theirs, ours and the version of the deletion. */
  readonly gone: readonly { readonly theirId: string; readonly id: number; readonly version: number }[]
  /** Removals of images that were known when their bytes were put. */
  readonly knownRemovals: readonly number[]
  readonly detail: Readonly<Record<string, number>>
}

/** What an org may still take; null without a limit. */
export interface RemainingQuota {
  readonly entries: number | null
  readonly bytes: number | null
}

/** Where entries of other stores come in. */
export interface ImportStore {
  /** Of these ids of a store, those that the scope may know of. */
  recall(scope: Scope, store: string, theirIds: readonly string[]): Promise<ReadonlyMap<string, Remembered>>
  /** Gives ids of entries that are to come. */
  reserve(caller: Caller, store: string, rows: readonly NewId[]): Promise<ReadonlyMap<string, number>>
  /**
   * Takes a batch, all or nothing; words are searchable when it returns.
   *
   * @returns how many versions were new
   * @throws Problem conflict when an entry has changed since it was looked at; limit_exceeded over a quota
   */
  write(caller: Caller, batch: ImportBatch): Promise<{ readonly versions: number }>
  /** Lets what waited for these follow them, a bounded part of it. @returns links that were made, and whether more is waiting */
  settle(
    caller: Caller,
    store: string,
    theirIds: readonly string[],
  ): Promise<{ readonly links: number; readonly more: boolean }>
  projects(
    caller: Caller,
    projects: readonly { readonly id: string; readonly name: string; readonly createdAt: Millis }[],
  ): Promise<void>
  remainingQuota(scope: Scope): Promise<RemainingQuota>
  /**
   * Those of the images that the org uses: `seen` in what the scope may read, an entry or a kept state of one; `hidden` in nothing but
   * what others may read, of which the scope is told nothing.
   */
  imagesInUse(
    scope: Scope,
    hashes: readonly string[],
  ): Promise<{ readonly seen: ReadonlySet<string>; readonly hidden: ReadonlySet<string> }>
  /** Those of the entries that have no vectors of a model. */
  withoutVectors(scope: Scope, model: string, ids: readonly number[]): Promise<ReadonlySet<number>>
}
