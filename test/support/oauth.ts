import { createHash, randomBytes } from 'node:crypto'
import { startPlace } from './places'
import { type OpenedServer, type Surroundings, startServer } from './server'

/** A deployment that requires credentials, a person with a key, and a minimal client. */
export const ADMIN_TOKEN = 'test-admin-token-of-thirty-two-chars'
export const REDIRECT = 'http://127.0.0.1:41999/callback'

// biome-ignore lint/suspicious/noExplicitAny: answers are untyped
export type Json = any

export interface Key {
  readonly id: string
  readonly key: string
}

/** A page in a browser. */
export interface Page {
  readonly status: number
  readonly text: string
  readonly headers: Headers
  /** `name=value` of the cookie it set. */
  readonly cookie: string
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
const unescaped = (text: string) =>
  text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] as string)

/** Where the page redirects automatically. */
export const departureOf = (page: Page): URL =>
  new URL(unescaped(/http-equiv="refresh" content="0;url=([^"]*)"/.exec(page.text)?.[1] ?? 'nowhere:'))

export const pkce = () => {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}

export type Deployment = Awaited<ReturnType<typeof startDeployment>>

/** @param surroundings for a server with its own workerd */
export async function startDeployment(surroundings: Surroundings | null = null) {
  const vars = { AUTH_MODE: 'required', ADMIN_TOKEN }
  const server: OpenedServer = await (surroundings === null
    ? startPlace(vars)
    : startServer(vars, undefined, surroundings))
  /** The base URL that clients use. */
  const base = surroundings?.origin ?? server.url.origin
  const ask = (path: string, init: RequestInit = {}): Promise<Response> => {
    const { pathname, search } = new URL(path, base)
    return fetch(new URL(pathname + search, server.url.origin), { redirect: 'manual', ...init })
  }

  async function admin(method: string, path: string, body?: unknown): Promise<Json> {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' }
    const response = await ask(`/api/v1${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return response.json()
  }
  await admin('POST', '/orgs', { id: 'acme', name: 'Acme' })
  const key = (draft: Json = {}): Promise<Key> =>
    admin('POST', '/orgs/acme/keys', { name: 'a key', role: 'writer', ...draft })
  const revoke = ({ id }: Key): Promise<Json> => admin('DELETE', `/orgs/acme/keys/${id}`)

  const toPage = async (response: Response): Promise<Page> => ({
    status: response.status,
    text: await response.text(),
    headers: response.headers,
    cookie: response.headers.get('set-cookie')?.split(';')[0] ?? '',
  })
  const open = async (address: URL | string): Promise<Page> => toPage(await ask(String(address)))
  /** Submits the form of a page. */
  const submit = async (address: URL | string, page: Page, fields: Record<string, string>, headers = {}) => {
    const token = /name="page" value="([^"]*)"/.exec(page.text)?.[1] ?? ''
    return toPage(
      await ask(String(address), {
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          origin: base,
          cookie: page.cookie,
          ...headers,
        },
        body: new URLSearchParams({ page: token, decision: 'allow', ...fields }).toString(),
      }),
    )
  }
  /** The person enters a key and allows access. */
  const allow = async (address: URL | string, { key }: Key): Promise<URL> =>
    departureOf(await submit(address, await open(address), { key }))

  async function register(metadata: Json = {}): Promise<Json> {
    const response = await ask('/register', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        client_name: 'A client',
        redirect_uris: [REDIRECT],
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
        ...metadata,
      }),
    })
    return response.json()
  }
  const addressFor = (clientId: string, challenge: string, more: Record<string, string | null> = {}): string => {
    const url = new URL('/authorize', base)
    const parameters = {
      response_type: 'code',
      client_id: clientId,
      redirect_uri: REDIRECT,
      state: 'a state',
      code_challenge: challenge,
      code_challenge_method: 'S256',
      resource: `${base}/mcp`,
      ...more,
    }
    for (const [name, value] of Object.entries(parameters)) if (value !== null) url.searchParams.set(name, value)
    return url.href
  }
  const token = async (form: Record<string, string>): Promise<{ status: number; body: Json }> => {
    const response = await ask('/token', { method: 'POST', body: new URLSearchParams(form) })
    const text = await response.text()
    return { status: response.status, body: text === '' ? {} : JSON.parse(text) }
  }
  const exchange = (clientId: string, code: string | null, verifier: string, more: Record<string, string> = {}) =>
    token({
      grant_type: 'authorization_code',
      client_id: clientId,
      code: code ?? '',
      code_verifier: verifier,
      redirect_uri: REDIRECT,
      ...more,
    })
  /** The complete flow up to tokens. */
  async function connect(holder: Key, more: Record<string, string | null> = {}): Promise<Json> {
    const { client_id } = await register()
    const { verifier, challenge } = pkce()
    const back = await allow(addressFor(client_id, challenge, more), holder)
    const { status, body } = await exchange(client_id, back.searchParams.get('code'), verifier)
    if (status !== 200) throw new Error(JSON.stringify(body))
    return { client_id, ...body }
  }
  /** A tool call of an MCP client. */
  const call = async (bearer: string, name: string, args: Json = {}, path = '/mcp') => {
    const response = await ask(path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${bearer}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
    })
    const text = await response.text()
    const line = text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? '{}')
    return { status: response.status, headers: response.headers, result: JSON.parse(line).result as Json }
  }
  return {
    ...{ server, base, ask, admin, key, revoke, open, submit, allow, register, addressFor, token, exchange, connect },
    call,
    stop: () => server.stop(),
  }
}
