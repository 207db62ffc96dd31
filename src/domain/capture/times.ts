import { DAY_MS, type Millis } from '../time'

/** When sessions are written, and how long what arrived is known (capture contract §3). Milliseconds. */

/** After the first, a session is written no more often at the ends of turns. */
export const CHECKPOINT_EVERY_MS = 5 * 60_000
/** A session of which nothing arrived for so long is written by the schedule. */
export const SILENT_MS = 15 * 60_000
/** Whoever began to write a session and is silent for so long has died. */
export const CLAIM_MS = 60_000
/** An event that arrives again is known for so long: a day longer than a client keeps what it could not send. */
export const EVENTS_KEPT_MS = 7 * DAY_MS
/** Retention of rows about the use of memories: twice the 90 days after which a memory counts as unused. */
export const USES_KEPT_MS = 180 * DAY_MS
/** A memory that no session used for so long is offered to be archived. */
export const UNUSED_MS = 90 * DAY_MS

/** Whether what a checkpoint wrote so long ago has expired, unless somebody has kept it. */
export const hasExpired = (
  written: { readonly at: Millis; readonly closed?: true } | null,
  captureDays: number,
  now: Millis,
): boolean => written !== null && !written.closed && written.at + captureDays * DAY_MS <= now
