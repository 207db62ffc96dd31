import type { FeedFilter, VisibilityChange } from '../domain/history/feed'
import type { Scope } from '../domain/identity/scope'
import type { Millis } from '../domain/time'

/** Changes that wake a listener: any of these. */
export interface Listener {
  readonly scope: Scope
  readonly filters: readonly FeedFilter[]
  /** Present when the wait is part of a stream that stays open. */
  readonly stream?: OpenStream
}

/** One of the open streams of a key. */
export interface OpenStream {
  readonly id: string
  readonly key: string
}

export interface Woken {
  /** Whether a matching change was, or may have been, published: the listener should read the feed. */
  readonly notified: boolean
  /** The present position of the notifier: later changes wake a listener that waits from it. */
  readonly mark: string
}

/**
 * Notifies waiting readers of commits in an organization, across isolates. Delivery is not guaranteed: readers also poll the database now
 * and then.
 */
export interface ChangeNotifier {
  /** Publishes changes. @param changes the published changes, or null when there are too many: then every listener is woken */
  publish(org: string, changes: readonly VisibilityChange[] | null): Promise<void>
  /** Returns the present position; null when the notifier does not respond. */
  mark(org: string): Promise<string | null>
  /**
   * Waits for the next published change after a position that the listener wants.
   *
   * @returns null when the notifier does not respond
   *
   * @example
   * const mark = await notifier.mark(org)
   * const page = await feed.page(scope, filter, start, limit)
   * if (page.changes.length === 0 && mark !== null) await notifier.wait(org, listener, mark, 15_000)
   */
  wait(org: string, listener: Listener, since: string, ms: Millis): Promise<Woken | null>
  /** Returns whether a key may open another stream, up to `most`; true when the notifier does not respond. */
  admit(org: string, stream: OpenStream, most: number): Promise<boolean>
  /** Marks the stream as closed. */
  closeStream(org: string, stream: OpenStream): Promise<void>
}
