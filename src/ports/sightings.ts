import type { Principal } from '../domain/identity/scope'
import type { Glimpse } from '../domain/recall/memory'
import type { Millis } from '../domain/time'

/** A last-seen marker, and the memories stored since. */
interface Sighting {
  /** Milliseconds since 1970. */
  readonly seenAt: Millis
  /** The newest entry of the organization then; newer entries have greater ids, whatever the clocks. */
  readonly lastId: number
}

export interface Since {
  /** Null for the first visit. */
  readonly last: Sighting | null
  /** The newest entry of the organization. */
  readonly newestId: number
  /** Number of new memories of layers 2 and 3 since; 0 for the first visit. */
  readonly added: number
  /** The newest of them, or of all for the first visit, oldest first; captured entries only where there is space. */
  readonly recent: readonly Glimpse[]
}

/** A visitor: an owner's agent in a session of a project. */
export interface Visit {
  /** Null for none: then memories of the complete scope count. */
  readonly project: string | null
  readonly sessionId: string | null
}

/** The owner of the markers. */
export type Visitor = Pick<Principal, 'org' | 'projects' | 'owner' | 'agent' | 'merged'>

/**
 * Last-seen marks by owner, agent, project and session. They are bookkeeping: no audit, no version, and readers leave them too.
 */
export interface Sightings {
  /**
   * Returns what is new since the session's own marker, else since the newest one of that owner and agent in the project.
   *
   * @param most maximum length of `recent`, and code points of each content
   */
  since(visitor: Visitor, visit: Visit, most: { readonly memories: number; readonly content: number }): Promise<Since>

  /** Moves the marker of the session, never back. An owner has at most a thousand markers; the oldest are deleted. */
  note(visitor: Visitor, visit: Visit, sighting: Sighting): Promise<void>
}
