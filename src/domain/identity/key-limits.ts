import { invalidInput, Problem } from '../errors'
import { DAY_MS, formatSecond, type Millis } from '../time'

/** Limits of one key, in addition to those of the deployment. */
export interface KeyLimits {
  /** Requests a minute; null for none. */
  readonly requestsPerMinute: number | null
  /** Entries that the key may store a day (UTC); null for none. */
  readonly entriesPerDay: number | null
}

/** Limits in a request, unchecked. An absent member changes nothing; null removes a limit. */
export interface KeyLimitsDraft {
  readonly rate_limit?: unknown
  readonly max_entries?: unknown
}

export const NO_KEY_LIMITS: KeyLimits = { requestsPerMinute: null, entriesPerDay: null }

const MAX_RATE = 1_000_000
const MAX_ENTRIES = 1_000_000_000

function checkLimit(value: unknown, field: string, max: number): number | null {
  if (value === null) return null
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 && value <= max) return value
  throw invalidInput(`${field} must be a whole number from 1 to ${max}, or null for no limit of the key`)
}

/**
 * Validates limits.
 *
 * @param now the limits of the key before the change
 * @throws Problem invalid_input
 */
export const changeLimits = (now: KeyLimits, { rate_limit, max_entries }: KeyLimitsDraft): KeyLimits => ({
  requestsPerMinute: rate_limit === undefined ? now.requestsPerMinute : checkLimit(rate_limit, 'rate_limit', MAX_RATE),
  entriesPerDay: max_entries === undefined ? now.entriesPerDay : checkLimit(max_entries, 'max_entries', MAX_ENTRIES),
})

export const hasLimits = ({ requestsPerMinute, entriesPerDay }: KeyLimits): boolean =>
  requestsPerMinute !== null || entriesPerDay !== null

const lower = (a: number | null, b: number | null): number | null => (a === null ? b : b === null ? a : Math.min(a, b))

/** Returns the lower one of each limit. */
export const lowerLimits = (a: KeyLimits, b: KeyLimits): KeyLimits => ({
  requestsPerMinute: lower(a.requestsPerMinute, b.requestsPerMinute),
  entriesPerDay: lower(a.entriesPerDay, b.entriesPerDay),
})

/** The part of a quota from which it is reported: stored / limit >= 4 / 5. */
export const NEARLY_USED = [4, 5] as const

/** Whether a key has stored most of its quota today. */
export function isNearQuota({
  limits,
  storedToday = 0,
}: {
  readonly limits?: KeyLimits
  readonly storedToday?: number
}): boolean {
  const limit = limits?.entriesPerDay ?? null
  const [part, whole] = NEARLY_USED
  return limit !== null && storedToday * whole >= limit * part
}

/** The error of a write beyond the quota of its key. */
export function keyQuotaProblem({
  limit,
  stored,
  keyId,
  now,
}: {
  readonly limit: number
  readonly stored: number
  readonly keyId: string
  readonly now: Millis
}): Problem {
  const until = formatSecond(now - (now % DAY_MS) + DAY_MS)
  return new Problem(
    'limit_exceeded',
    `This key may store at most ${limit} entries a day (its own quota, max_entries). It has stored ${stored} today, and this call ` +
      `would exceed the quota; nothing was changed. Reads, changes and deletions still work. Wait until ${until}, or ask an ` +
      `administrator to raise it: commonplace keys limit ${keyId} --max-entries N`,
    { details: { quota: 'max_entries', limit, stored, until } },
  )
}
