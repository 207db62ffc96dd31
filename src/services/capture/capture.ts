import { DAY_MS } from '../../domain/time'
import type { Step } from '../maintenance/schedule'
import type { createFinishSessions } from './finish-sessions'
import type { MemoryUsage } from './memory-usage'
import type { OwnSessions } from './own-sessions'
import type { RecallForHooks } from './recall-for-hooks'
import type { ReceiveEvents } from './receive-events'
import type { EraseCaptured, ReviewCaptured } from './review-captured'

/** Receives events of hooks, recalls memories for them, and reviews captured sessions (capture contract). */
export interface Capture {
  readonly receive: ReceiveEvents
  /** Returns the entries that a session of a project starts with, by section. */
  readonly standing: RecallForHooks['standing']
  /** Searches the captured sessions of an owner by words. */
  readonly own: OwnSessions
  readonly erase: EraseCaptured
  readonly review: ReviewCaptured
  /** Reports how sessions used memories. */
  readonly usage: MemoryUsage
  readonly sessions: ReturnType<typeof createFinishSessions>
}

/** Captured sessions that one batch writes. */
const SESSIONS = 20

/**
 * Returns the schedule steps of capture: they write the sessions of clients that stopped or are silent, and delete expired
 * events.
 *
 * @param sessions called when a step runs
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
