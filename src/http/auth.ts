import type { Config } from '../config'
import { notFound, Problem } from '../domain/errors'
import type { Actor, Caller, Principal, Role } from '../domain/identity/scope'
import { mayAct } from '../domain/identity/scope'
import type { Administrator } from '../services/people/administration'
import type { Identity } from '../services/people/identity'
import type { Services } from '../services/services'

/** Finds who a request acts for (platform contract §5). */
export type Credential =
  | { readonly kind: 'principal'; readonly principal: Principal }
  /** The holder of ADMIN_TOKEN, who belongs to no org. */
  | { readonly kind: 'operator' }

/** OAuth access tokens, each of which acts as the key that it was granted with. */
export interface AccessTokens {
  /** Returns the id of the key behind a token that was issued for this resource and has not expired; else null. */
  keyIdOf(token: string, request: Request): Promise<string | null>
}

export interface Authenticator {
  readonly config: Config
  readonly identity: Identity
  /** Null where OAuth is switched off. */
  readonly tokens: AccessTokens | null
}

/** Open mode: the person at this machine. */
export const LOCAL: Principal = {
  org: 'local',
  projects: null,
  owner: 'local',
  role: 'admin',
  agent: null,
  keyId: 'local',
}

const BEARER = /^Bearer +([\x21-\x7e]+) *$/i
/** Values that clients send as a credential when their option is unset. */
const NOTHING = /^Bearer *$/i

const NEEDS_NONE =
  'This server does not accept the key that was sent: it is unknown or misspelled, has expired, or was revoked. The server is in ' +
  'open mode (AUTH_MODE=open) and needs no key: send no Authorization header, or a valid key'

async function resolve(authorization: string, request: Request, door: Authenticator): Promise<Credential> {
  const token = BEARER.exec(authorization)?.[1]
  if (token === undefined)
    throw new Problem('unauthorized', 'The Authorization header must read: Bearer, a space, and the key')
  if (await door.identity.isAdminToken(token)) return { kind: 'operator' }
  const keyId = token.startsWith('cp_') ? null : ((await door.tokens?.keyIdOf(token, request)) ?? null)
  const principal =
    keyId === null ? await door.identity.principalOfKey(token) : await door.identity.principalOfKeyId(keyId)
  return { kind: 'principal', principal }
}

/**
 * Returns the credential of a request. A credential that was sent is always checked, also in open mode.
 *
 * @throws Problem unauthorized
 */
export async function authenticate(request: Request, door: Authenticator): Promise<Credential> {
  const given = request.headers.get('authorization')
  const authorization = given === null || NOTHING.test(given) ? null : given
  if (authorization === null && door.config.authMode === 'open') return { kind: 'principal', principal: LOCAL }
  try {
    if (authorization === null)
      throw new Problem('unauthorized', 'A credential is required: send the header Authorization: Bearer <key>')
    return await resolve(authorization, request, door)
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'unauthorized') throw error
    if (door.config.authMode === 'open') throw new Problem('unauthorized', NEEDS_NONE)
    if (await door.identity.isConfigured()) throw error
    throw new Problem(
      'unauthorized',
      'This deployment has no credential yet, so it cannot be used: set the secret ADMIN_TOKEN (npx wrangler secret ' +
        'put ADMIN_TOKEN) and make a key with it (npm run commonplace -- keys create), or set AUTH_MODE=open for use on ' +
        'one machine',
    )
  }
}

/** @throws Problem forbidden for ADMIN_TOKEN, which belongs to no org */
export function requireOrg(credential: Credential): Principal {
  if (credential.kind === 'principal') return credential.principal
  throw new Problem('forbidden', 'Organization context required')
}

/** Replaces the name of the key's organization in an address, since not every key knows it. */
export const OWN = '-'

/** @throws Problem forbidden for ADMIN_TOKEN; not_found for another organization, in the words for one that never existed */
export function requireNamedOrg(credential: Credential, org: string): Principal {
  const principal = requireOrg(credential)
  if (org !== OWN && org !== principal.org) throw notFound('No such organization for this credential')
  return principal
}

/** @throws Problem forbidden */
export function requireRole(caller: Actor, role: Role): void {
  if (!mayAct(caller.role, role))
    throw new Problem('forbidden', `${caller.action} needs the role ${role}; this key is a ${caller.role}`)
}

export const administratorOf = (credential: Credential, action: string): Administrator =>
  credential.kind === 'operator'
    ? { kind: 'operator', action }
    : { kind: 'key', caller: { ...credential.principal, action, tool: null } }

/**
 * Runs what a writer may do in its own organization, and records a denial.
 *
 * @throws Problem forbidden for a reader; not_found for another organization
 */
export async function runAsWriter<T>(
  { services, credential }: { readonly services: Services; readonly credential: Credential },
  org: string,
  action: string,
  step: (caller: Caller) => Promise<T>,
): Promise<T> {
  const principal = requireNamedOrg(credential, org)
  const caller: Caller = { ...principal, action, tool: null, changeId: services.ids.next() }
  try {
    requireRole(caller, 'writer')
    return await step(caller)
  } catch (error) {
    if (error instanceof Problem && error.code === 'forbidden')
      await services.administration.note(caller, false, { denied: 1 })
    throw error
  }
}
