import type { Millis } from '../domain/time'

/** Sessions of the dashboard that a person ended before their time; their cookies are signed and would count on. */
export interface EndedSessions {
  has(nonce: string): Promise<boolean>
  /** @param until when the session would have ended by itself, after which it is forgotten */
  add(nonce: string, until: Millis): Promise<void>
}
