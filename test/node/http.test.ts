import { request as httpRequest } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ABOUT } from '../../src/domain/about'
import { FAMILIES } from '../../src/tools/catalogue'
import { startPlace } from '../support/places'
import { type RunningServer, startServer } from '../support/server'

/** The HTTP surface below and next to MCP, with a raw client. */
const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

// biome-ignore lint/suspicious/noExplicitAny: answers are untyped
type Json = any

const rpc = (method: string, params: unknown = {}) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })

/** The JSON-RPC message of a response; several at once come as server-sent events. */
async function message(response: Response): Promise<Json> {
  const text = await response.text()
  return JSON.parse(text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] as string))
}

/** Sends headers that fetch would not let through. */
function rawStatus(url: Pick<URL, 'href'>, headers: Record<string, string>, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url.href, { method: 'POST', headers: { ...HEADERS, ...headers } }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

describe('the HTTP surface in open mode', () => {
  let server: RunningServer
  beforeAll(async () => {
    server = await startPlace()
  })
  afterAll(() => server.stop())
  const at = (path: string) => new URL(path, server.url.href)
  const post = (body: string, headers: Record<string, string> = {}, path = '/mcp') =>
    fetch(at(path), { method: 'POST', headers: { ...HEADERS, ...headers }, body })

  it('answers /health without touching anything and /ready with each backend, both with the version of the server', async () => {
    expect(await (await fetch(at('/health'))).json()).toEqual({ status: 'ok', version: ABOUT.version })
    expect(await (await fetch(at('/ready'))).json()).toEqual({
      status: 'ready',
      version: ABOUT.version,
      checks: {
        database: { backend: 'sqlite', ok: true },
        images: { backend: 'r2', ok: true },
        vectors: { backend: 'object', ok: true },
      },
    })
  })

  it('answers tools/call without a session or initialize', async () => {
    const { result } = await message(await post(rpc('tools/call', { name: 'list_threads', arguments: {} })))
    expect(result.structuredContent).toMatchObject({ threads: [], total: 0 })
  })

  it('negotiates every revision of 2025 and speaks 2026-07-28 statelessly', async () => {
    for (const protocolVersion of ['2025-03-26', '2025-06-18', '2025-11-25']) {
      const params = { protocolVersion, capabilities: {}, clientInfo: { name: 't', version: '1' } }
      const response = await post(rpc('initialize', params))
      expect(response.headers.get('mcp-session-id')).toBeNull()
      expect((await message(response)).result.protocolVersion).toBe(protocolVersion)
    }
  })

  it('answers a single request of 2025 as one JSON text, with 200 also where it names no method', async () => {
    const takesAll = { accept: '*/*', 'mcp-protocol-version': '2025-06-18' }
    for (const [body, headers] of [
      [rpc('tools/call', { name: 'list_threads', arguments: {}, _meta: { progressToken: 1 } }), {}],
      [rpc('tools/list'), takesAll],
      [rpc('no/method'), takesAll],
    ] as const) {
      const response = await post(body, headers)
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json'])
      expect(await response.json()).toMatchObject(
        body.includes('no/method') ? { id: 1, error: { code: -32601 } } : { id: 1, result: {} },
      )
    }
    expect((await post(rpc('tools/list'), { 'mcp-protocol-version': '1999-01-01' })).status).toBe(400)
    expect((await post(rpc('tools/list'), { 'content-type': 'text/plain' })).status).toBe(415)
    expect((await post(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }))).status).toBe(202)
  })

  it('lists only the families that the path names', async () => {
    const names = async (path: string) =>
      (await message(await post(rpc('tools/list'), {}, path))).result.tools.map(({ name }: { name: string }) => name)
    const families = Object.keys(FAMILIES)
    const each = await Promise.all(families.map((family) => names(`/mcp/${family}`)))
    expect(each.flat()).toEqual(await names('/mcp'))
    expect(await names(`/mcp/${families.toReversed().join(',')}`)).toEqual(await names('/mcp'))
    expect(await names('/mcp/core')).toEqual([
      ...['context', 'remember', 'search', 'fetch', 'update', 'forget', 'restore', 'history', 'changes', 'projects'],
    ])
    const unknown = await post(rpc('tools/list'), {}, '/mcp/nonsense')
    expect(unknown.status).toBe(404)
    expect(((await unknown.json()) as Json).error.message).toBe('No such tool family: nonsense')
  })

  it('refuses foreign origins and foreign hosts, and takes its own', async () => {
    const body = rpc('tools/list')
    expect((await post(body, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await post(body, { origin: 'null' })).status).toBe(403)
    expect((await post(body, { origin: server.url.origin })).status).toBe(200)
    for (const path of ['/mcp', '/ready', `/images/${'0'.repeat(64)}`, '/nowhere'])
      expect([
        path,
        await rawStatus(at(path), { host: 'rebound.example', origin: 'http://rebound.example' }, body),
      ]).toEqual([path, 403])
  })

  it('refuses a presented credential that is wrong, also in open mode', async () => {
    const response = await post(rpc('tools/list'), { authorization: 'Bearer cp_wrong' })
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer .*invalid_token/)
    expect(response.headers.get('www-authenticate')).not.toContain('resource_metadata')
  })

  it('answers a wrong key in open mode that it is not accepted and that none is needed', async () => {
    for (const sent of ['Bearer cp_wrong', `Bearer cp_${'a'.repeat(49)}`, 'Bearer anything', 'Basic abc']) {
      const { error } = (await (await post(rpc('tools/list'), { authorization: sent })).json()) as Json
      expect([sent, error.data.code, error.message]).toEqual([
        ...[sent, 'unauthorized'],
        expect.stringMatching(
          /does not accept the key that was sent: it is unknown or misspelled, has expired, or was revoked.*open mode.*needs no key/,
        ),
      ])
      expect(error.message).not.toContain('ADMIN_TOKEN')
    }
    // Clients with an unset option send the scheme alone, which counts as no credential.
    for (const sent of ['Bearer', 'Bearer '])
      expect((await post(rpc('tools/list'), { authorization: sent })).status).toBe(200)
  })

  it('answers compressed bodies with 415 on every route that takes one, and reports what to send', async () => {
    const { gzipSync } = await import('node:zlib')
    const send = (path: string, encoding: string, body: Buffer | string) =>
      fetch(at(path), { method: 'POST', headers: { ...HEADERS, 'content-encoding': encoding }, body })
    const paths = ['/mcp', '/mcp/core', '/api/v1/orgs', '/api/v1/code/p/files', '/token', '/register', '/authorize']
    for (const path of paths)
      for (const encoding of ['gzip', 'br', 'identity, gzip']) {
        const answer = await send(path, encoding, gzipSync(rpc('tools/list')))
        const { error } = (await answer.json()) as Json
        expect([path, answer.status, error.data?.code ?? error.code, error.message]).toEqual([
          ...[path, 415, 'unsupported', expect.stringContaining('without Content-Encoding')],
        ])
      }
    expect((await send('/mcp', 'identity', rpc('tools/list'))).status).toBe(200)
  })

  it('takes bodies far above the default of 4 MB, and answers 413 beyond 100 MB', async () => {
    const text = 'x'.repeat(8_000_000)
    const args = { thread_id: 't', source: 'user', text }
    const { result } = await message(await post(rpc('tools/call', { name: 'store_context', arguments: args })))
    expect(result.structuredContent.error.message).toMatch(
      /^text has more than 2000000 characters; at most 1000000 UTF-8/,
    )
    const tooLarge = await post(`"${'x'.repeat(100_000_000)}"`)
    expect(tooLarge.status).toBe(413)
    expect(((await tooLarge.json()) as Json).error.message).toContain('100000000')
  })

  it('answers malformed JSON with a parse error, never with a 500', async () => {
    for (const body of ['{', '', 'null', '[]', '"text"', '{"jsonrpc":"2.0"}', '\u0000'])
      expect([body, (await post(body)).status]).toEqual([body, 400])
    expect((await post('{', { 'content-type': 'text/plain' })).status).toBeGreaterThanOrEqual(400)
    expect((await fetch(server.url, { headers: { accept: 'text/event-stream' } })).status).toBe(405)
    expect((await fetch(server.url, { method: 'DELETE' })).status).toBe(405)
  })

  it('answers unknown routes and images with a clean 404', async () => {
    expect((await fetch(at('/nowhere'))).status).toBe(404)
    expect((await fetch(at(`/images/${'0'.repeat(64)}`))).status).toBe(404)
  })
})

it('logs unknown names in DISABLED_TOOLS once, and continues without them', async () => {
  const lines: string[] = []
  const disabled = { DISABLED_TOOLS: 'Delete_Context, delete_contex, nonsense' }
  const server = await startServer(disabled, undefined, { onLog: (line) => lines.push(line) })
  try {
    for (let i = 0; i < 2; i++) expect((await fetch(new URL('/ready', server.url.href))).status).toBe(200)
    const told = lines.map((line) => JSON.parse(line)).filter(({ event }) => event === 'unknown_disabled_tools')
    expect(told).toEqual([{ level: 'WARNING', event: 'unknown_disabled_tools', names: ['delete_contex', 'nonsense'] }])
  } finally {
    await server.stop()
  }
})
