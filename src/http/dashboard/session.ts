import { parse, serialize } from 'hono/utils/cookie'
import type { Config } from '../../config'
import { Problem } from '../../domain/errors'
import { LOCAL_SESSION, OPERATOR_SESSION, SESSION_MS, type Session } from '../../domain/identity/session'
import type { Services } from '../../services/services'
import { isLoopback } from '../access'
import { type Credential, LOCAL } from '../auth'

/**
 * Sessions of browsers. The signed cookie names a key by its id; the key is looked up with every request, so a session ends when
 * its key does (docs/subjects/dashboard.md).
 */
export interface Visitor {
  readonly credential: Credential
  readonly session: Session
  /** A cookie to set, where the browser had no valid one. */
  readonly cookie: string | null
}

/** Over plain http a browser accepts `Secure` and `__Host-` from this machine at most, where the network cannot be intercepted. */
const isPlain = ({ protocol, hostname }: URL): boolean => protocol === 'http:' && isLoopback(hostname)

/** Browsers share the cookies of one host across its ports, and several servers may run on one machine. */
const nameFor = (url: URL): string => (isPlain(url) ? `commonplace-${url.port || '80'}` : '__Host-commonplace')

const cookieFor = (url: URL, value: string, seconds: number): string =>
  serialize(nameFor(url), value, {
    path: '/',
    httpOnly: true,
    sameSite: 'Strict',
    secure: !isPlain(url),
    maxAge: seconds,
  })

/** Removes the cookie from the browser. */
export const endedSession = (url: URL): string => cookieFor(url, '', 0)

type Deps = Pick<Services, 'identity' | 'sessions' | 'endedSessions' | 'now'>

/** Starts a session. @param keyId of a key, or its substitute */
export async function beginSession({ sessions, now }: Pick<Deps, 'sessions' | 'now'>, url: URL, keyId: string) {
  const session: Session = {
    keyId,
    expiresAt: now() + SESSION_MS,
    nonce: crypto.randomUUID().replaceAll('-', ''),
  }
  return { session, cookie: cookieFor(url, await (await sessions()).seal(session), SESSION_MS / 1000) }
}

async function credentialOf(
  { keyId }: Session,
  config: Config,
  { identity }: Pick<Deps, 'identity'>,
): Promise<Credential | null> {
  if (keyId === LOCAL_SESSION) return null
  if (keyId === OPERATOR_SESSION) return config.adminToken === null ? null : { kind: 'operator' }
  try {
    return { kind: 'principal', principal: await identity.principalOfKeyId(keyId) }
  } catch (error) {
    if (error instanceof Problem && error.code === 'unauthorized') return null
    throw error
  }
}

/** @returns null for a browser that has to sign in first; never in open mode */
export async function visitorOf(request: Request, config: Config, services: Deps): Promise<Visitor | null> {
  const url = new URL(request.url)
  const text = parse(request.headers.get('cookie') ?? '', nameFor(url))[nameFor(url)]
  const known = text === undefined ? null : await (await services.sessions()).open(text, services.now())
  if (config.authMode === 'open') {
    const credential: Credential = { kind: 'principal', principal: LOCAL }
    if (known?.keyId === LOCAL_SESSION) return { credential, session: known, cookie: null }
    return { credential, ...(await beginSession(services, url, LOCAL_SESSION)) }
  }
  if (known === null) return null
  // Both are requested together, so that they share a round trip.
  const [credential, isOver] = await Promise.all([
    credentialOf(known, config, services),
    services.endedSessions.has(known.nonce),
  ])
  return credential === null || isOver ? null : { credential, session: known, cookie: null }
}

/** Ends a session for every browser that holds its cookie. Open mode has no sign-in, so it has no session to end. */
export async function endSession({ endedSessions }: Pick<Deps, 'endedSessions'>, session: Session): Promise<void> {
  if (session.keyId !== LOCAL_SESSION) await endedSessions.add(session.nonce, session.expiresAt)
}

/** @throws Problem unauthorized for a session that has ended */
export async function requireSession(services: Pick<Deps, 'endedSessions' | 'now'>, session: Session): Promise<void> {
  if (session.keyId === LOCAL_SESSION) return
  if (session.expiresAt <= services.now() || (await services.endedSessions.has(session.nonce)))
    throw new Problem('unauthorized', 'The session has ended; sign in again')
}

/** Checks a pasted key: returns the id for a session, or null for a key that is not valid. */
export async function keyIdOf(key: string, { identity }: Pick<Deps, 'identity'>): Promise<string | null> {
  if (await identity.isAdminToken(key)) return OPERATOR_SESSION
  try {
    return (await identity.principalOfKey(key)).keyId
  } catch (error) {
    if (error instanceof Problem && error.code === 'unauthorized') return null
    throw error
  }
}
