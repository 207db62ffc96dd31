import type { FeedChange, FeedFilter } from '../domain/history/feed'
import type { Scope } from '../domain/identity/scope'
import type { Millis } from '../domain/time'

/** Start of a page: after a position, at the oldest retained change, or at the next change. */
export type FeedStart = number | 'start' | 'now'

export interface FeedPage {
  readonly changes: readonly FeedChange[]
  /** The position to continue from; no commit that becomes visible later is before it. */
  readonly next: number
  readonly more: boolean
}

/** Reads the changes of entries of an organization, in the order of commits, as a scope could see them at the time. */
export interface ChangeFeed {
  /**
   * Rows of other orgs are not read.
   *
   * @throws Problem invalid_input with `resync_from` when the changes after the position are no longer retained
   *
   * @example
   * let start: FeedStart = 'start'
   * for (;;) {
   *   const { changes, next, more } = await feed.page(scope, filter, start, 200)
   *   start = next
   *   if (!more) break
   * }
   */
  page(scope: Scope, filter: FeedFilter, start: FeedStart, limit: number): Promise<FeedPage>

  /**
   * The newest changes, newest first, of the newest 2,000 of the org; `next` is the position behind them all.
   *
   * @param filter default: every change that the scope can see
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
