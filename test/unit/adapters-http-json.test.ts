import { afterEach, describe, expect, it } from 'vitest'
import { createJsonClient, type HttpOptions, parseAddress, retryAfterMs } from '../../src/adapters/http-json/client'
import { batchFrom } from '../../src/adapters/http-json/embedding'
import type { ProviderProblem } from '../../src/adapters/http-json/retry'
import {
  breaksOff,
  deadUrl,
  hangsUp,
  type ModelServer,
  notJson,
  replies,
  silent,
  startModelServer,
} from '../fakes/model-server'
import { createTestTiming } from '../fakes/timing'

/** The HTTP behaviour that all adapters of model servers share. */
const servers: ModelServer[] = []

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

async function start(answer: unknown = { fine: true }): Promise<ModelServer> {
  const server = await startModelServer(() => ({ json: answer }))
  servers.push(server)
  return server
}

const client = (url: string, options: HttpOptions = {}, key = '') =>
  createJsonClient(
    {
      name: 'Acme',
      address: parseAddress(url, 'ACME_HOST'),
      addressVariable: 'ACME_HOST',
      headers: key === '' ? {} : { authorization: `Bearer ${key}` },
      secrets: [key],
      whenUnreachable: 'start Acme or set ACME_HOST',
    },
    options,
  )

const failure = async (work: Promise<unknown>): Promise<ProviderProblem> => {
  const outcome = await work.then(
    () => null,
    (error: unknown) => error,
  )
  expect(outcome).toMatchObject({ code: 'unavailable', retryable: true })
  return outcome as ProviderProblem
}

const unavailable503 = (headers: Record<string, string> = {}) => replies({ status: 503, headers, json: {} })

describe('a request', () => {
  it('posts JSON below the base path and returns the parsed answer', async () => {
    const server = await start({ answer: [1, 2] })
    expect(await client(`${server.url}/base/?version=2`).post('/go', { ask: 'ö' })).toEqual({ answer: [1, 2] })
    expect(server.received).toMatchObject([
      { path: '/base/go?version=2', body: { ask: 'ö' }, headers: { 'content-type': 'application/json' } },
    ])
  })

  it('sends credentials of the address as a header', async () => {
    const server = await start()
    await client(server.url.replace('://', '://me:p%40ss@')).post('/go', {})
    expect(server.received[0]?.headers.authorization).toBe(`Basic ${btoa('me:p@ss')}`)
  })
})

describe('a passing fault', () => {
  it('is tried again with jittered waits that double', async () => {
    const server = await start()
    server.fail(replies({ status: 500, json: {} }), replies({ status: 502, text: 'bad gateway' }))
    const timing = createTestTiming(1)
    expect(await client(server.url, timing).post('/go', {})).toEqual({ fine: true })
    expect(timing.sleeps).toEqual([300, 600])
    const other = createTestTiming(0)
    server.fail(replies({ status: 500, json: {} }))
    await client(server.url, other).post('/go', {})
    expect(other.sleeps).toEqual([150])
  })

  it.each([
    ['a connection closed without an answer', hangsUp],
    ['an answer that breaks off', breaksOff],
    ['a page instead of JSON', notJson],
    ['JSON that ends too early', replies({ text: '{"fine": tr' })],
    ['an overloaded server', replies({ status: 529, json: {} })],
  ])('is tried again: %s', async (_name, fault) => {
    const server = await start()
    server.fail(fault)
    expect(await client(server.url, createTestTiming()).post('/go', {})).toEqual({ fine: true })
    expect(server.received).toHaveLength(2)
  })

  it('is given up after three tries', async () => {
    const server = await start()
    server.fail(...Array.from({ length: 5 }, () => replies({ status: 500, json: {} })))
    const problem = await failure(client(server.url, createTestTiming()).post('/go', {}))
    expect(problem.message).toBe('Acme failed (status 500); try again, or look at its log')
    expect(server.received).toHaveLength(3)
  })

  it('reports that a server is silent, after all tries with their timeouts', async () => {
    const server = await start()
    server.fail(silent, silent)
    const options = { ...createTestTiming(), tries: 2, tryMs: 500 }
    const problem = await failure(client(server.url, options).post('/go', {}))
    expect(problem.message).toBe('Acme did not answer within 0.5 s; it may still be loading the model, try again')
    expect(problem.reason).toBe('timeout')
    expect(server.received).toHaveLength(2)
  })

  it('covers an answer that never ends', async () => {
    const server = await start()
    server.fail((response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write('{"fine":')
    })
    expect(await client(server.url, { ...createTestTiming(), tryMs: 1000 }).post('/go', {})).toEqual({ fine: true })
  })
})

describe('a server that asks to wait', () => {
  it('is given the time that it asks for', async () => {
    const server = await start()
    server.fail(
      replies({ status: 429, headers: { 'retry-after': '2' }, json: {} }),
      unavailable503({ 'retry-after': '1.5' }),
    )
    const timing = createTestTiming()
    await client(server.url, timing).post('/go', {})
    expect(timing.sleeps).toEqual([2000, 1500])
  })

  it('is not waited for beyond the deadline', async () => {
    const server = await start()
    server.fail(unavailable503({ 'retry-after': '20' }), unavailable503({ 'retry-after': '20' }))
    const timing = createTestTiming()
    await failure(client(server.url, timing).post('/go', {}))
    expect(timing.sleeps).toEqual([20_000])
    expect(server.received).toHaveLength(2)
  })

  it('may name the time as seconds or as a date, and nonsense counts as nothing', () => {
    const now = Date.parse('2026-11-20T12:00:00Z')
    expect(retryAfterMs('7', now)).toBe(7000)
    expect(retryAfterMs('Fri, 20 Nov 2026 12:00:30 GMT', now)).toBe(30_000)
    expect(retryAfterMs('Fri, 20 Nov 2026 11:00:00 GMT', now)).toBe(0)
    expect(retryAfterMs('soon', now)).toBeUndefined()
    expect(retryAfterMs(null, now)).toBeUndefined()
  })

  it('shares one deadline with the other requests of a call', async () => {
    const server = await start()
    const timing = createTestTiming()
    const acme = client(server.url, timing)
    const deadline = acme.deadline()
    await timing.sleep(25_000)
    const problem = await failure(acme.post('/go', {}, deadline))
    expect(problem.message).toBe('Acme needed more than 25 s for this much text; send less at once')
    expect(server.received).toHaveLength(0)
  })
})

describe('a lasting fault', () => {
  it.each([
    [400, 'Acme refused the request (status 400); look at the log of this server'],
    [401, 'Acme refused the credentials (status 401); check its key'],
    [404, 'Acme has no such endpoint; check ACME_HOST'],
    [413, 'Acme refused the request (status 413); look at the log of this server'],
  ])('is not tried again: status %i', async (status, message) => {
    const server = await start()
    server.fail(replies({ status, json: { error: 'no' } }))
    expect((await failure(client(server.url, createTestTiming()).post('/go', {}))).message).toBe(message)
    expect(server.received).toHaveLength(1)
  })

  it('names what to start or set when nothing listens', async () => {
    const problem = await failure(client(await deadUrl(), createTestTiming()).post('/go', {}))
    expect(problem.message).toBe('Acme cannot be reached; start Acme or set ACME_HOST')
    expect(String(problem.cause)).toContain('ECONNREFUSED')
  })

  it('follows no redirect, so that a key never reaches another host', async () => {
    const [server, elsewhere] = [await start(), await start()]
    server.fail(replies({ status: 307, headers: { location: `${elsewhere.url}/go` }, json: {} }))
    const problem = await failure(client(server.url, createTestTiming(), 'key-1').post('/go', {}))
    expect(problem.message).toBe(
      'Acme answered with a redirect, which is not followed; set ACME_HOST to where it leads',
    )
    expect(elsewhere.received).toHaveLength(0)
  })

  it('reads no more of an answer than it may be long', async () => {
    const server = await start({ long: 'x'.repeat(5000) })
    const problem = await failure(client(server.url, { ...createTestTiming(), maxBytes: 1000 }).post('/go', {}))
    expect(problem.message).toBe('Acme sent a larger response than expected')
    expect(server.received).toHaveLength(1)
  })
})

describe('secrets', () => {
  it('appear neither in the message nor in its cause, even when the server repeats them', async () => {
    const server = await startModelServer(({ headers }) => ({ status: 400, json: { error: headers.authorization } }))
    servers.push(server)
    const withKey = await failure(client(server.url, createTestTiming(), 'sk-very-secret').post('/go', {}))
    const withPassword = await failure(
      client(`${server.url.replace('://', '://me:pass-word@')}/?key=query-key`, createTestTiming()).post('/go', {}),
    )
    for (const problem of [withKey, withPassword]) {
      const said = `${problem.message} ${problem.stack} ${String(problem.cause)} ${(problem.cause as Error).stack}`
      expect(said).not.toMatch(/sk-very-secret|pass-word|query-key/)
      expect(said).not.toContain(btoa('me:pass-word'))
    }
    expect(String(withKey.cause)).toContain('status 400')
  })

  it('keep the address out of the message', async () => {
    const problem = await failure(client(await deadUrl(), createTestTiming()).post('/go', {}))
    expect(problem.message).not.toContain('127.0.0.1')
  })
})

describe('an address', () => {
  it('may be written without a scheme and with a slash at its end', () => {
    expect(parseAddress('localhost:11434/', 'X').at('/api')).toBe('http://localhost:11434/api')
    expect(parseAddress('https://example.org/v1', 'X').at('/api')).toBe('https://example.org/v1/api')
  })

  it.each(['', 'http://', 'ftp://me:secret@host', 'http://me:secret@ho st'])('is refused by name: "%s"', (value) => {
    expect(() => parseAddress(value, 'ACME_HOST')).toThrow(
      'ACME_HOST is not a web address; write it like http://localhost:11434',
    )
  })
})

describe('batches', () => {
  it('contain a limited number of texts and characters, but always one text', () => {
    expect(batchFrom(['a', 'b', 'c'], { texts: 2, characters: 100 })).toBe(2)
    expect(batchFrom(['aaaa', 'bb', 'cccccccccc', 'd'], { texts: 9, characters: 6 })).toBe(2)
    expect(batchFrom(['cccccccccc', 'd'], { texts: 9, characters: 6 })).toBe(1)
    expect(batchFrom(['d'], { texts: 9, characters: 6 })).toBe(1)
  })
})
