import type { Millis } from '../domain/time'

/** Dashboard sessions that were ended early; their signed cookies would otherwise stay valid. */
export interface EndedSessions {
  has(nonce: string): Promise<boolean>
  /** @param until when the session would have expired, after which the record is deleted */
  add(nonce: string, until: Millis): Promise<void>
}
