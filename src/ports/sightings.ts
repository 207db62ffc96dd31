import type { Scope } from '../domain/identity/scope'
import type { Glimpse } from '../domain/recall/memory'

/** When somebody was last here, and what has been stored since. */
export interface Sighting {
  /** Milliseconds since 1970. */
  readonly seenAt: number
  /** The newest entry of the org then; what is newer has a greater id, whatever clocks say. */
  readonly lastId: number
}

export interface Since {
  /** Null for the first time. */
  readonly last: Sighting | null
  /** The newest entry of the org. */
  readonly newestId: number
  /** Memories of layers 2 and 3 that came since; 0 for the first time. */
  readonly added: number
  /** The newest of them, oldest first. */
  readonly recent: readonly Glimpse[]
}

/**
 * Last-seen marks by owner and project. They are bookkeeping: no audit, no version, and readers leave them too. Each method is one
 * round trip.
 */
export interface Sightings {
  /**
   * @param project null for none: then memories of the whole scope count
   * @param most of `recent`, and how many code points of each content
   */
  since(
    scope: Scope,
    project: string | null,
    most: { readonly memories: number; readonly content: number },
  ): Promise<Since>

  /**
   * Moves the mark, never back. An owner has marks of at most a thousand projects; the oldest go.
   */
  note(scope: Scope, project: string | null, sighting: Sighting): Promise<void>
}
