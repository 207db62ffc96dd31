/**
 * Rules for who may call the server, which the guard needs before it reads anything else. `config.ts` validates the same variables
 * and reports errors; here an invalid host is ignored.
 */
export interface Access {
  /** AUTH_MODE=open: this machine only. */
  readonly open: boolean
  /** ALLOWED_HOSTS: the names of this deployment; null when not set, and then every name is accepted. */
  readonly hosts: readonly ServedHost[] | null
  /** ALLOWED_ORIGINS: pages of other origins that may call the MCP endpoint with a bearer token. Ignored in open mode. */
  readonly origins: readonly string[]
}

export interface ServedHost {
  /** Lower-case. */
  readonly name: string
  /** Null: any. */
  readonly port: string | null
}

export const isLoopback = (hostname: string): boolean =>
  /^(localhost|.*\.localhost|127(\.\d{1,3}){3}|\[?::1\]?|\[?::ffff:127(\.\d{1,3}){3}\]?)$/i.test(hostname)

const HOST = /^([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:]+\])(?::(\d{1,5}))?$/

/** Parses one entry of ALLOWED_HOSTS, a name with or without a port; null for anything else. */
export function readHost(text: string): ServedHost | null {
  const [, name, port = null] = HOST.exec(text.trim().toLowerCase()) ?? []
  return name === undefined ? null : { name, port }
}

/** Schemes whose pages do not come from a server, so any page can claim them. */
const WITHOUT_SERVER = /^(file|data|blob|javascript|about|filesystem|view-source):/

/**
 * Parses one entry of ALLOWED_ORIGINS, an origin as browsers write it. Null for anything else: a wildcard, `null`, an
 * address with a path, and plain http on another machine, where anyone on the network path can alter the page.
 */
export function readOrigin(text: string): string | null {
  const origin = text.trim().toLowerCase()
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@*\\]+$/.test(origin) || WITHOUT_SERVER.test(origin) || !URL.canParse(origin))
    return null
  const url = new URL(origin)
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) return null
  return /^https?:$/.test(url.protocol) ? url.origin : origin
}

const listed = (value: unknown): string[] =>
  typeof value === 'string' ? value.split(',').filter((item) => item.trim() !== '') : []

export function readAccess(env: Readonly<Record<string, unknown>>): Access {
  const hosts = listed(env.ALLOWED_HOSTS)
  return {
    open: typeof env.AUTH_MODE === 'string' && env.AUTH_MODE.trim().toLowerCase() === 'open',
    hosts: hosts.length === 0 ? null : hosts.map(readHost).filter((host) => host !== null),
    origins: listed(env.ALLOWED_ORIGINS).flatMap((item) => readOrigin(item) ?? []),
  }
}

/** CORS headers for pages of other origins. No answer allows credentials: cookies stay with their own origin. */

/**
 * Headers that a page may send: those of MCP and OAuth by name, since some browsers do not read the asterisk, which never stands for
 * `Authorization`.
 */
const ALLOWED_HEADERS = [
  ...['Content-Type', 'Accept', 'Authorization', 'Last-Event-ID', 'Idempotency-Key'],
  ...['mcp-session-id', 'MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name', '*'],
]

/** Headers of an answer that a page may read. */
export const EXPOSED_HEADERS =
  'WWW-Authenticate, Retry-After, X-Next-Cursor, Link, mcp-session-id, MCP-Protocol-Version'

/** Returns the answer to a preflight. @param origin the page that may call; `*` where every page may */
export const preflight = (origin = '*'): Response =>
  new Response(null, {
    status: 204,
    headers: {
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Allow-Methods': 'GET, POST, PATCH, DELETE, OPTIONS',
      'Access-Control-Allow-Headers': ALLOWED_HEADERS.join(', '),
      'Access-Control-Max-Age': '86400',
      ...(origin === '*' ? {} : { Vary: 'Origin' }),
    },
  })
