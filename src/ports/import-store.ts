import type { TextVector } from '../domain/entry/entry'
import type { Caller, Scope } from '../domain/identity/scope'
import type { Millis } from '../domain/time'
import type { IncomingEntry, IncomingLink, IncomingVersion } from '../domain/transfer/incoming'

/** The record of an entry of another store. */
export interface Remembered {
  /** ID in this store. */
  readonly entryId: number
  /** Its version after its import; 0: its id was reserved, but it was not imported; null for the organization's own entries. */
  readonly version: number | null
  /** Time of the newest file that contained it, milliseconds since 1970; null as above. */
  readonly at: Millis | null
  /** The entry that exists here. */
  readonly existing: {
    readonly version: number
    readonly updatedAt: Millis
    readonly isPendingDeletion: boolean
    /** One of the organization's own entries that the scope may read but not change: it is not replaced. */
    readonly isReadOnly?: true
  } | null
  /** The newest version that it ever had, if it does not exist. */
  readonly last: number
}

export interface NewId {
  readonly theirId: string
  /** The id to use if it is free in the complete database; null for any. */
  readonly wanted: number | null
}

/** An imported entry, under its ID in this store. */
export interface ImportedEntry {
  readonly theirId: string
  readonly id: number
  /** The version that is replaced; null if none exists. */
  readonly replaces: number | null
  /** The version that it gets. */
  readonly version: number
  readonly entry: IncomingEntry
  /** Links with IDs of this store. */
  readonly links: readonly IncomingLink[]
  /** References to entries that were not imported: their ids in the source. */
  readonly waiting: readonly Waiting[]
  /** Its vectors; null if its vectors do not change, or are made later. */
  readonly vectors: readonly TextVector[] | null
  /** Whether vectors are to be made for it. */
  readonly queueVectors: boolean
}

export interface Waiting {
  readonly theirId: string
  /** Null for an id in its metadata. */
  readonly link: Omit<IncomingLink, 'to'> | null
}

export interface ImportedVersion {
  /** Version and ID of its entry in this store. */
  readonly id: number
  readonly state: IncomingVersion
}

export interface ImportBatch {
  readonly store: string
  /** When the file was made, milliseconds since 1970. */
  readonly at: Millis
  readonly entries: readonly ImportedEntry[]
  readonly deleted: readonly { readonly theirId: string; readonly id: number; readonly version: number }[]
  readonly versions: readonly ImportedVersion[]
  /** Entries imported earlier, with their current versions. */
  readonly vectors: readonly {
    readonly id: number
    readonly version: number
    readonly vectors: readonly TextVector[]
  }[]
  /** Deleted entries of which only versions were imported: source id, id here and the version of the deletion. */
  readonly deletedEntries: readonly { readonly theirId: string; readonly id: number; readonly version: number }[]
  /** Removals of images that were known when their bytes were stored. */
  readonly knownRemovals: readonly number[]
  readonly detail: Readonly<Record<string, number>>
}

/** Remaining quota of an organization; null without a limit. */
export interface RemainingQuota {
  readonly entries: number | null
  readonly bytes: number | null
}

/** Imports entries of other stores. */
export interface ImportStore {
  /** Returns the records of these ids of a store that the scope may see. */
  recall(scope: Scope, store: string, theirIds: readonly string[]): Promise<ReadonlyMap<string, Remembered>>
  /** Reserves ids for entries to be imported. */
  reserve(caller: Caller, store: string, rows: readonly NewId[]): Promise<ReadonlyMap<string, number>>
  /**
   * Imports a batch, all or nothing; its words are searchable when it returns.
   *
   * @returns how many versions were new
   * @throws Problem conflict when an entry has changed since it was read; limit_exceeded over a quota
   */
  write(caller: Caller, batch: ImportBatch): Promise<{ readonly versions: number }>
  /**
   * Creates a bounded part of the links that waited for these entries. @returns the number of links, and whether more are waiting
   */
  resolveLinks(
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
   * Returns those of the images that the organization uses: `seen` by entries or retained versions that the scope may read; `hidden` only
   * by others, which must not be reported to the scope.
   */
  imagesInUse(
    scope: Scope,
    hashes: readonly string[],
  ): Promise<{ readonly seen: ReadonlySet<string>; readonly hidden: ReadonlySet<string> }>
  /** Returns those of the entries that have no vectors of a model. */
  withoutVectors(scope: Scope, model: string, ids: readonly number[]): Promise<ReadonlySet<number>>
}
