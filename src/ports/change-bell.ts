import type { FeedFilter, Sight } from '../domain/history/feed'
import type { Scope } from '../domain/identity/scope'
import type { Millis } from '../domain/time'

/** Whom to wake, and for what: any of these. */
export interface Listener {
  readonly scope: Scope
  readonly filters: readonly FeedFilter[]
  /** Present where the wait is part of a stream that stays open. */
  readonly stream?: OpenStream
}

/** One of the streams that a key has open. */
export interface OpenStream {
  readonly id: string
  readonly key: string
}

export interface Woken {
  /** Whether something was told that the listener wants, or may have been: it is time to look. */
  readonly notified: boolean
  /** Where the bell stands now: what is told from here on wakes whoever waits since then. */
  readonly mark: string
}

/**
 * Carries commits of an org to those who wait for them, across isolates. It is no more than a bell: what it forgets or never
 * hears is found in the database, which everyone looks into now and then.
 */
export interface ChangeBell {
  /** @param sights what changed, or null when that is too much to say: then everyone is woken */
  tell(org: string, sights: readonly Sight[] | null): Promise<void>
  /** Where the bell stands; null when it does not answer. */
  mark(org: string): Promise<string | null>
  /**
   * Waits for the next thing told since a mark that the listener wants.
   *
   * @returns null when the bell does not answer
   */
  wait(org: string, listener: Listener, since: string, ms: Millis): Promise<Woken | null>
  /** Whether a key may open another stream of so many; true when the bell does not answer, since it guards and is no door. */
  admit(org: string, stream: OpenStream, most: number): Promise<boolean>
  /** The stream is over. */
  leave(org: string, stream: OpenStream): Promise<void>
}
