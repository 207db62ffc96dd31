import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import worker from '../../src/index'
import { bindings, migrate } from '../support/bindings'

/** Log lines when things go wrong: the event, never the caller's text. */
const ADMIN_TOKEN = 'an-admin-token-of-this-test-alone'
const SECRET = 'The launch code is 7-alpha-9; tell nobody.' // prose-ignore
const VALUE = 'metadata-value-of-ada'

let failing: ((statement: string) => string) | null = null

/** A database that quotes its input when it fails, as engines do. */
const DB = new Proxy(bindings.DB, {
  get(target, name) {
    const value = Reflect.get(target, name) as unknown
    if (typeof value !== 'function') return value
    const bound = value.bind(target) as (...args: unknown[]) => unknown
    return name !== 'batch' || failing === null
      ? bound
      : async () => {
          throw new Error((failing as (statement: string) => string)('batch'))
        }
  },
})

const lines: string[] = []
for (const level of ['log', 'warn', 'error', 'debug', 'info'] as const)
  vi.spyOn(console, level).mockImplementation((...args: unknown[]) => void lines.push(args.map(String).join(' ')))

type Env = Parameters<typeof worker.fetch>[1]
const env = { ...bindings, DB, AUTH_MODE: 'required', ADMIN_TOKEN, LOG_LEVEL: 'DEBUG' } as unknown as Env
const open = { ...(env as unknown as object), AUTH_MODE: 'open' } as unknown as Env

/** @param bearer null: in open mode */
async function ask(path: string, bearer: string | null, body?: unknown, as = bearer === null ? open : env) {
  const work: Promise<unknown>[] = []
  const ctx = { waitUntil: (promise: Promise<unknown>) => void work.push(promise), passThroughOnException: () => {} }
  const request = new Request(`http://localhost${path}`, {
    method: 'POST',
    headers: {
      ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
      host: 'localhost',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify(body),
  })
  const response = await worker.fetch(request as never, as, ctx as never)
  const copy = new Response(await response.text(), response)
  await Promise.all(work)
  return copy
}

const store = (bearer: string | null) =>
  ask('/mcp', bearer, {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: {
      name: 'store_context',
      arguments: { thread_id: 't', source: 'user', text: SECRET, metadata: { note: VALUE } },
    },
  })

beforeAll(migrate)
afterEach(() => {
  failing = null
  lines.length = 0
})

describe('the log', () => {
  it('holds no key, no text and no metadata value, whatever fails and however chatty the level', async () => {
    await ask('/api/v1/orgs', ADMIN_TOKEN, { id: 'logs', name: 'Logs' })
    const made = await ask('/api/v1/orgs/logs/keys', ADMIN_TOKEN, { name: 'k', role: 'writer' })
    const { key } = (await made.json()) as { key: string }
    expect((await store(key)).status).toBe(200)
    expect((await store(`${key}x`)).status).toBe(401)

    failing = () => `D1_ERROR: near "${SECRET}": syntax error (${VALUE}, Bearer ${key}, ${ADMIN_TOKEN.slice(0, 3)})`
    const refused = await ask('/api/v1/orgs', ADMIN_TOKEN, { id: 'other', name: SECRET })
    expect(refused.status).toBe(500)
    const named = await ask(`/api/v1/orgs/${VALUE}/projects`, ADMIN_TOKEN, { id: 'p', name: SECRET })
    expect(named.status).toBe(500)
    const failed = lines.filter((line) => line.includes('request_failed'))
    expect([failed.length, failed.every((line) => line.includes('syntax error'))]).toEqual([2, true])
    // Only the text of the same call is hidden, including the name in its address.
    expect(failed.filter((line) => line.includes('launch code'))).toEqual([])
    expect(failed.filter((line) => line.includes(VALUE))).toHaveLength(1)
    for (const line of lines) {
      expect(line).not.toContain(key)
      expect(line).not.toContain(ADMIN_TOKEN)
    }
  })

  it('logs a failure inside a tool without repeating the arguments', async () => {
    failing = () => `D1_ERROR: near "${SECRET}": SQLITE_ERROR (${VALUE})`
    const text = await (await store(null)).text()
    expect(text).toContain('internal')
    const failed = lines.find((line) => line.includes('tool_failed')) as string
    expect(failed).toContain('SQLITE_ERROR')
    for (const line of [...lines, text]) {
      expect(line).not.toContain('launch code')
      expect(line).not.toContain(VALUE)
    }
  })
})

describe('the line of a request', () => {
  it('logs the caller, the tool, the outcome, the cost and the trace, and never the text', async () => {
    lines.length = 0
    const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const call = (name: string, args: object) => ({
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: { name, arguments: args, _meta: { traceparent: trace } },
    })
    const text = 'nobody reads this in a log' // prose-ignore
    const response = await ask(
      '/mcp',
      null,
      call('store_context', { thread_id: 'secret thread', source: 'agent', text }),
    )
    expect(response.headers.get('server-timing')).toMatch(
      /^total;dur=\d+(, (auth|embed|database|index|render);dur=\d+){5}$/,
    )
    await ask('/mcp', null, call('store_context', { thread_id: '' }))
    const told = lines.filter((line) => line.includes('"event":"request"')).map((line) => JSON.parse(line))
    expect(told).toMatchObject([
      {
        ...{
          level: 'INFO',
          route: 'mcp',
          status: 200,
          org: 'local',
          key: 'local',
          tool: 'store_context',
          outcome: 'ok',
        },
        ...{ ms: expect.any(Number), ms_auth: expect.any(Number), ms_database: expect.any(Number), traceparent: trace },
        ...{ ms_embed: expect.any(Number), ms_index: expect.any(Number), ms_render: expect.any(Number) },
        ...{ statements: expect.any(Number), rows_read: expect.any(Number), rows_written: expect.any(Number) },
      },
      { tool: 'store_context', outcome: 'invalid_input' },
    ])
    expect(told[0].requestId).toMatch(/\S{16,}/)
    expect(told[0].rows_written).toBeGreaterThan(5)
    expect(lines.join('\n')).not.toMatch(/nobody reads|secret thread/)
    const stages = lines.filter((line) => line.includes('"event":"stage"')).map((line) => JSON.parse(line).stage)
    expect(stages).toContain('embed')
  })

  it('gives Analytics Engine, where it is bound, the same of each request, sampled by organization', async () => {
    const points: { indexes: string[]; blobs: string[]; doubles: number[] }[] = []
    const measured = { ...open, METRICS: { writeDataPoint: (point: (typeof points)[0]) => void points.push(point) } }
    await ask(
      '/mcp',
      null,
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_threads', arguments: {} } },
      measured,
    )
    expect(points).toEqual([
      { indexes: ['local'], blobs: ['mcp', '200', 'local', 'list_threads', 'ok'], doubles: expect.any(Array) },
    ])
    expect(points[0]?.doubles).toHaveLength(9)
  })
})

describe('/metrics', () => {
  const scrape = async (bearer: string | null) => {
    const ctx = { waitUntil: () => {}, passThroughOnException: () => {} }
    const headers: Record<string, string> =
      bearer === null ? { host: 'localhost' } : { host: 'localhost', authorization: `Bearer ${bearer}` }
    const request = new Request('http://localhost/metrics', { headers })
    return worker.fetch(request as never, bearer === null ? open : env, ctx as never)
  }

  it('reports calls, durations and totals to administrators in the format of Prometheus', async () => {
    const call = { name: 'search_context', arguments: {} }
    await ask('/mcp', null, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call })
    const response = await scrape(null)
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    const text = await response.text()
    // Each line as the format has it.
    const sample = /^[a-z_]+(\{[a-z_]+="([^"\\\n]|\\[\\"n])*"(,[a-z_]+="([^"\\\n]|\\[\\"n])*")*\})? -?[\d.e+-]+$/
    for (const line of text.trim().split('\n'))
      expect(line).toMatch(line.startsWith('#') ? /^# (HELP|TYPE) [a-z_]+ / : sample)
    expect(text).toMatch(/^commonplace_tool_calls_total\{tool="search_context",outcome="ok"\} [1-9]/m)
    expect(text).toMatch(/^commonplace_request_seconds_bucket\{route="mcp",status="2xx",le="\+Inf"\} [1-9]/m)
    expect(text).toMatch(/^commonplace_entries\{org="local"\} \d+$/m)
    expect(text).toMatch(/^commonplace_database_limit_bytes 10000000000$/m)
  })

  it('shows totals of no organization to the operator, and nothing to others', async () => {
    const operator = await (await scrape(ADMIN_TOKEN)).text()
    expect(operator).toContain('commonplace_tool_calls_total')
    expect(operator).not.toContain('org=')
    expect((await scrape('cp_nobody_knows_this_key_at_all')).status).toBe(401)
  })
})
