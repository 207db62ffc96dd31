import { invalidInput, Problem } from '../errors'
import { codePointLength, trim, unstorable } from '../text'
import { DAY_MS, type Millis } from '../time'
import type { KeyLimits } from './key-limits'
import { MAX_PROJECT, normalizeProject } from './project'
import type { Principal, Role } from './scope'

/** Organizations, projects and keys (platform contract §5), and the rules for their IDs and names. */
export interface Org {
  readonly id: string
  readonly name: string
  /** Milliseconds since 1970, like all times here; null for the organization of open mode, which exists by default. */
  readonly createdAt: Millis | null
}

export interface Project {
  readonly id: string
  readonly name: string
  /** Null for a project that exists through its entries only. */
  readonly createdAt: Millis | null
}

/** A key without its secret, which the server does not store. */
export interface ApiKey {
  readonly id: string
  readonly org: string
  readonly name: string
  readonly role: Role
  readonly projects: readonly string[] | null
  readonly agent: string | null
  /** The owner whose private entries and diaries it can read. */
  readonly owner: string
  /** Whether events that hooks send with it are captured. */
  readonly captures: boolean
  readonly createdAt: Millis
  readonly createdBy: string
  readonly expiresAt: Millis | null
  readonly revokedAt: Millis | null
  readonly lastUsedAt: Millis | null
  /** Address whose verified holder signs in as this key; absent for none. */
  readonly email?: string
  /** Absent where only the limits of the deployment hold. */
  readonly limits?: KeyLimits
  /** The key whose counts this one continues; absent for its own. */
  readonly countedAs?: string
  /** Entries stored today (UTC) that count in its quota; present in lists of keys. */
  readonly storedToday?: number
  /** Version of the project directory; present where the key was read to accept a credential. */
  readonly directory?: number
}

export const MAX_NAME = 128
const ORG_ID = /^[a-z0-9][a-z0-9._-]{0,63}$/

/** Checks an organization ID. @throws Problem invalid_input that states the rule */
export function checkOrgId(id: unknown): string {
  if (typeof id === 'string' && ORG_ID.test(id)) return id
  throw invalidInput('id must be 1 to 64 characters of a–z, 0–9, ".", "_" and "-", and begin with a letter or a digit')
}

/** Checks a short name for people and agents. @throws Problem invalid_input */
export function checkName(value: unknown, field: string): string {
  const name = typeof value === 'string' ? trim(value) : ''
  if (name === '') throw invalidInput(`${field} must be a text that is not blank`)
  if (codePointLength(name) > MAX_NAME) throw invalidInput(`${field} has more than ${MAX_NAME} characters`)
  const flaw = unstorable(name)
  if (flaw !== null) throw invalidInput(`${field} ${flaw}`)
  return name
}

/** Checks a project ID and normalizes it like `metadata.project`, so that a key and its entries use one name. */
export function checkProjectId(value: unknown, field = 'id'): string {
  const id = typeof value === 'string' ? normalizeProject(value) : null
  if (id === null) throw invalidInput(`${field} must be a project id that is not blank`)
  if (codePointLength(id) > MAX_PROJECT) throw invalidInput(`${field} has more than ${MAX_PROJECT} characters`)
  const flaw = unstorable(id)
  if (flaw !== null) throw invalidInput(`${field} ${flaw}`)
  return id
}

/** Owners that new keys cannot get by name: the user of open mode, and the holder of ADMIN_TOKEN. */
const RESERVED_OWNERS = ['local', 'admin-token']
const MAX_OWNER_STEM = 100

/**
 * A readable owner for a key that names none: its name in letters and digits, with a number if another owner has that
 * name. A new owner must not see entries of an earlier one, so names are never reused.
 * @param taken all owners of the organization, past ones included
 */
export function newOwner(name: string, taken: readonly string[]): string {
  const words = name
    .normalize('NFC')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
  const stem = [...words.filter((word) => word !== '').join('-')].slice(0, MAX_OWNER_STEM).join('') || 'owner'
  const known = new Set([...taken, ...RESERVED_OWNERS].map((owner) => owner.toLowerCase()))
  let owner = stem
  for (let number = 2; known.has(owner); number++) owner = `${stem}-${number}`
  return owner
}

/**
 * Checks the owner of a new key. Owners of old keys have the form of key IDs: a new key can share such an owner, but
 * not create one.
 */
export function checkOwner(owner: string, taken: readonly string[]): string {
  if (owner.startsWith('key_') && !taken.includes(owner)) throw invalidInput('owner must not begin with "key_"')
  return owner
}

/** A key and all keys that were created with it, directly or indirectly. */
export function withDescendants(key: ApiKey, keys: readonly ApiKey[]): ApiKey[] {
  const family = [key]
  const known = new Set([key.id])
  for (const parent of family)
    for (const child of keys)
      if (child.createdBy === parent.id && !known.has(child.id)) {
        known.add(child.id)
        family.push(child)
      }
  return family
}

/** Time before its end in which a key is reported as expiring. */
export const EXPIRY_WARNING_MS = 14 * DAY_MS

/** Whether a key can be used now and ends soon. */
export const expiresSoon = (key: ApiKey, now: Millis): boolean =>
  isUsable(key, now) && key.expiresAt !== null && key.expiresAt - now <= EXPIRY_WARNING_MS

export const isUsable = (key: ApiKey, now: Millis): boolean =>
  key.revokedAt === null && (key.expiresAt === null || key.expiresAt > now)

export const principalOf = ({
  id,
  org,
  projects,
  owner,
  role,
  agent,
  captures,
  directory,
  expiresAt,
  limits,
  countedAs = id,
}: ApiKey): Principal => ({
  org,
  projects,
  owner,
  role,
  agent,
  keyId: id,
  ...(captures ? {} : { captures }),
  ...(directory === undefined ? {} : { directory }),
  ...(expiresAt === null ? {} : { expiresAt }),
  ...(limits === undefined ? {} : { limits: { ...limits, countedAs } }),
})

/** Whether a list of projects stays within the projects of a narrowed administrator. */
export const isWithin = (projects: readonly string[] | null, bounds: readonly string[] | null): boolean =>
  bounds === null || projects?.every((project) => bounds.includes(project)) === true

/** The error for an ID that exists already. Not retryable. */
export const alreadyExists = (what: 'Organization' | 'Project', id: string): Problem =>
  new Problem('conflict', `${what} already exists: ${id}`, { retryable: false })

/** The error for a key with the address of another owner of the organization. Not retryable. */
export const addressInUse = (): Problem =>
  new Problem('conflict', 'email is the address of another person with a key: revoke that key first', {
    retryable: false,
  })
