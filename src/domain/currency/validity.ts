import { type Metadata, own } from '../entry/metadata'
import { invalidInput } from '../errors'
import { givenAs } from '../flaws'
import { type Millis, parseInstant } from '../time'

/** From when and until when a memory holds. It stays after its end, and packs leave it out; `expires_at` deletes. */
const instantIn = (metadata: Metadata | null, key: string): Millis | null => {
  const given = own(metadata, key)
  return typeof given === 'string' ? parseInstant(given) : null
}

/** The time from which a memory holds, as its metadata name it; null for none. */
export const validFrom = (metadata: Metadata | null): Millis | null => instantIn(metadata, 'valid_at')

/** The time until which a memory holds; null where it has no end. */
export const validUntil = (metadata: Metadata | null): Millis | null => instantIn(metadata, 'valid_until')

/** Whether the end of a memory has passed. */
export function hasEnded(metadata: Metadata | null, now: Millis): boolean {
  const end = validUntil(metadata)
  return end !== null && end <= now
}

/** @throws Problem invalid_input for an end that is not after the beginning, whichever of the two the call names */
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
 * The keys of metadata that the arguments of a call mean; none for what it does not name.
 *
 * @throws Problem invalid_input for what is not a time, or an end that is not after the beginning
 */
export function validityOf({ valid_from, valid_until }: Given): Metadata {
  for (const [path, given] of Object.entries({ valid_from, valid_until }))
    if (given !== undefined && parseInstant(given) === null)
      throw invalidInput(`${path} must be a time, such as "2026-11-21T10:00:00Z"`, [{ path, given: givenAs(given) }])
  const named = {
    ...(valid_from === undefined ? {} : { valid_at: valid_from }),
    ...(valid_until === undefined ? {} : { valid_until }),
  }
  checkValidity(named)
  return named
}
