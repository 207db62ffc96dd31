import type { Clock } from '../../ports/clock'
import type { Webhook } from '../../ports/notices'

const TIMEOUT_MS = 10_000

const hex = (bytes: ArrayBuffer): string =>
  [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('')

/** Returns the HMAC-SHA-256 of a body, hexadecimal. */
async function signatureOf(secret: string, body: string): Promise<string> {
  const utf8 = new TextEncoder()
  const hash = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', utf8.encode(secret), hash, false, ['sign'])
  return hex(await crypto.subtle.sign('HMAC', key, utf8.encode(body)))
}

/**
 * Creates the sender of notices: one POST with a JSON object.
 *
 * @param secret signs the body in the header `X-Commonplace-Signature: sha256=…`; null for none
 */
export const createWebhook = (
  { url, secret }: { readonly url: string; readonly secret: string | null },
  clock: Clock,
): Webhook => ({
  async send(notices) {
    const body = JSON.stringify({ at: new Date(clock.now()).toISOString(), notices })
    const signature = secret === null ? {} : { 'x-commonplace-signature': `sha256=${await signatureOf(secret, body)}` }
    const response = await fetch(url, {
      ...{ method: 'POST', body, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) },
      headers: { 'content-type': 'application/json', 'user-agent': 'commonplace', ...signature },
    })
    await response.body?.cancel()
    // The address may hold a secret, so messages do not name it.
    if (!response.ok) throw new Error(`the webhook answered with status ${response.status}`)
  },
})
