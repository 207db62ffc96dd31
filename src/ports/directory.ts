import type { Entry } from '../domain/entry/entry'
import type { Kind } from '../domain/entry/kind'
import type { Scope } from '../domain/identity/scope'
import type { ListedThread, ThreadPlace } from '../domain/report'

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
 * The names that a scope can see, threads and projects, and what stands under one of them. Everything is what lists show: no
 * diary pages, nothing archived or expired.
 */
export interface Directory {
  /** Lists threads by last use, after a position; from the last used one when it is null. */
  threads(scope: Scope, after: ThreadPlace | null, limit: number): Promise<ListedThread[]>

  /** Lists names of threads with this prefix, last used first; of more than a thousand, of the first thousand by name. */
  threadsBeginning(scope: Scope, prefix: string, limit: number): Promise<string[]>

  /** Lists names of projects with this prefix, last used first; of more than a thousand, of the first thousand by name. */
  projectsBeginning(scope: Scope, prefix: string, limit: number): Promise<string[]>

  /** Returns the newest entries of a thread. The first always fits into `maxBytes`. */
  tail(scope: Scope, threadId: string, limit: number, maxBytes: number): Promise<ThreadTail>

  /** Returns an overview of a project; null when the scope can see none of its entries. */
  project(scope: Scope, project: string, request: OverviewRequest): Promise<ProjectOverview | null>
}
