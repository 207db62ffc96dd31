import type { Entry } from '../domain/entry/entry'
import type { Kind } from '../domain/entry/kind'
import type { Scope } from '../domain/identity/scope'
import type { ListedThread, ThreadPlace } from '../domain/report'

/** The newest entries of a thread. */
interface ThreadTail {
  /** Newest first. */
  readonly entries: readonly Entry[]
  /** Those of the newest whose texts would pass the bytes that were allowed. */
  readonly omitted: readonly number[]
  /** How many the thread has altogether, from the same consistent read. */
  readonly total: number
}

interface ProjectOverview {
  readonly counts: readonly { readonly kind: Kind; readonly count: number }[]
  /** Newest first; those that a listed entry supersedes are left out. */
  readonly decisions: readonly Entry[]
  /** Work with a status of `domain/work` that says it has begun, last changed first. */
  readonly inFlight: readonly Entry[]
}

/** How much of a project's overview is wanted. */
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
  /** Threads by last use, those behind a place; from the last used one when it is null. */
  threads(scope: Scope, after: ThreadPlace | null, limit: number): Promise<ListedThread[]>

  /** Names of threads that begin so, last used first; of more than a thousand, of the first thousand by name. */
  threadsBeginning(scope: Scope, prefix: string, limit: number): Promise<string[]>

  /** Names of projects that begin so, last used first; of more than a thousand, of the first thousand by name. */
  projectsBeginning(scope: Scope, prefix: string, limit: number): Promise<string[]>

  /** The first of the newest always fits into `maxBytes`. */
  tail(scope: Scope, threadId: string, limit: number, maxBytes: number): Promise<ThreadTail>

  /** Null when the scope sees nothing of such a project. */
  project(scope: Scope, project: string, request: OverviewRequest): Promise<ProjectOverview | null>
}
