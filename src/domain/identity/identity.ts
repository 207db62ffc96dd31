import { invalidInput, Problem } from '../errors'
import { codePointLength, trim, unstorable } from '../text'
import type { Millis } from '../time'
import { MAX_PROJECT, normalizeProject } from './project'
import type { Principal, Role } from './scope'

/** Orgs, projects and keys (platform contract §5), and what may stand in them. */
export interface Org {
  readonly id: string
  readonly name: string
  /** Milliseconds since 1970, as every time here; null for the org of open mode, which nobody made. */
  readonly createdAt: Millis | null
}

export interface Project {
  readonly id: string
  readonly name: string
  /** Null for a project that exists by its entries alone. */
  readonly createdAt: Millis | null
}

/** A key without its secret, which only its holder has. */
export interface ApiKey {
  readonly id: string
  readonly org: string
  readonly name: string
  readonly role: Role
  readonly projects: readonly string[] | null
  readonly agent: string | null
  /** Whose private entries and diaries it sees. */
  readonly owner: string
  /** Whether what hooks send with it is captured. */
  readonly captures: boolean
  readonly createdAt: Millis
  readonly createdBy: string
  readonly expiresAt: Millis | null
  readonly revokedAt: Millis | null
  readonly lastUsedAt: Millis | null
  /** The version of the org's directory of projects; present where the key was read to accept a credential. */
  readonly directory?: number
}

export const MAX_NAME = 128
const ORG_ID = /^[a-z0-9][a-z0-9._-]{0,63}$/

/** @throws Problem invalid_input that names the rule */
export function checkOrgId(id: unknown): string {
  if (typeof id === 'string' && ORG_ID.test(id)) return id
  throw invalidInput('id must be 1 to 64 characters of a–z, 0–9, ".", "_" and "-", and begin with a letter or a digit')
}

/** A short text that people and agents read. */
export function checkName(value: unknown, field: string): string {
  const name = typeof value === 'string' ? trim(value) : ''
  if (name === '') throw invalidInput(`${field} must be a text that is not blank`)
  if (codePointLength(name) > MAX_NAME) throw invalidInput(`${field} has more than ${MAX_NAME} characters`)
  const flaw = unstorable(name)
  if (flaw !== null) throw invalidInput(`${field} ${flaw}`)
  return name
}

/** The same normal form that `metadata.project` is brought to, so that a key and its entries name one project. */
export function checkProjectId(value: unknown, field = 'id'): string {
  const id = typeof value === 'string' ? normalizeProject(value) : null
  if (id === null) throw invalidInput(`${field} must be a project id that is not blank`)
  if (codePointLength(id) > MAX_PROJECT) throw invalidInput(`${field} has more than ${MAX_PROJECT} characters`)
  const flaw = unstorable(id)
  if (flaw !== null) throw invalidInput(`${field} ${flaw}`)
  return id
}

/** Owners that no key is given by chance: whoever sits at the machine in open mode, and the operator. */
const RESERVED_OWNERS = ['local', 'admin-token']
const MAX_OWNER_STEM = 100

/**
 * A readable owner for a key that names none: its name in letters and digits, numbered where that was taken. A new owner has
 * no entries, so it must be one that nobody has or had.
 *
 * @param taken every owner of the org, past ones too
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

/** Owners of keys from before owners had names are ids of keys; they can be joined, but no new one looks like them. */
export function checkOwner(owner: string, taken: readonly string[]): string {
  if (owner.startsWith('key_') && !taken.includes(owner)) throw invalidInput('owner must not begin with "key_"')
  return owner
}

/** A key, and those that were made with it, by it or by those. */
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

export const isUsable = (key: ApiKey, now: Millis): boolean =>
  key.revokedAt === null && (key.expiresAt === null || key.expiresAt > now)

export const principalOf = ({ id, org, projects, owner, role, agent, captures, directory }: ApiKey): Principal => ({
  org,
  projects,
  owner,
  role,
  agent,
  keyId: id,
  ...(captures ? {} : { captures }),
  ...(directory === undefined ? {} : { directory }),
})

/** Whether a key sees no project that a narrowed administrator does not see. */
export const isWithin = (projects: readonly string[] | null, bounds: readonly string[] | null): boolean =>
  bounds === null || projects?.every((project) => bounds.includes(project)) === true

/** An id that is taken; the same call finds it taken again. */
export const alreadyExists = (what: 'Organization' | 'Project', id: string): Problem =>
  new Problem('conflict', `${what} already exists: ${id}`, { retryable: false })
