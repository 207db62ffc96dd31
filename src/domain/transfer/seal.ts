import { Buffer } from 'node:buffer'

/**
 * Encrypts state of an export or import that the client stores and returns: AES-GCM under a key of the deployment, for
 * one organization.
 */
export interface TextSeal {
  seal(org: string, text: string): Promise<string>
  /** The text, or null for a value that this deployment did not seal for this organization. */
  open(org: string, sealed: string): Promise<string | null>
}

/** AES-GCM needs a nonce of 96 bits. */
const NONCE_BYTES = 12

const utf8 = (text: string) => new TextEncoder().encode(text)

const toBase64Url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('=', '')
    .replaceAll('+', '-')
    .replaceAll('/', '_')

/** Creates the seal. @param secret a secret of the deployment, of any length and form */
export async function createTextSeal(secret: string): Promise<TextSeal> {
  const digest = await crypto.subtle.digest('SHA-256', utf8(`places of exports\n${secret}`))
  const key = await crypto.subtle.importKey('raw', digest, 'AES-GCM', false, ['encrypt', 'decrypt'])
  const parameters = (org: string, iv: Uint8Array<ArrayBuffer>) => ({ name: 'AES-GCM', iv, additionalData: utf8(org) })
  return {
    async seal(org, text) {
      const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES))
      const sealed = new Uint8Array(await crypto.subtle.encrypt(parameters(org, iv), key, utf8(text)))
      const whole = new Uint8Array(NONCE_BYTES + sealed.length)
      whole.set(iv)
      whole.set(sealed, NONCE_BYTES)
      return toBase64Url(whole)
    },
    async open(org, sealed) {
      if (!/^[A-Za-z0-9_-]{40,4000}$/.test(sealed)) return null
      try {
        const raw = atob(sealed.replaceAll('-', '+').replaceAll('_', '/'))
        const bytes = Uint8Array.from(raw, (char) => char.charCodeAt(0))
        const iv = bytes.slice(0, NONCE_BYTES)
        const plain = await crypto.subtle.decrypt(parameters(org, iv), key, bytes.slice(NONCE_BYTES))
        return new TextDecoder().decode(plain)
      } catch {
        return null
      }
    },
  }
}

/** Encodes bytes as padded base64. Both runtimes implement it natively. */
export const encodeBase64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')

export const decodeBase64 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64'))
