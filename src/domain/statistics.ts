import type { Entry, Source } from './entry/entry'
import type { Kind } from './entry/kind'
import type { Millis } from './time'

/** Results of list_threads and get_statistics. All numbers count only entries that the caller can see. */
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

/** A thread and its place in the order of last use. */
export interface ThreadPlace {
  readonly threadId: string
  /** Whole seconds since 1970 of its newest entry, and the highest ID in it. */
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
  /** Bytes of the entries that the caller can see, and of their distinct images. */
  readonly entryBytes: number
  readonly imageBytes: number
  readonly summaries: number
  readonly indexedEntries: number
  /** Retained old versions. */
  readonly kept: { readonly versions: number; readonly bytes: number }
  readonly work: { readonly pending: number; readonly failed: number; readonly oldestAt: Millis | null }
}

export interface Counted {
  readonly name: string
  readonly count: number
}

/** Entries by day, agent, kind and project. */
export interface StoreActivity {
  /** Number of entries counted, newest first. */
  readonly entries: number
  /** By UTC day, `YYYY-MM-DD`, in order; days without entries are left out. */
  readonly days: readonly Counted[]
  /** Most entries first; '' for entries without one. */
  readonly agents: readonly Counted[]
  readonly kinds: readonly Counted[]
  readonly projects: readonly Counted[]
  /** Number of distinct agents; entries without an agent do not count. */
  readonly agentCount: number
}

/** An entry at the other end of a link. */
export interface LinkedEntry extends Pick<Entry, 'id' | 'title' | 'project'> {
  readonly kind: Kind
  readonly relation: string
  /** Relative to the entry of the request. */
  readonly direction: 'outgoing' | 'incoming'
  /** The start of its text. */
  readonly text: string
}

/** A memory in a graph of links. */
export interface GraphNode extends Pick<Entry, 'id' | 'title'> {
  readonly kind: Kind
  /** The start of its text. */
  readonly text: string
}

/** Memories and the links between them. */
export interface LinkGraph {
  readonly nodes: readonly GraphNode[]
  readonly edges: readonly { readonly from: number; readonly to: number; readonly relation: string }[]
}

/** A deleted entry that can be restored. */
export interface DeletedEntry extends Pick<Entry, 'id' | 'title' | 'project' | 'threadId'> {
  readonly kind: Kind
  /** The start of its last text. */
  readonly text: string
  readonly deletedAt: Millis
  /** The agent or key that deleted it; '' for the schedule. */
  readonly deletedBy: string
}

export interface DeletedPage {
  readonly entries: readonly DeletedEntry[]
  /** Continues the list; null at the end. */
  readonly older: number | null
}
