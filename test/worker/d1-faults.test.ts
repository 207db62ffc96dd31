import { beforeAll, describe, expect, it, vi } from 'vitest'
import worker from '../../src/index'
import { bindings, migrate } from '../support/bindings'

/** D1's own faults as callers hear them: each message of its published error list, whether an isolate has seen the database before or not. */
const ALLOWANCE = (rows: string) =>
  `Your account has exceeded D1's free tier daily row ${rows} limit. Upgrade to a paid plan or wait until tomorrow (midnight UTC) to continue.`
const ACCOUNT_FULL =
  "Your account has exceeded D1's maximum account storage limit, please contact Cloudflare to raise your limit."

const AGAIN = { code: 'unavailable', retryable: true }
const TOO_MUCH = { code: 'limit_exceeded', retryable: false }
const BUG = { code: 'internal', retryable: false }
const UNTIL = /until \d{4}-\d\d-\d\dT00:00:00\.000Z \(midnight UTC\).*nothing was changed/
const UNKNOWN = /it is not known whether the change was made/
const UNCHANGED = /nothing was changed/
const INSIDE = /Internal server error/

/** Message, its code, the answer of a write, the answer of a read. */
const FAULTS = [
  ['D1_TYPE_ERROR: Type undefined not supported for value undefined', BUG, INSIDE, INSIDE],
  ['D1_COLUMN_NOTFOUND: Column not found (nothing)', BUG, INSIDE, INSIDE],
  ['D1_EXEC_ERROR: Error in line 1: INSERTZ: near "INSERTZ": syntax error', BUG, INSIDE, INSIDE],
  ['D1_ERROR: too many SQL variables at offset 8: SQLITE_ERROR', BUG, INSIDE, INSIDE],
  ['D1_ERROR: No SQL statements detected.', BUG, INSIDE, INSIDE],
  [`D1_ERROR: ${ACCOUNT_FULL}`, TOO_MUCH, UNCHANGED, UNCHANGED],
  ['D1_ERROR: Exceeded maximum DB size.', TOO_MUCH, UNCHANGED, UNCHANGED],
  [`D1_ERROR: ${ALLOWANCE('read')}`, TOO_MUCH, UNTIL, UNTIL],
  [`D1_ERROR: ${ALLOWANCE('write')}`, TOO_MUCH, UNTIL, UNTIL],
  ['D1_ERROR: D1 DB reset because its code was updated.', AGAIN, UNKNOWN, UNCHANGED],
  [
    'D1_ERROR: Internal error while starting up D1 DB storage caused object to be reset.',
    ...([AGAIN, UNKNOWN, UNCHANGED] as const),
  ],
  ['D1_ERROR: Network connection lost.', AGAIN, UNKNOWN, UNCHANGED],
  ['D1_ERROR: Replica disconnected from primary.', AGAIN, UNKNOWN, UNCHANGED],
  ['D1_ERROR: Internal error in D1 DB storage caused object to be reset.', AGAIN, UNKNOWN, UNCHANGED],
  ['D1_ERROR: Cannot resolve D1 DB due to transient issue on remote node.', AGAIN, UNCHANGED, UNCHANGED],
  ["D1_ERROR: Can't read from request stream because client disconnected.", AGAIN, UNKNOWN, UNCHANGED],
  [
    'D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.',
    ...([AGAIN, UNKNOWN, UNCHANGED] as const),
  ],
  ['D1_ERROR: D1 DB is overloaded. Requests queued for too long.', AGAIN, UNCHANGED, UNCHANGED],
  ['D1_ERROR: D1 DB is overloaded. Too many requests queued.', AGAIN, UNCHANGED, UNCHANGED],
  ["D1_ERROR: D1 DB's isolate exceeded its memory limit and was reset.", AGAIN, UNKNOWN, UNCHANGED],
  ['D1_ERROR: D1 DB exceeded its memory limit and was reset.', AGAIN, UNKNOWN, UNCHANGED],
  ['D1_ERROR: D1 DB exceeded its CPU time limit and was reset.', AGAIN, UNKNOWN, UNCHANGED],
  ['D1_ERROR: internal error; reference = abc', AGAIN, UNKNOWN, UNCHANGED],
  // Of the runtime, when one request has asked too often.
  ['Too many API requests by single worker invocation.', TOO_MUCH, /request less/, /request less/],
] as const

type Env = Parameters<typeof worker.fetch>[1]

/** A Worker that has its own view of the database, as an isolate has; `fail` makes every query of it fail. */
function isolate() {
  let failing: string | null = null
  const DB = new Proxy(bindings.DB, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown
      if (typeof value !== 'function') return value
      const bound = value.bind(target) as (...args: unknown[]) => unknown
      if (name !== 'batch') return bound
      return (...args: unknown[]) => (failing === null ? bound(...args) : Promise.reject(new Error(failing)))
    },
  })
  const env = { ...bindings, DB, AUTH_MODE: 'open', LOG_LEVEL: 'CRITICAL' } as unknown as Env
  async function ask(path: string, body?: unknown): Promise<Response> {
    const work: Promise<unknown>[] = []
    const ctx = { waitUntil: (promise: Promise<unknown>) => void work.push(promise), passThroughOnException: () => {} }
    const request = new Request(`http://localhost${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const response = await worker.fetch(request as never, env, ctx as never)
    const copy = new Response(await response.text(), response)
    await Promise.allSettled(work)
    return copy
  }
  const call = (name: string, args: unknown) =>
    ask('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } })
  return {
    fail: (message: string | null) => {
      failing = message
    },
    ask,
    call,
    // biome-ignore lint/suspicious/noExplicitAny: results are untyped
    errorOf: async (name: string, args: unknown): Promise<any> => {
      const { result } = (await (await call(name, args)).json()) as {
        result: { structuredContent: { error: unknown } }
      }
      return result.structuredContent.error
    },
  }
}

describe("D1's own faults", () => {
  beforeAll(async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    await migrate()
  })
  const warm = isolate()

  it.each(FAULTS)(
    'have their code and state whether to try again on a warm isolate: %s',
    async (message, is, write, read) => {
      await warm.ask('/ready')
      warm.fail(message)
      const stored = await warm.errorOf('store_context', { thread_id: 't', source: 'user', text: 'apples' })
      const listed = await warm.errorOf('search_context', {})
      warm.fail(null)
      expect(stored).toMatchObject({ ...is, message: expect.stringMatching(write) })
      expect(listed).toMatchObject({ ...is, message: expect.stringMatching(read) })
      expect(JSON.stringify([stored, listed])).not.toMatch(/D1_|SQL|reference/)
    },
  )

  it.each(FAULTS)('have the same on the first query of a cold isolate: %s', async (message, is, _, read) => {
    const cold = isolate()
    cold.fail(message)
    const answer = await cold.call('search_context', {})
    const { error } = (await answer.json()) as { error: { message: string; data: object } }
    expect({ ...error.data, message: error.message }).toMatchObject({ ...is, message: expect.stringMatching(read) })
    expect(JSON.stringify(error)).not.toMatch(/D1_|SQL|reference/)
    cold.fail(null)
    expect((await cold.ask('/ready')).status).toBe(200)
  })

  it('report to a program when the daily limit of the Free plan resets, by date and by Retry-After', async () => {
    const cold = isolate()
    cold.fail(ALLOWANCE('read'))
    const answer = await cold.call('search_context', {})
    const { error } = (await answer.json()) as { error: { data: { details: { until: string } } } }
    const left = (Date.parse(error.data.details.until) - Date.now()) / 1000
    expect(left % 86_400).toBe(left)
    expect(answer.status).toBe(429)
    expect(Math.abs(Number(answer.headers.get('retry-after')) - left)).toBeLessThan(60)
  })

  it('are reported by /ready', async () => {
    const pinged = isolate()
    await pinged.ask('/ready')
    pinged.fail('D1_ERROR: D1 DB is overloaded. Too many requests queued.')
    const answer = await pinged.ask('/ready')
    expect(answer.status).toBe(503)
    const { checks } = (await answer.json()) as { checks: object }
    expect(checks).toMatchObject({ database: { ok: false, problem: expect.stringContaining('is overloaded') } })
  })
})
