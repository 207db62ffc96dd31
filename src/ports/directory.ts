import type { Entry } from '../domain/entry/entry'
import type { Kind } from '../domain/entry/kind'
import type { Scope } from '../domain/identity/scope'
import type {
  DeletedPage,
  LinkedEntry,
  LinkGraph,
  ListedThread,
  StoreActivity,
  ThreadPlace,
} from '../domain/statistics'
import type { Millis } from '../domain/time'

/** The newest entries of a thread. */
interface ThreadTail {
  /** Newest first. */
  readonly entries: readonly Entry[]
  /** Ids of those of the newest whose texts exceed the byte limit. */
  readonly omitted: readonly number[]
  /** The thread's total, from the same consistent read. */
  readonly total: number
}

interface ProjectOverview {
  readonly counts: readonly { readonly kind: Kind; readonly count: number }[]
  /** Newest first, without those that a listed entry supersedes. */
  readonly decisions: readonly Entry[]
  /** Started work, by a status of `domain/work`, last changed first. */
  readonly inFlight: readonly Entry[]
}

/** Limits of a project overview. */
export interface OverviewRequest {
  readonly decisions: number
  readonly inFlight: number
  /** Code points of each text. */
  readonly previewLength: number
}

/**
 * Names of threads and projects that a scope can see, and overviews of them. Covers listed entries: no diary pages, nothing archived or
 * expired.
 */
export interface Directory {
  /** Lists threads by last use, after a position; from the last used one when it is null. */
  threads(scope: Scope, after: ThreadPlace | null, limit: number): Promise<ListedThread[]>

  /** Lists names of threads with this prefix, last used first; considers the first thousand names only. */
  threadsBeginning(scope: Scope, prefix: string, limit: number): Promise<string[]>

  /** Lists names of projects with this prefix, last used first; considers the first thousand names only. */
  projectsBeginning(scope: Scope, prefix: string, limit: number): Promise<string[]>

  /** Lists tags with this prefix, most used first; considers the counters of the first thousand only. */
  tagsBeginning(scope: Scope, prefix: string, limit: number): Promise<string[]>

  /** Returns the newest entries of a thread. The first always fits into `maxBytes`. */
  tail(scope: Scope, threadId: string, limit: number, maxBytes: number): Promise<ThreadTail>

  /** Returns an overview of a project; null when the scope can see none of its entries. */
  project(scope: Scope, project: string, request: OverviewRequest): Promise<ProjectOverview | null>
}

/** Dashboard sessions that were ended early; their signed cookies would otherwise stay valid. */
export interface EndedSessions {
  has(nonce: string): Promise<boolean>
  /** @param until when the session would have expired, after which the record is deleted */
  add(nonce: string, until: Millis): Promise<void>
}

export interface ActivityRequest {
  /** Number of newest entries to count, which bounds the rows read. */
  readonly newest: number
  /** Start of the daily counts, milliseconds since 1970. */
  readonly since: number
  /** Maximum number of agents, kinds and projects each. */
  readonly names: number
}

/** Reads of the dashboard, in addition to those of the tools. Covers everything that the scope may see. */
export interface StoreOverview {
  activity(scope: Scope, request: ActivityRequest): Promise<StoreActivity>

  /** Returns previews of the newest entries, newest first. */
  prefixes(scope: Scope, request: { readonly newest: number; readonly codePoints: number }): Promise<string[]>

  /** Returns links of a visible entry in both directions, newest neighbors first, at most `limit`; none for an invisible entry. */
  links(scope: Scope, id: number, limit: number): Promise<LinkedEntry[]>

  /**
   * Returns the memories within two links of a visible entry, and the links between them: at most `near` direct neighbors, the newest first.
   * Empty for an invisible entry.
   */
  graph(scope: Scope, id: number, near: number): Promise<LinkGraph>

  /**
   * Lists deleted entries that the scope may restore, the last deleted first. One call checks at most 2,000 retained versions; `older`
   * continues after them, and is null at the end.
   */
  deleted(scope: Scope, request: { readonly before: number | null; readonly limit: number }): Promise<DeletedPage>
}
