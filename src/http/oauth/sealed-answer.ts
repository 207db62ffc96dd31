/**
 * Encrypts answers to a refresh with the refresh token that was exchanged: only a client that presents the same token again can read
 * them, and a stored token cannot be read without another one.
 */
const bytesOf = (text: string) => new TextEncoder().encode(text)
const IV_BYTES = 12

async function keyFor(token: string): Promise<CryptoKey> {
  const digest = await crypto.subtle.digest('SHA-256', bytesOf(`answer to a refresh\n${token}`))
  return crypto.subtle.importKey('raw', digest, 'AES-GCM', false, ['encrypt', 'decrypt'])
}

/** @param token 192 random bits, so that the key needs no further derivation */
export async function sealAnswer(token: string, answer: object): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
  const sealed = await crypto.subtle.encrypt(
    { name: 'AES-GCM', iv },
    await keyFor(token),
    bytesOf(JSON.stringify(answer)),
  )
  return btoa(String.fromCharCode(...iv, ...new Uint8Array(sealed)))
}

/** @throws if it was not sealed with this token */
export async function openAnswer(token: string, text: string): Promise<unknown> {
  const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
  const iv = bytes.subarray(0, IV_BYTES)
  const key = await keyFor(token)
  const opened = await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, key, bytes.subarray(IV_BYTES))
  return JSON.parse(new TextDecoder().decode(opened))
}
