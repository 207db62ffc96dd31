import type { Entry, Source } from './entry/entry'
import type { Kind } from './entry/kind'
import type { Millis } from './time'

/** What list_threads and get_statistics tell; every number counts what the caller may see. */
export interface ThreadSummary {
  readonly threadId: string
  readonly entries: number
  readonly sources: number
  readonly multimodal: number
  /** Whole seconds since 1970. */
  readonly firstSecond: number
  readonly lastSecond: number
  readonly lastId: number
}

/** A thread and where it stands in the order of last use. */
export interface ThreadPlace {
  readonly threadId: string
  /** Whole seconds since 1970 of its newest entry, and the greatest id in it. */
  readonly lastSecond: number
  readonly lastId: number
}

export interface ListedThread extends ThreadPlace {
  readonly entries: number
}

export interface StoreStatistics {
  readonly entries: number
  readonly bySource: Readonly<Record<Source, number>>
  readonly multimodal: number
  readonly images: number
  readonly uniqueTags: number
  readonly threads: number
  readonly activeThreads: readonly { readonly threadId: string; readonly count: number }[]
  readonly topTags: readonly { readonly tag: string; readonly count: number }[]
  /** Bytes of the entries the caller may see, and of the distinct images they use. */
  readonly entryBytes: number
  readonly imageBytes: number
  readonly summaries: number
  readonly indexedEntries: number
  /** Old states of entries that are kept. */
  readonly kept: { readonly versions: number; readonly bytes: number }
  readonly work: { readonly pending: number; readonly failed: number; readonly oldestAt: Millis | null }
}

export interface Counted {
  readonly name: string
  readonly count: number
}

/** What was stored when, and by whom. */
export interface StoreActivity {
  /** Entries that were looked at: the newest so many. */
  readonly entries: number
  /** By day of UTC, `YYYY-MM-DD`, in order; days without any are left out. */
  readonly days: readonly Counted[]
  /** The most first; '' for entries without one. */
  readonly agents: readonly Counted[]
  readonly kinds: readonly Counted[]
  readonly projects: readonly Counted[]
  /** How many different agents there are, entries without one apart. */
  readonly agentCount: number
}

/** An entry at the other end of a link. */
export interface LinkedEntry extends Pick<Entry, 'id' | 'title' | 'project'> {
  readonly kind: Kind
  readonly relation: string
  /** From the entry that was asked about, or to it. */
  readonly direction: 'outgoing' | 'incoming'
  /** The beginning of its text. */
  readonly text: string
}
