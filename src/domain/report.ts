import type { Source } from './entry/entry'

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
  readonly work: { readonly pending: number; readonly failed: number; readonly oldestAt: number | null }
}
