// Does a write hold an end that lies behind it, so that nobody could read what is written?

import { type Millis, parseInstant } from '../domain/time'
import { isRecord } from './record'

const METADATA = ['metadata', 'metadata_patch']
/** What batches hold, each with metadata of its own. */
const ITEMS = ['entries', 'updates']

/** Said once for all that a call writes. */
export const EXPIRED_WARNING =
  'metadata.expires_at has passed, so this cannot be found or read. Write it again with a later time, or without one'

const hasPassed = (metadata: unknown, now: Millis): boolean => {
  const value = isRecord(metadata) ? metadata.expires_at : undefined
  const instant = typeof value === 'string' ? parseInstant(value) : null
  return instant !== null && instant <= now
}

/** Whether anything that the arguments of a tool write has ended before it is written. */
export const isExpired = (args: Readonly<Record<string, unknown>>, now: Millis): boolean =>
  METADATA.some((name) => hasPassed(args[name], now)) ||
  ITEMS.some((name) => {
    const items = args[name]
    return Array.isArray(items) && items.some((item) => isRecord(item) && isExpired(item, now))
  })
