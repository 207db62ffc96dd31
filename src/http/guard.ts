import type { MiddlewareHandler } from 'hono'

/**
 * Checks against foreign web pages, before everything else. The address of a request is made from its Host header, so a
 * name that was rebound to this machine looks like our own: open mode therefore takes loopback names only.
 */
export const isLoopback = (hostname: string): boolean =>
  /^(localhost|.*\.localhost|127(\.\d{1,3}){3}|\[?::1\]?|::ffff:127(\.\d{1,3}){3})$/i.test(hostname)

function hostnameOf(authority: string): string | null {
  try {
    return new URL(`http://${authority}`).hostname
  } catch {
    return null
  }
}

function originHostname(origin: string): string | null {
  try {
    const url = new URL(origin)
    return url.protocol === 'http:' || url.protocol === 'https:' ? url.hostname : null
  } catch {
    return null
  }
}

/** Bytes of all header names and values; a browser or an MCP client sends a tenth. */
const MAX_HEADER_BYTES = 32_768

/** Drawn at random by OAuth clients, so now and then one begins as a key does. */
const RANDOM_PARAMETERS = /^(state|code_challenge)$/

/** Names under which services take keys in the address. */
const KEY_PARAMETERS = /^(key|api[-_]?key|token|access[-_]?token|auth|authorization|bearer|secret)$/i

/** Addresses end up in logs, histories and referrers, so a key in one is refused even where another is in the header. */
export function carriesKey(url: URL): boolean {
  for (const [name, value] of url.searchParams)
    if (KEY_PARAMETERS.test(name) || (value.startsWith('cp_') && !RANDOM_PARAMETERS.test(name))) return true
  return false
}

export function headerBytes(headers: Headers): number {
  let bytes = 0
  for (const [name, value] of headers) bytes += name.length + value.length + 4
  return bytes
}

interface Refusal {
  readonly status: 400 | 403 | 431
  readonly code: 'invalid_input' | 'forbidden' | 'limit_exceeded'
  readonly message: string
}

const forbidden = (reason: string): Refusal => ({
  status: 403,
  code: 'forbidden',
  message: `${reason}; call this server from its own origin`,
})

/** @returns why the request is refused, or null */
export function refusal(request: Request): Refusal | null {
  const url = new URL(request.url)
  const served = url.hostname
  if (headerBytes(request.headers) > MAX_HEADER_BYTES)
    return { status: 431, code: 'limit_exceeded', message: `The headers are larger than ${MAX_HEADER_BYTES} bytes` }
  const host = request.headers.get('host')
  if (host !== null) {
    const named = hostnameOf(host)
    const same = named === served || (named !== null && isLoopback(named) && isLoopback(served))
    if (!same) return forbidden('Host header does not match the address of the request')
  }
  const origin = request.headers.get('origin')
  const from = origin === null ? served : originHostname(origin)
  if (from === null || (from !== served && !isLoopback(from))) return forbidden('Origin is not allowed')
  if (carriesKey(url)) {
    const message = 'Keys are not taken from the address; send the header Authorization: Bearer <key>'
    return { status: 400, code: 'invalid_input', message }
  }
  return null
}

export const guard: MiddlewareHandler = async (c, next) => {
  const refused = refusal(c.req.raw)
  if (refused === null) return next()
  const { status, code, message } = refused
  return c.json({ error: { code, message, retryable: false } }, status)
}

/** Lets a page whose origin was accepted read every answer, errors included. */
export const readableByPages: MiddlewareHandler = async (c, next) => {
  await next()
  if (!c.req.header('origin') || c.res.headers.has('access-control-allow-origin')) return
  c.res.headers.set('Access-Control-Allow-Origin', '*')
  c.res.headers.set('Access-Control-Expose-Headers', 'WWW-Authenticate')
}
