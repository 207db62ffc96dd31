import { type Metadata, own } from '../entry/metadata'
import { invalidInput } from '../errors'
import { type Millis, parseInstant } from '../time'
import { givenAs } from '../validation'

/**
 * The period in which a memory holds, from its metadata. After its end it remains stored, and packs leave it out;
 * `expires_at` deletes it.
 */
const instantIn = (metadata: Metadata | null, key: string): Millis | null => {
  const given = own(metadata, key)
  return typeof given === 'string' ? parseInstant(given) : null
}

/** The time from which a memory holds, from its metadata; null without one. */
export const validFrom = (metadata: Metadata | null): Millis | null => instantIn(metadata, 'valid_at')

/** The time until which a memory holds; null without an end. */
export const validUntil = (metadata: Metadata | null): Millis | null => instantIn(metadata, 'valid_until')

/** Whether the end of a memory has passed. */
export function hasEnded(metadata: Metadata | null, now: Millis): boolean {
  const end = validUntil(metadata)
  return end !== null && end <= now
}

/** Checks that a period ends after it begins. @throws Problem invalid_input */
export function checkValidity(metadata: Metadata | null): void {
  const [from, until] = [validFrom(metadata), validUntil(metadata)]
  if (from !== null && until !== null && until <= from)
    throw invalidInput('valid_until must be after valid_from', [
      { path: 'valid_until', given: givenAs(own(metadata, 'valid_until')) },
    ])
}

interface Given {
  readonly valid_from?: string | undefined
  readonly valid_until?: string | undefined
}

/**
 * The metadata of the arguments `valid_from` and `valid_until`; empty where both are absent.
 * @throws Problem invalid_input for an invalid time, or an end that is not after the beginning
 */
export function validityOf({ valid_from, valid_until }: Given): Metadata {
  for (const [path, given] of Object.entries({ valid_from, valid_until }))
    if (given !== undefined && parseInstant(given) === null)
      throw invalidInput(`${path} must be an ISO 8601 time, such as "2026-11-21T10:00:00Z"`, [
        { path, given: givenAs(given) },
      ])
  const named = {
    ...(valid_from === undefined ? {} : { valid_at: valid_from }),
    ...(valid_until === undefined ? {} : { valid_until }),
  }
  checkValidity(named)
  return named
}
