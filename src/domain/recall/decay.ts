import { DAY_MS, type Millis } from '../time'

/** When a semantic memory that nobody uses goes out of sight (fabric contract §2.3). */
const DAYS = 45
const MIN_VITALITY = 0.2

export interface Use {
  /** Milliseconds since 1970. */
  readonly createdAt: Millis
  /** The last access; null when there was none. */
  readonly accessedAt: Millis | null
  readonly accessCount: number
}

/** How much alive a memory is: its age, its last use and how often it was used. */
function vitality({ createdAt, accessedAt, accessCount }: Use, now: Millis): number {
  const age = (now - createdAt) / DAY_MS
  const idle = (now - (accessedAt ?? createdAt)) / DAY_MS
  return (
    0.3 * Math.exp(-age / (2 * DAYS)) +
    0.7 * Math.exp(-idle / DAYS) +
    Math.min(accessCount / 10, 0.5) * Math.exp(-idle / (6 * DAYS))
  )
}

export const hasDecayed = (use: Use, now: Millis): boolean => vitality(use, now) < MIN_VITALITY
