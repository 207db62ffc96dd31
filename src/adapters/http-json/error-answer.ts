import type { Millis } from '../../domain/time'
import type { ProviderFailure, Reason } from './retry'

/** What an error answer of a provider means, and when to ask again. */

export interface ErrorAnswer {
  readonly status: number
  readonly path: string
  /** At most 16 KB of the answer. */
  readonly text: string
}

/** What an error answer means. */
export type Explanation = Pick<ProviderFailure, 'message' | 'reason' | 'retry'>

/** Timeouts, conflicts of a starting server, rate limits, and failures of the server or a proxy before it. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529])

/** @param value seconds, or a date */
export function retryAfterMs(value: string | null, now: Millis): Millis | undefined {
  if (value === null) return undefined
  const trimmed = value.trim()
  if (/^\d+(\.\d+)?$/.test(trimmed)) return Number(trimmed) * 1000
  const date = Date.parse(trimmed)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

/** @param service its name as callers know it, and the setting that holds its address */
export function usualReading(
  { name, addressVariable }: { readonly name: string; readonly addressVariable: string },
  status: number,
): Explanation {
  const retry = PASSING.has(status)
  const says = (what: string, reason: Reason = 'status') => ({ message: `${name} ${what}`, reason, retry })
  // 0 is how browsers show a redirect that was not followed.
  if (status === 0 || (status >= 300 && status < 400))
    return says(`answered with a redirect, which is not followed; set ${addressVariable} to where it leads`)
  if (status === 401 || status === 403) return says(`refused the credentials (status ${status}); check its key`)
  if (status === 404 || status === 405) return says(`has no such endpoint; check ${addressVariable}`, 'no_route')
  if (status === 429) return says('is over its rate limit; try again later')
  if (retry) return says(`failed (status ${status}); try again, or look at its log`)
  return says(`refused the request (status ${status}); look at the log of this server`)
}
