import { postgres } from '../../src/composition/modules'
import { composeServices } from '../../src/composition/worker'
import { parseConfig } from '../../src/config'
import { createApp } from '../../src/http/app'
import { createLog, type Log } from '../../src/http/log'
import { bindings } from './bindings'
import { onPostgres } from './direct-sql'
import { settledAtEnd } from './left-behind'
import { TestClock } from './scope'
import { placeOf } from './tool-places'

if (onPostgres()) await postgres.load()

/** The complete Worker with real keys in one isolate and with a stopped clock, for isolation tests. */
// biome-ignore lint/suspicious/noExplicitAny: answers are untyped
export type Json = any

export interface Answer {
  readonly status: number
  /** The body as sent. */
  readonly body: string
  readonly headers: string
  readonly json: Json
}

/** The answer of a tool: its structured content, and everything that was sent. */
export interface ToolAnswer {
  readonly data: Json
  /** Null when the call succeeded. */
  readonly error: { readonly code: string; readonly message: string } | null
  readonly body: string
}

export interface Key {
  readonly id: string
  readonly secret: string
  readonly org: string
  readonly role: string
  readonly projects: readonly string[] | null
  readonly owner: string
  readonly agent: string | null
}

export type KeyDraft = Partial<Pick<Key, 'role' | 'projects' | 'owner' | 'agent'>>

export const OPERATOR = 'operator-of-this-deployment'
const ORIGIN = 'http://localhost'

/**
 * @param database database in place of the test's own, so that it can fail
 * @param extras further bindings, and a receiver of log lines
 */
export function openWorld(
  vars: Record<string, string> = {},
  database: D1Database = bindings.DB,
  extras: { readonly bindings?: object; readonly log?: Log } = {},
) {
  const config = parseConfig({
    ...(onPostgres() ? { STORAGE_BACKEND: 'postgresql' } : {}),
    AUTH_MODE: 'required',
    // The model knows existing entries only; contracts/endpoint/history.ts tests history.
    HISTORY_DAYS: '0',
    ADMIN_TOKEN: OPERATOR,
    RATE_LIMIT_PER_MINUTE: '0',
    MAX_CONCURRENT_REQUESTS: '0',
    LOG_LEVEL: 'CRITICAL',
    ...vars,
  })
  const clock = new TestClock()
  let background: Promise<unknown>[] = []
  const waitUntil = (work: Promise<unknown>) => void background.push(work)
  const log = extras.log ?? createLog('CRITICAL')
  const services = composeServices({ ...bindings, DB: database, ...extras.bindings }, config, { log, waitUntil, clock })
  const app = createApp(async () => ({ config, services, log }))
  const ctx = { waitUntil, passThroughOnException: () => {} } as unknown as ExecutionContext

  /** Waits for work after responses. */
  async function settle(): Promise<void> {
    while (background.length > 0) {
      const running = background
      background = []
      await Promise.all(running)
    }
  }
  settledAtEnd(settle)

  async function http(
    secret: string | null,
    method: string,
    path: string,
    body?: unknown,
    more: Record<string, string> = {},
  ): Promise<Answer> {
    const headers: Record<string, string> = {
      host: 'localhost',
      accept: 'application/json, text/event-stream',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(secret === null ? {} : { authorization: `Bearer ${secret}` }),
      ...more,
    }
    const sentBody = body instanceof Uint8Array ? body : JSON.stringify(body)
    const init = { method, headers, ...(body === undefined ? {} : { body: sentBody }) }
    const response = await app.fetch(new Request(`${ORIGIN}${path}`, init), {}, ctx)
    const text = new TextDecoder().decode(await response.arrayBuffer())
    const isLines = response.headers.get('content-type')?.startsWith('application/x-ndjson') === true
    const json = isLines ? undefined : text.startsWith('{') ? text : /^data: (.*)$/m.exec(text)?.[1]
    const sent = [...response.headers].join('\n')
    return { status: response.status, body: text, headers: sent, json: json === undefined ? null : JSON.parse(json) }
  }

  /** A dashboard page, requested by a browser that is signed in with the key. */
  async function page(key: Key, path: string): Promise<Answer> {
    const session = { keyId: key.id, expiresAt: clock.now() + 1_000, nonce: 'a'.repeat(32) }
    const cookie = `commonplace-80=${await (await services.sessions()).seal(session)}`
    return http(null, 'GET', path, undefined, { accept: 'text/html', cookie })
  }

  async function call(key: Key, name: string, args: Record<string, unknown> = {}): Promise<ToolAnswer> {
    const { path, tool } = placeOf(name)
    const params = { name: tool, arguments: args }
    const { json, body } = await http(key.secret, 'POST', path === '/mcp/core' ? path : '/mcp', {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params,
    })
    if (json?.result === undefined) throw new Error(`${name} was not answered by a tool result: ${body}`)
    const { structuredContent: data, isError } = json.result
    return { data, error: isError ? data.error : null, body }
  }

  /** Calls a tool that must succeed. */
  async function ok(key: Key, name: string, args: Record<string, unknown> = {}): Promise<Json> {
    const { data, error } = await call(key, name, args)
    if (error) throw new Error(`${name} failed: ${error.code} ${error.message}`)
    return data
  }

  async function created(secret: string, path: string, body: unknown): Promise<Json> {
    const { status, json, body: text } = await http(secret, 'POST', path, body)
    if (status !== 201) throw new Error(`${path} answered ${status}: ${text}`)
    return json
  }

  /** A new organization, and the key of its first administrator. */
  async function makeOrg(name = 'org'): Promise<Key> {
    const { id } = await created(OPERATOR, '/api/v1/orgs', { id: `${name}-${crypto.randomUUID().slice(0, 8)}` })
    return makeKey(id, { role: 'admin', owner: 'ada' })
  }

  async function makeKey(org: string, draft: KeyDraft = {}, by = OPERATOR): Promise<Key> {
    const { role = 'writer', projects = null, owner, agent = null } = draft
    const body = {
      name: 'a key',
      role,
      ...(projects ? { projects } : {}),
      ...(owner ? { owner } : {}),
      ...(agent ? { agent } : {}),
    }
    const { id, key, owner: itsOwner } = await created(by, `/api/v1/orgs/${org}/keys`, body)
    return { id, secret: key, org, role, projects, owner: itsOwner, agent }
  }

  /** All audit events that an administrator's key can read, page by page. */
  async function auditOf(key: Key, limit = 100): Promise<Json[]> {
    const events: Json[] = []
    for (let after: number | null = 0; after !== null; ) {
      const { json } = await http(key.secret, 'GET', `/api/v1/orgs/${key.org}/audit?after=${after}&limit=${limit}`)
      events.push(...json.events)
      after = json.next
    }
    return events
  }

  return { config, clock, services, settle, http, page, call, ok, makeOrg, makeKey, auditOf }
}

export type World = ReturnType<typeof openWorld>

/** The billed usage of D1. */
export interface Spent {
  /** Round trips. */
  trips: number
  read: number
  written: number
}

/** A database that counts the usage of its batches. */
export function countingRows(db: D1Database) {
  const spent: Spent = { trips: 0, read: 0, written: 0 }
  const database = new Proxy(db, {
    get(target, name) {
      if (name !== 'batch') {
        const value = Reflect.get(target, name) as unknown
        return typeof value === 'function' ? value.bind(target) : value
      }
      return async (statements: D1PreparedStatement[]) => {
        const results = await target.batch(statements)
        spent.trips++
        for (const { meta } of results) {
          spent.read += meta.rows_read ?? 0
          spent.written += meta.rows_written ?? 0
        }
        return results
      }
    },
  })
  const spentBy = async (call: () => Promise<unknown>): Promise<Spent> => {
    Object.assign(spent, { trips: 0, read: 0, written: 0 })
    await call()
    return { ...spent }
  }
  /** Rows that a call reads. */
  const rowsOf = async (call: () => Promise<unknown>): Promise<number> => (await spentBy(call)).read
  return { database, rowsOf, spentBy }
}
