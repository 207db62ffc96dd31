import type { MiddlewareHandler } from 'hono'
import type { Environment } from '../config'
import { type Access, EXPOSED_HEADERS, isLoopback, preflight, type ServedHost } from './access'
import { errorBody } from './error-body'
import { isGzip } from './gzip'
import { isMcpPath } from './mcp-message'
import { CARD_PATH } from './mcp-server'

/**
 * Checks requests against foreign web pages, before everything else. The address of a request is made from its Host header, so a
 * DNS name rebound to this machine looks like our own. Open mode therefore accepts loopback names only, and ALLOWED_HOSTS lists
 * the names of a deployment.
 */

/** Parses a Host header into host and port; null if it is invalid. */
function hostOf(authority: string): URL | null {
  try {
    return new URL(`http://${authority}`)
  } catch {
    return null
  }
}

/** Parses the Origin of a page; null for an opaque origin (`null`, `file:`, extensions). */
function pageOf(origin: string): URL | null {
  try {
    const url = new URL(origin)
    return url.protocol === 'http:' || url.protocol === 'https:' ? url : null
  } catch {
    return null
  }
}

const isNamed = (hosts: readonly ServedHost[], { hostname, port }: URL): boolean =>
  hosts.some((one) => one.name === hostname.toLowerCase() && (one.port === null || one.port === port))

/** Limit of the bytes of all header names and values; a browser or an MCP client sends a tenth. */
const MAX_HEADER_BYTES = 32_768

/** Parameters that OAuth clients draw at random, so that one may begin like a key by chance. */
const RANDOM_PARAMETERS = /^(state|code_challenge)$/

/** Parameter names under which services accept keys in the address. */
const KEY_PARAMETERS = /^(key|api[-_]?key|token|access[-_]?token|auth|authorization|bearer|secret)$/i

/** Addresses end up in logs, histories and referrers, so a key in one is refused even if the header holds another. */
function carriesKey(url: URL): boolean {
  if (url.search === '') return false
  for (const [name, value] of url.searchParams)
    if (KEY_PARAMETERS.test(name) || (value.startsWith('cp_') && !RANDOM_PARAMETERS.test(name))) return true
  return false
}

function headerBytes(headers: Headers): number {
  let bytes = 0
  for (const [name, value] of headers) bytes += name.length + value.length + 4
  return bytes
}

/** Returns whether a request is for a page that people open in a browser. */
type IsPage = (request: Request) => boolean

interface Refusal {
  readonly status: 400 | 403 | 415 | 431
  readonly code: 'invalid_input' | 'forbidden' | 'limit_exceeded' | 'unsupported'
  readonly message: string
}

const forbidden = (reason: string): Refusal => ({
  status: 403,
  code: 'forbidden',
  message: `${reason}; call this server from its own origin`,
})

/** Returns why the called host name is refused, or null. */
function hostRefusal(served: URL, named: URL | null, { open, hosts }: Access): Refusal | null {
  const same =
    named === null || named.hostname === served.hostname || [named, served].every((one) => isLoopback(one.hostname))
  if (!same) return forbidden('Host header does not match the address of the request')
  if (isLoopback(served.hostname)) return null
  if (open) return forbidden('AUTH_MODE=open serves only requests to this machine (localhost)')
  return hosts === null || isNamed(hosts, served) ? null : forbidden('Host is not in ALLOWED_HOSTS')
}

/**
 * Returns whether a page may call. In open mode its origin must be the server's own, since any other program of this machine may serve
 * pages too. With ALLOWED_HOSTS it must be one of those; otherwise it has the server's name, or is a page of the caller's machine,
 * which has only the credential that its user gave it.
 */
function isTrusted(page: URL, served: URL, named: URL | null, { open, hosts }: Access): boolean {
  const own = page.host === served.host || page.host === named?.host
  if (open) return own
  if (hosts !== null) return own || isNamed(hosts, page)
  return page.hostname === served.hostname || isLoopback(page.hostname)
}

/**
 * Addresses that any page may call in required mode, as with other OAuth servers: discovery, registration, exchange of codes. They read
 * no cookie, and return nothing that is not public.
 */
const isPublic = (path: string): boolean => /^\/\.well-known\/|^\/(token|register)$/.test(path) || path === CARD_PATH

/** Returns the value of `Access-Control-Allow-Origin` for a page that is not trusted; null for a page that may not call. */
function readerOf(origin: string, { pathname }: URL, { open, origins }: Access): string | null {
  // Without keys, every page would act for the person at this machine.
  if (open) return null
  if (isPublic(pathname)) return '*'
  return isMcpPath(pathname) && origins.includes(origin.toLowerCase()) ? origin : null
}

/** The route that decompresses a body itself, and limits the decompressed size. */
const UNPACKS = /^\/api\/v1\/orgs\/[^/]+\/import$/

/** Returns whether a body is compressed: its decompressed size is unknown, and only an import accepts it. */
function isCompressed({ method, headers }: Request, { pathname }: URL): boolean {
  const encoding = headers.get('content-encoding') ?? ''
  if (method === 'POST' && UNPACKS.test(pathname) && isGzip(encoding)) return false
  return !/^(GET|HEAD|OPTIONS)$/.test(method) && !/^(\s*identity\s*)?$/i.test(encoding)
}

/**
 * Returns whether a page of another origin makes the browser send this request, which is visible where the request carries no `Origin`:
 * an image, a script, a frame or a form with GET. Browsers set `Sec-Fetch-Site` and no page can change it. A link that a person follows
 * to a page stays allowed, since the page that holds the link cannot read the answer.
 *
 * @param isPage whether people open the address in a browser
 */
function isSentByForeignPage({ method, headers }: Request, isPage: boolean): boolean {
  const site = headers.get('sec-fetch-site')?.trim().toLowerCase() ?? ''
  if (site === '' || site === 'same-origin' || site === 'none') return false
  const isTopLevel = headers.get('sec-fetch-mode') === 'navigate' && headers.get('sec-fetch-dest') === 'document'
  return !(method === 'GET' && isTopLevel && isPage)
}

/** Returns why a request is refused, or null; and for a page without trust, who may read the answer. */
interface Verdict {
  readonly refused: Refusal | null
  readonly reader: string | null
}

function judge(request: Request, access: Access, isPage: IsPage): Verdict {
  const url = new URL(request.url)
  const refuse = (refused: Refusal | null): Verdict => ({ refused, reader: null })
  if (headerBytes(request.headers) > MAX_HEADER_BYTES)
    return refuse({
      ...{ status: 431, code: 'limit_exceeded' },
      message: `The headers are larger than ${MAX_HEADER_BYTES} bytes`,
    })
  const host = request.headers.get('host')
  const named = host === null ? null : hostOf(host)
  if (host !== null && named === null) return refuse(forbidden('The Host header does not name a host'))
  const wrongHost = hostRefusal(url, named, access)
  if (wrongHost !== null) return refuse(wrongHost)
  const origin = request.headers.get('origin')
  const page = origin === null ? null : pageOf(origin)
  const isForeign = origin !== null && (page === null || !isTrusted(page, url, named, access))
  const reader = isForeign || (origin !== null && isPublic(url.pathname)) ? readerOf(origin, url, access) : null
  if (isForeign && reader === null) return refuse(forbidden(originRefusal(url, access)))
  if (access.open && origin === null && isSentByForeignPage(request, isPage(request)))
    return refuse(forbidden('A page of another origin sent this request'))
  return { refused: faultOf(request, url), reader }
}

/** Returns why the page may not call. The operator of a deployment can allow it at the endpoint. */
const originRefusal = ({ pathname }: URL, { open }: Access): string =>
  !open && isMcpPath(pathname) ? 'Origin is not in ALLOWED_ORIGINS' : 'Origin is not allowed'

/** Returns what is wrong with a request whose caller may call, or null. */
function faultOf(request: Request, url: URL): Refusal | null {
  if (carriesKey(url)) {
    const message = 'Keys in the address are not accepted; send the header Authorization: Bearer <key>'
    return { status: 400, code: 'invalid_input', message }
  }
  // Stored text never contains it, and a PostgreSQL query with it fails.
  if (/%00/.test(url.pathname + url.search)) {
    const message = 'The address contains the character U+0000 (%00); remove it and send the request again'
    return { status: 400, code: 'invalid_input', message }
  }
  if (isCompressed(request, url)) {
    const message = 'Compressed request bodies are not accepted; send the body as it is, without Content-Encoding'
    return { status: 415, code: 'unsupported', message }
  }
  return null
}

/** Returns the request without its cookies: a page of another origin never acts in a dashboard session. */
function withoutCookies(request: Request): Request {
  if (!request.headers.has('cookie')) return request
  const headers = new Headers(request.headers)
  headers.delete('cookie')
  return new Request(request, { headers })
}

/**
 * Refuses requests of foreign pages. The page that sent an accepted request may read the answer, errors included. A refusal has
 * no CORS header, so a foreign page cannot read it. No answer allows a browser to send credentials of its own.
 *
 * @param access the configuration of hosts, origins and open mode
 * @param isPage whether a page of another site may link to the address, also in open mode
 */
export const guard =
  <Env extends object>(access: (env: Environment) => Access, isPage: IsPage): MiddlewareHandler<{ Bindings: Env }> =>
  async (c, next) => {
    const { refused, reader } = judge(c.req.raw, access((c.env ?? {}) as Environment), isPage)
    if (refused !== null) {
      const { status, code, message } = refused
      // RFC 9110 §12.5.3: lists the encodings that are accepted.
      if (status === 415) c.header('Accept-Encoding', 'identity')
      return c.json(errorBody(c.req.raw, { code, message, retryable: false }), status)
    }
    if (reader !== null && c.req.method === 'OPTIONS') return preflight(reader)
    if (reader !== null) c.req.raw = withoutCookies(c.req.raw)
    await next()
    if (!c.req.header('origin')) return
    const { headers } = c.res
    if (reader !== null) headers.delete('set-cookie')
    if (headers.has('access-control-allow-origin')) return
    headers.set('Access-Control-Allow-Origin', reader ?? '*')
    if (reader !== null && reader !== '*') headers.append('Vary', 'Origin')
    headers.set('Access-Control-Expose-Headers', EXPOSED_HEADERS)
  }
