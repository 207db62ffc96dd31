import { DAY_MS } from '../../domain/time'
import type { Step } from '../maintenance/schedule'
import type { createFinishSessions } from './finish-sessions'
import type { MemoryUsage } from './memory-usage'
import type { OwnSessions } from './own-sessions'
import type { RecallForHooks } from './recall-for-hooks'
import type { ReceiveEvents } from './receive-events'
import type { EraseCaptured, ReviewCaptured } from './review-captured'

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

/** Captured sessions that are written in one round. */
const SESSIONS = 20

/**
 * What the schedule does for what hooks capture: writes the sessions of clients that were killed or are silent, and forgets what need not
 * be known any more.
 *
 * @param sessions asked for when a step runs
 */
export const captureSteps = (sessions: () => Capture['sessions']): Step[] => [
  {
    name: 'captured sessions',
    every: 0,
    rounds: 10,
    round: async () => {
      const due = await sessions().finish(SESSIONS)
      return { done: due, next: due < SESSIONS ? null : 'more' }
    },
  },
  {
    name: 'events of hooks',
    every: DAY_MS,
    daily: true,
    rounds: 20,
    round: async (cursor) => {
      const { gone, next } = await sessions().forget(cursor)
      return { done: gone, next }
    },
  },
]
