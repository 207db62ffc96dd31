import { homesOf, type Scope } from '../identity/scope'

/** What a change of an entry means to whoever follows the feed (history contract §4). */
export const FEED_ACTIONS = ['stored', 'updated', 'deleted'] as const
export type FeedAction = (typeof FEED_ACTIONS)[number]

/** Pages of the feed. */
export const FEED_LIMIT = 50
export const MAX_FEED_LIMIT = 200
/** Seconds that a call may wait for the next change. */
export const MAX_WAIT_SECONDS = 20
/** Characters of a text that an item of the feed shows. */
export const FEED_PREVIEW = 160

/** Where an entry stands while lists show it. */
export interface Place {
  /** Null only of an erased row, which no filter finds. */
  readonly threadId: string | null
  readonly project: string | null
  /** '' for everyone in the org, else the one owner who may read it. */
  readonly reader: string
}

/** Where an entry stood before and after a change; null where lists showed it to nobody: not there, archived, expired, a diary page. */
export interface VisibilityChange {
  readonly entryId: number
  readonly before: Place | null
  readonly after: Place | null
  readonly erased: boolean
}

/** What a follower wants to hear of; null for everything. */
export interface FeedFilter {
  readonly threadId: string | null
  readonly project: string | null
  readonly actions: readonly FeedAction[] | null
  readonly entryId?: number
}

export const WHOLE_FEED: FeedFilter = { threadId: null, project: null, actions: null }

/** Whom an entry at a place is shown to: the rule of `sql/visibility.ts` in plain code. */
const admits = ({ projects, owner }: Scope, { project, reader }: Place): boolean =>
  (reader === '' || reader === owner) && (projects === null || project === null || projects.includes(project))

const isWanted = (scope: Scope, { threadId, project }: FeedFilter, place: Place, erased: boolean): boolean =>
  (threadId === null || (!erased && place.threadId === threadId)) &&
  (project === null || (!erased && place.project !== null && homesOf(scope, project).includes(place.project)))

/**
 * What a change is to somebody: an entry that came into their sight was stored, one that left it was deleted, whatever was
 * done to it; null when they saw it neither before nor after. A filter is a part of their sight.
 */
export function actionFor(scope: Scope, filter: FeedFilter, sight: VisibilityChange): FeedAction | null {
  if (filter.entryId !== undefined && filter.entryId !== sight.entryId) return null
  const sees = (place: Place | null) =>
    place !== null && admits(scope, place) && isWanted(scope, filter, place, sight.erased)
  const [before, after] = [sees(sight.before), sees(sight.after)]
  const action = before ? (after ? 'updated' : 'deleted') : after ? 'stored' : null
  return action !== null && filter.actions?.includes(action) !== false ? action : null
}

/** One item of the feed, as its reader sees it. */
export interface FeedChange {
  /** Random; shared by everything that one call did. */
  readonly changeId: string
  readonly action: FeedAction
  readonly entryId: number
  /** Of the side that the reader sees: after the change, or before one that took the entry out of sight. Null when erased. */
  readonly threadId: string | null
  readonly project: string | null
  readonly kind: string | null
  readonly version: number
  /** Milliseconds since 1970. */
  readonly at: number
  /** Who did it; null for the schedule, or a caller without a name. */
  readonly agent: string | null
  /** The beginning of the text as it stands now; '' when the reader sees it no more. */
  readonly preview: string
  /** Its place in the order of commits; never shown to anybody. */
  readonly position: number
  readonly sight: VisibilityChange
}
