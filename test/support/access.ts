import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { CallResult } from './clients'
import { startPlace } from './places'
import type { ServerWithSql } from './server'

/** A server that requires credentials, and its administration with ADMIN_TOKEN. */
export const ADMIN_TOKEN = 'test-admin-token-of-thirty-two-chars'

// biome-ignore lint/suspicious/noExplicitAny: answers are untyped
type Json = any

export interface KeyDraft {
  readonly name?: string
  readonly role?: 'reader' | 'writer' | 'admin'
  readonly projects?: readonly string[]
  readonly agent?: string
  readonly owner?: string
  readonly expires_at?: string
}

export interface Answer {
  readonly status: number
  readonly body: Json
  readonly text: string
  readonly headers: Headers
}

export type Team = Awaited<ReturnType<typeof startTeam>>

let orgs = 0

/** Creates an organization with an admin key. @param url URL of a server with this ADMIN_TOKEN */
export async function keyOfNewOrg(url: URL): Promise<{ id: string; key: string }> {
  const org = `org-${process.pid}-${++orgs}`
  const post = async (path: string, body: object): Promise<Json> => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' }
    const response = await fetch(new URL(path, url), { method: 'POST', headers, body: JSON.stringify(body) })
    if (response.status !== 201) throw new Error(await response.text())
    return response.json()
  }
  await post('/api/v1/orgs', { id: org, name: org })
  return post(`/api/v1/orgs/${org}/keys`, { name: 'a key', role: 'admin' })
}

/** @param start starts the server; default: on D1 */
export async function startTeam(
  vars: Record<string, string> = {},
  start: (vars: Record<string, string>) => Promise<ServerWithSql> = startPlace,
) {
  const server = await start({ AUTH_MODE: 'required', ADMIN_TOKEN, ...vars })

  async function ask(
    path: string,
    bearer: string | null,
    method = 'GET',
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const response = await fetch(new URL(path, server.url.href), {
      method,
      headers: {
        ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    return {
      status: response.status,
      text,
      headers: response.headers,
      body: /^application\/json/.test(response.headers.get('content-type') ?? '') ? JSON.parse(text) : {},
    }
  }

  const api = (path: string, bearer: string | null, method = 'GET', body?: unknown) =>
    ask(`/api/v1${path}`, bearer, method, body)

  /** Creates a key of an organization, and the organization if it does not exist. */
  async function key(org: string, draft: KeyDraft = {}): Promise<{ id: string; key: string }> {
    await api('/orgs', ADMIN_TOKEN, 'POST', { id: org, name: org })
    const made = await api(`/orgs/${org}/keys`, ADMIN_TOKEN, 'POST', { name: 'a key', role: 'writer', ...draft })
    if (made.status !== 201) throw new Error(made.text)
    return made.body
  }

  /** Connections by credential, because connecting takes three requests. */
  const clients = new Map<string, Promise<Client>>()

  async function connect(bearer: string): Promise<Client> {
    const client = new Client({ name: 'test', version: '1.0.0' })
    const headers = { authorization: `Bearer ${bearer}` }
    await client.connect(new StreamableHTTPClientTransport(server.url, { requestInit: { headers } }))
    return client
  }

  /** One tool call over a real MCP connection. */
  async function call(bearer: string, name: string, args: Record<string, unknown> = {}): Promise<CallResult> {
    const client = clients.get(bearer) ?? connect(bearer)
    clients.set(bearer, client)
    // A refused caller tries again.
    client.catch(() => clients.delete(bearer))
    const result: Json = await (await client).callTool({ name, arguments: args })
    const { structuredContent: data, content, isError } = result
    return { data, content, text: content?.[0]?.text, isError: isError === true }
  }

  return { server, ask, api, key, call, stop: () => server.stop() }
}
