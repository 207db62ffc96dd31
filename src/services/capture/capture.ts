import type { EraseCaptured } from './erase-captured'
import type { createFinishSessions } from './finish-sessions'
import type { MemoryUsage } from './memory-usage'
import type { OwnSessions } from './own-sessions'
import type { RecallForHooks } from './recall-for-hooks'
import type { ReceiveEvents } from './receive-events'
import type { ReviewCaptured } from './review-captured'

/** What the hooks of clients send, and what becomes of it (capture contract). */
export interface Capture {
  readonly receive: ReceiveEvents
  /** The entries that a session of a project starts with, by section. */
  readonly standing: RecallForHooks['standing']
  /** The sessions of an owner that hold the words of a question. */
  readonly own: OwnSessions
  readonly erase: EraseCaptured
  readonly review: ReviewCaptured
  /** Whether memories were of use. */
  readonly usage: MemoryUsage
  readonly sessions: ReturnType<typeof createFinishSessions>
}
