import { invalidInput } from '../errors'
import { withoutTrailing } from '../text'
import { HOUR_MS, type Millis, parseInstant } from '../time'
import { type ApiKey, checkName, checkProjectId } from './identity'
import { changeLimits, hasLimits, type KeyLimitsDraft, NO_KEY_LIMITS } from './key-limits'
import { ROLES } from './scope'
import { readEmail } from './sign-in'

/**
 * Format of a bearer key: `cp_`, 32 random bytes as base64url, and a checksum, so that a typo does not need a database
 * query.
 */
const FORMAT = /^cp_([A-Za-z0-9_-]{43})([0-9A-Za-z]{6})$/
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

export const KEY_BYTES = 32

/** CRC-32 (IEEE 802.3) of ASCII text. */
function crc32(text: string): number {
  let crc = 0xffffffff
  for (let i = 0; i < text.length; i++) {
    crc ^= text.charCodeAt(i)
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return (crc ^ 0xffffffff) >>> 0
}

function checksum(secret: string): string {
  let rest = crc32(secret)
  let text = ''
  for (let i = 0; i < 6; i++) {
    text = BASE62[rest % 62] + text
    rest = Math.floor(rest / 62)
  }
  return text
}

/** The text of a key. @param random 32 random bytes, the secret */
export function formatKey(random: Uint8Array): string {
  const base64 = btoa(String.fromCharCode(...random))
  const secret = withoutTrailing(base64, '=').replaceAll('+', '-').replaceAll('/', '_')
  return `cp_${secret}${checksum(secret)}`
}

/** Whether a text has the form and the checksum of a key. Does not check whether the key exists. */
export function isWellFormedKey(text: string): boolean {
  const [, secret, sum] = FORMAT.exec(text) ?? []
  return secret !== undefined && checksum(secret) === sum
}

/** Compares two hashes of equal length in constant time. */
export function sameHash(a: string, b: string): boolean {
  if (a.length !== b.length) return false
  let difference = 0
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i)
  return difference === 0
}

/** The requested properties of a new key, unchecked. */
export interface KeyDraft extends KeyLimitsDraft {
  readonly name?: unknown
  readonly role?: unknown
  readonly projects?: unknown
  readonly agent?: unknown
  readonly owner?: unknown
  readonly expires_at?: unknown
  readonly capture?: unknown
  readonly email?: unknown
}

const MAX_KEY_PROJECTS = 100

function checkProjects(value: unknown): string[] | null {
  if (value === undefined || value === null) return null
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_KEY_PROJECTS)
    throw invalidInput(
      `projects must be a list of 1 to ${MAX_KEY_PROJECTS} project IDs; leave it out for a key that reaches all projects`,
    )
  return [...new Set(value.map((item) => checkProjectId(item, 'projects')))]
}

/** @returns milliseconds since 1970 */
export function checkExpiry(value: unknown, now: Millis): Millis | null {
  if (value === undefined || value === null) return null
  const instant = typeof value === 'string' ? parseInstant(value) : null
  if (instant === null)
    throw invalidInput('expires_at must be an ISO 8601 date or date-time, such as 2027-01-31T12:00:00Z')
  if (instant <= now) throw invalidInput('expires_at must be in the future')
  return instant
}

function checkEmail(value: unknown): { readonly email?: string } {
  if (value === undefined || value === null || value === '') return {}
  const email = readEmail(value)
  if (email === null) throw invalidInput('email must be an address in ASCII, such as ada@example.com')
  return { email }
}

function checkCapture(value: unknown): boolean {
  if (value === undefined || value === null) return true
  if (typeof value !== 'boolean') throw invalidInput('capture must be true or false')
  return value
}

const MAX_GRACE_HOURS = 168

/** Returns the time for which a replaced key is still accepted. @throws Problem invalid_input */
export function checkGrace(value: unknown): Millis {
  if (value === undefined || value === null) return 0
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= MAX_GRACE_HOURS)
    return value * HOUR_MS
  throw invalidInput(`grace_hours must be a whole number from 0 to ${MAX_GRACE_HOURS}`)
}

/** Validates the properties of a new key. @throws Problem invalid_input */
export function checkKeyDraft(
  draft: KeyDraft,
  now: Millis,
): Pick<ApiKey, 'name' | 'role' | 'projects' | 'agent' | 'expiresAt' | 'captures' | 'email' | 'limits'> & {
  readonly owner: string | null
} {
  const role = ROLES.find((known) => known === draft.role)
  if (role === undefined) throw invalidInput(`role must be one of: ${ROLES.join(', ')}`)
  const optional = (value: unknown, field: string) =>
    value === undefined || value === null ? null : checkName(value, field)
  const owner = optional(draft.owner, 'owner')
  const limits = changeLimits(NO_KEY_LIMITS, draft)
  return {
    name: checkName(draft.name, 'name'),
    role,
    projects: checkProjects(draft.projects),
    agent: optional(draft.agent, 'agent'),
    owner,
    expiresAt: checkExpiry(draft.expires_at, now),
    captures: checkCapture(draft.capture),
    ...checkEmail(draft.email),
    ...(hasLimits(limits) ? { limits } : {}),
  }
}
