import type { FeedChange, FeedFilter } from '../domain/history/feed'
import type { Scope } from '../domain/identity/scope'
import type { Millis } from '../domain/time'

/** Where a page begins: behind a position, at the oldest that is kept, or at what has not happened yet. */
export type FeedStart = number | 'start' | 'now'

export interface FeedPage {
  readonly changes: readonly FeedChange[]
  /** The position from which the next page goes on; a commit that is not visible yet never lies before it. */
  readonly next: number
  readonly more: boolean
}

/** What happened to the entries of an org, in the order of commits, as a scope could see it at the time. */
export interface ChangeFeed {
  /**
   * Rows of other orgs are not read.
   *
   * @throws Problem invalid_input with `resync_from` when what follows the position is no longer kept
   */
  page(scope: Scope, filter: FeedFilter, start: FeedStart, limit: number): Promise<FeedPage>

  /**
   * The newest changes, newest first, of the newest 2,000 of the org; `next` is the position behind them all.
   *
   * @param filter default: every change that the scope sees
   */
  latest(scope: Scope, limit: number, filter?: FeedFilter): Promise<Omit<FeedPage, 'more'>>

  /**
   * The position of the last change before an instant, from which a page begins with the first change at or after it; of an instant
   * before the retained changes the position of the oldest.
   *
   * @param at milliseconds since 1970
   */
  position(scope: Scope, at: Millis): Promise<number>
}
