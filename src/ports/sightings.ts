import type { Principal } from '../domain/identity/scope'
import type { Glimpse } from '../domain/recall/memory'
import type { Millis } from '../domain/time'

/** When somebody was last here, and what has been stored since. */
interface Sighting {
  /** Milliseconds since 1970. */
  readonly seenAt: Millis
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
  /** The newest of them, of all for the first time, oldest first; what was captured only where others leave room. */
  readonly recent: readonly Glimpse[]
}

/** Who is here: an owner's agent in a session of a project. */
export interface Visit {
  /** Null for none: then memories of the whole scope count. */
  readonly project: string | null
  readonly sessionId: string | null
}

/** Whose marks are meant. */
export type Visitor = Pick<Principal, 'org' | 'projects' | 'owner' | 'agent' | 'merged'>

/**
 * Last-seen marks by owner, agent, project and session. They are bookkeeping: no audit, no version, and readers leave them too.
 */
export interface Sightings {
  /**
   * What came since the session's own mark, else since the newest of that owner and agent in the project.
   *
   * @param most of `recent`, and how many code points of each content
   */
  since(visitor: Visitor, visit: Visit, most: { readonly memories: number; readonly content: number }): Promise<Since>

  /** Moves the mark of the session, never back. An owner has at most a thousand marks; the oldest go. */
  note(visitor: Visitor, visit: Visit, sighting: Sighting): Promise<void>
}
