import { homesOf, type Scope } from '../identity/scope'

/** Filters and items of the change feed (history contract §4). */
export const FEED_ACTIONS = ['stored', 'updated', 'deleted'] as const
export type FeedAction = (typeof FEED_ACTIONS)[number]

/** Default number of changes on a page. */
export const FEED_LIMIT = 50
export const MAX_FEED_LIMIT = 200
/** Maximum seconds that a call may wait for the next change. */
export const MAX_WAIT_SECONDS = 20
/** Maximum length of the text preview in an item. */
export const FEED_PREVIEW = 160

/** The thread, project and reader of a listed entry. */
export interface Place {
  /** Null only for an erased row, which no filter matches. */
  readonly threadId: string | null
  readonly project: string | null
  /** '' for everyone in the organization, else the one owner who can read it. */
  readonly reader: string
}

/**
 * The place of an entry before and after a change; null where it was not listed: absent, archived, expired or a diary
 * page.
 */
export interface VisibilityChange {
  readonly entryId: number
  readonly before: Place | null
  readonly after: Place | null
  readonly erased: boolean
}

/** A filter of the feed; null members match everything. */
export interface FeedFilter {
  readonly threadId: string | null
  readonly project: string | null
  readonly actions: readonly FeedAction[] | null
  readonly entryId?: number
}

export const UNFILTERED_FEED: FeedFilter = { threadId: null, project: null, actions: null }

/** Whether an entry at a place is visible to a scope: the rule of the SQL visibility module in code. */
const admits = ({ projects, owner }: Scope, { project, reader }: Place): boolean =>
  (reader === '' || reader === owner) && (projects === null || project === null || projects.includes(project))

const isWanted = (scope: Scope, { threadId, project }: FeedFilter, place: Place, erased: boolean): boolean =>
  (threadId === null || (!erased && place.threadId === threadId)) &&
  (project === null || (!erased && place.project !== null && homesOf(scope, project).includes(place.project)))

/**
 * The action of a change as a reader sees it: "stored" when the entry became visible, "deleted" when it stopped being
 * visible, null when it was visible neither before nor after. The filter limits what is visible.
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
  /** Random; shared by all changes of one call. */
  readonly changeId: string
  readonly action: FeedAction
  readonly entryId: number
  /**
   * The place that the reader can see: after the change, or before it if the entry is not visible any more. Null when
   * erased.
   */
  readonly threadId: string | null
  readonly project: string | null
  readonly kind: string | null
  readonly version: number
  /** Milliseconds since 1970. */
  readonly at: number
  /** The agent that made the change; null for scheduled work, or a caller without a name. */
  readonly agent: string | null
  /** The start of the current text; '' when the reader cannot see it any more. */
  readonly preview: string
  /** Position in commit order; never returned to callers. */
  readonly position: number
  readonly sight: VisibilityChange
}
