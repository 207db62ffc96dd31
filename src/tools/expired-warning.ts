import { type Millis, parseInstant } from '../domain/time'
import { isRecord } from './record'

const METADATA = ['metadata', 'metadata_patch']
/** Arguments of batches; each item has its own metadata. */
const ITEMS = ['entries', 'updates']

/** The warning for a write with an expiry in the past; one for all items of a call. */
export const EXPIRED_WARNING =
  'metadata.expires_at has passed, so this cannot be found or read. Write it again with a later time, or without one'

const hasPassed = (metadata: unknown, now: Millis): boolean => {
  const value = isRecord(metadata) ? metadata.expires_at : undefined
  const instant = typeof value === 'string' ? parseInstant(value) : null
  return instant !== null && instant <= now
}

/** Reports whether the arguments of a write contain an expiry that has passed. */
export const isExpired = (args: Readonly<Record<string, unknown>>, now: Millis): boolean =>
  METADATA.some((name) => hasPassed(args[name], now)) ||
  ITEMS.some((name) => {
    const items = args[name]
    return Array.isArray(items) && items.some((item) => isRecord(item) && isExpired(item, now))
  })
