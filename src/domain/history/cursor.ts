import { invalidInput, type Problem } from '../errors'
import { withoutTrailing } from '../text'

/**
 * Seals and opens cursors of the change feed: a position, encrypted with AES-GCM under a key of the deployment, for one
 * organization. Each cursor has a new nonce, so that comparing cursors reveals nothing about changes that a reader
 * cannot see.
 */
export interface CursorSeal {
  seal(org: string, position: number): Promise<string>
  /** The position, or null for a cursor that this deployment did not seal for this organization. */
  open(org: string, cursor: string): Promise<number | null>
}

/** AES-GCM needs a nonce of 96 bits and adds a tag of 128 bits. */
const NONCE_BYTES = 12
const POSITION_BYTES = 8
const FORMAT = /^[A-Za-z0-9_-]{48}$/

const utf8 = (text: string) => new TextEncoder().encode(text)

function toBase64Url(bytes: Uint8Array): string {
  return withoutTrailing(btoa(String.fromCharCode(...bytes)), '=')
    .replaceAll('+', '-')
    .replaceAll('/', '_')
}

const fromBase64Url = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0))

/** Creates the seal. @param secret a secret of the deployment, of any length and form */
export async function createCursorSeal(secret: string): Promise<CursorSeal> {
  const digest = await crypto.subtle.digest('SHA-256', utf8(`cursors of the feed\n${secret}`))
  const key = await crypto.subtle.importKey('raw', digest, 'AES-GCM', false, ['encrypt', 'decrypt'])
  const parameters = (org: string, iv: Uint8Array<ArrayBuffer>) => ({ name: 'AES-GCM', iv, additionalData: utf8(org) })
  return {
    async seal(org, position) {
      const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES))
      const plain = new DataView(new ArrayBuffer(POSITION_BYTES))
      plain.setBigUint64(0, BigInt(position))
      const sealed = new Uint8Array(await crypto.subtle.encrypt(parameters(org, iv), key, plain.buffer))
      const whole = new Uint8Array(NONCE_BYTES + sealed.length)
      whole.set(iv)
      whole.set(sealed, NONCE_BYTES)
      return toBase64Url(whole)
    },

    async open(org, cursor) {
      if (!FORMAT.test(cursor)) return null
      const bytes = fromBase64Url(cursor)
      try {
        const iv = bytes.slice(0, NONCE_BYTES)
        const plain = await crypto.subtle.decrypt(parameters(org, iv), key, bytes.slice(NONCE_BYTES))
        return Number(new DataView(plain).getBigUint64(0))
      } catch {
        return null
      }
    },
  }
}

/** The error for a cursor that is expired, invalid or of another server. It does not reveal which. */
export const staleCursor = (): Problem =>
  invalidInput(
    'The cursor in after has expired or is not valid. Call again without after to get a new one, list the current entries, then continue from it.',
    { resync_from: 'list' },
  )
