import type { Millis } from '../time'

/**
 * Dashboard sessions, signed with HMAC-SHA-256 under a key of the deployment. A session contains the ID of its key,
 * never the key, and is rejected once the key is revoked or expired, because each request looks the key up.
 */
export interface Session {
  /** ID of the key, or one of the two constants below. */
  readonly keyId: string
  /** Milliseconds since 1970. */
  readonly expiresAt: Millis
  /** Random; form tokens are derived from it. */
  readonly nonce: string
}

/** Session IDs that are not keys: the holder of ADMIN_TOKEN, and the user of a server in open mode. */
export const OPERATOR_SESSION = 'admin-token'
export const LOCAL_SESSION = 'local'

/** Lifetime of a session: eight hours, a working day (operate contract §1). */
export const SESSION_MS = 8 * 3_600_000

export interface SessionSeal {
  /** The text of the cookie. */
  seal(session: Session): Promise<string>
  /**
   * The session, or null for text that this deployment did not sign, or an expired session. @param now milliseconds
   * since 1970
   */
  open(text: string, now: Millis): Promise<Session | null>
  /** The token of each form of a session, which prevents cross-site requests: 43 characters of base64url. */
  formToken(session: Session): Promise<string>
}

const FORMAT = /^([A-Za-z0-9_.-]{1,128})~(\d{13,15})~([0-9a-f]{32})~([A-Za-z0-9_-]{43})$/

const utf8 = (text: string) => new TextEncoder().encode(text)

const toBase64Url = (bytes: ArrayBuffer): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .slice(0, 43)

const fromBase64Url = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0))

/**
 * Creates the signer of sessions.
 * @param secret from the database, of any length and form
 * @param adminToken a Worker secret that is not in the database; null where there is none
 */
export async function createSessionSeal(secret: string, adminToken: string | null): Promise<SessionSeal> {
  const material = utf8(`sessions of the dashboard\n${secret}\n${adminToken ?? ''}`)
  const digest = await crypto.subtle.digest('SHA-256', material)
  const key = await crypto.subtle.importKey('raw', digest, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify'])
  const wordsOf = ({ keyId, expiresAt, nonce }: Session) => `${keyId}~${expiresAt}~${nonce}`
  const sign = async (text: string) => toBase64Url(await crypto.subtle.sign('HMAC', key, utf8(text)))
  return {
    async seal(session) {
      const words = wordsOf(session)
      return `${words}~${await sign(`session\n${words}`)}`
    },

    async open(text, now) {
      const [, keyId, end, nonce, signature] = FORMAT.exec(text) ?? []
      if (keyId === undefined || nonce === undefined || signature === undefined) return null
      const session = { keyId, expiresAt: Number(end), nonce }
      const words = utf8(`session\n${wordsOf(session)}`)
      const isOurs = await crypto.subtle.verify('HMAC', key, fromBase64Url(signature), words)
      return isOurs && session.expiresAt > now ? session : null
    },

    formToken: (session) => sign(`form\n${wordsOf(session)}`),
  }
}
