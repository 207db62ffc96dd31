import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ABOUT } from '../../src/domain/about'
import { startTeam, type Team } from '../support/access'
import { raw } from '../support/raw'

/** How clients write requests that mean the same, and what each of them shows of an error. */
let team: Team
let key: string
beforeAll(async () => {
  team = await startTeam({
    ALLOWED_ORIGINS: 'https://app.example, chrome-extension://abcdefghijklmnop',
  })
  key = (await team.key('forms')).key
})
afterAll(() => team.stop())

const TYPES = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const rpc = (method: string, params?: unknown) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, ...(params === undefined ? {} : { params }) })
const LIST = rpc('tools/list')

const send = (
  path: string,
  headers: Record<string, string> = {},
  method = 'POST',
  body = method === 'POST' ? LIST : '',
) => raw(team.server, path, method, { ...TYPES, authorization: `Bearer ${key}`, ...headers }, body)
const withoutKey = (path: string, headers: Record<string, string> = {}, method = 'POST', body = LIST) =>
  raw(team.server, path, method, { ...TYPES, ...headers }, body)
const answer = async (body: string) => JSON.parse((await send('/mcp', {}, 'POST', body)).text)
const cors = ({ headers }: { headers: Record<string, unknown> }) => headers['access-control-allow-origin']

describe('an address with a closing slash', () => {
  it('is served as without it', async () => {
    for (const path of ['/mcp/', '/mcp/core/', '/mcp/threads,packs/', '/mcp/connector/'])
      expect([path, (await send(path)).text]).toEqual([path, (await send(path.slice(0, -1))).text])
    for (const path of ['/health/', '/ready/', '/mcp/server-card/'])
      expect([path, (await withoutKey(path, {}, 'GET', '')).status]).toEqual([path, 200])
    expect((await send('/mcp/nonsense/')).status).toBe(404)
    expect((await send('/mcp//')).status).toBe(404)
  })

  it('names its own metadata, whose resource is the address that the client dialed', async () => {
    for (const path of ['/mcp/', '/mcp/core/']) {
      const refused = await withoutKey(path)
      const named = /resource_metadata="([^"]+)"/.exec(String(refused.headers['www-authenticate']))?.[1] ?? ''
      const metadata = await raw(team.server, new URL(named).pathname, 'GET', {})
      expect([path, refused.status, JSON.parse(metadata.text).resource]).toEqual([
        ...[path, 401],
        `${team.server.url.origin}${path}`,
      ])
    }
  })
})

describe('the header Accept', () => {
  it('may name one type, a group of types, any letters or nothing: the answer is JSON', async () => {
    for (const accept of [
      ...[
        'application/json',
        'text/event-stream',
        'application/*',
        'APPLICATION/JSON',
        'Application/Json, Text/Event-Stream',
      ],
      ...['*/*', 'application/json;q=0.9, */*;q=0.1', 'text/html', 'text/plain, */*', ''],
    ]) {
      const { status, headers, text } = await send('/mcp', { accept })
      expect([accept, status, headers['content-type']]).toEqual([accept, 200, 'application/json'])
      expect(JSON.parse(text).result.tools.length).toBeGreaterThan(9)
    }
    const { accept: _, ...types } = TYPES
    const headers = { ...types, authorization: `Bearer ${key}` }
    expect((await raw(team.server, '/mcp', 'POST', headers, LIST)).status).toBe(200)
  })
})

describe('null', () => {
  it('means that an optional member of the protocol is absent', async () => {
    for (const params of [null, { _meta: null }, { cursor: null }, { _meta: { progressToken: null } }, []])
      expect((await answer(rpc('tools/list', params))).result.tools.length).toBeGreaterThan(9)
    for (const params of [{ arguments: null }, { arguments: [] }, { arguments: {}, _meta: null }])
      expect((await answer(rpc('tools/call', { name: 'list_threads', ...params }))).result.isError).not.toBe(true)
    const clientInfo = { name: 'c', version: '1', title: null, websiteUrl: null, icons: null }
    for (const capabilities of [null, [], { roots: null, sampling: null, elicitation: null, experimental: null }]) {
      const params = { protocolVersion: '2025-06-18', capabilities, clientInfo, _meta: null }
      expect((await answer(rpc('initialize', params))).result.protocolVersion).toBe('2025-06-18')
    }
    const { result } = await answer(rpc('prompts/list', null))
    const prompt = result.prompts.find((one: { arguments: { required?: boolean }[] }) =>
      one.arguments.every((a) => !a.required),
    )
    if (prompt !== undefined) {
      const args = Object.fromEntries(prompt.arguments.map(({ name }: { name: string }) => [name, null]))
      expect((await answer(rpc('prompts/get', { name: prompt.name, arguments: args }))).result.messages).toHaveLength(1)
    }
    const note = JSON.stringify({ jsonrpc: '2.0', id: null, method: 'notifications/initialized', params: null })
    expect((await send('/mcp', {}, 'POST', note)).status).toBe(202)
  })

  it('keeps its meaning in the arguments of a tool', async () => {
    const made = { thread_id: 't', source: 'agent', text: 'x', metadata: { phase: 'one' } }
    const { result } = await answer(rpc('tools/call', { name: 'store_context', arguments: made }))
    const id = result.structuredContent.context_id
    const change = { context_id: id, metadata_patch: { phase: null } }
    expect((await answer(rpc('tools/call', { name: 'update_context', arguments: change }))).result.isError).not.toBe(
      true,
    )
    const read = await answer(rpc('tools/call', { name: 'get_context_by_ids', arguments: { context_ids: [id] } }))
    expect(JSON.stringify(read.result.structuredContent)).not.toContain('"phase"')
  })
})

it('answers every malformed message with a sentence that names the member, never with the findings of a validator', async () => {
  for (const body of [
    ...[rpc('tools/list', { cursor: 5 }), rpc('tools/call', { name: 5 }), rpc('tools/call', {}), rpc('tools/call')],
    ...[rpc('tools/call', { name: 'list_threads', arguments: '{}' }), rpc('initialize', {}), rpc('initialize', null)],
    ...[rpc('prompts/get', {}), rpc('prompts/get', { name: 'x', arguments: { a: 5 } }), rpc('completion/complete', {})],
    ...[rpc('resources/read', {}), rpc('resources/read', { uri: 5 }), rpc('tools/list', { _meta: 5 })],
    ...['{"jsonrpc":"1.0","id":1,"method":"tools/list"}', '{"id":1}', '5', '[5]', '"x"', rpc('tools/list', 'x')],
  ]) {
    const { text } = await send('/mcp', {}, 'POST', body)
    const { error } = JSON.parse(text)
    expect([body, typeof error.code, error.message]).toEqual([body, 'number', expect.stringMatching(/^[A-Z]/)])
    expect([body, text]).toEqual([
      body,
      expect.not.stringMatching(/invalid_type|\\n|\[\s*\{|ZodError|expected \w+, received/),
    ])
  }
  expect((await answer(rpc('tools/call', { name: 5 }))).error.message).toBe(
    'Invalid params of tools/call: params.name must be of type string, not number',
  )
})

describe('a refusal at the endpoint', () => {
  it('is a JSON-RPC error with its sentence, whose code of ours is in data', async () => {
    const refusals = [
      [await withoutKey('/mcp'), 401, 'unauthorized'],
      [await withoutKey('/mcp', { authorization: 'Bearer cp_wrong' }), 401, 'unauthorized'],
      [await send('/mcp', { origin: 'https://evil.example' }), 403, 'forbidden'],
      [await send('/mcp/nonsense'), 404, 'not_found'],
      [await send('/mcp/a/b'), 404, 'not_found'],
      [await send('/sse'), 404, 'not_found'],
      [await send('/'), 404, 'not_found'],
      [await send('/mcp?api_key=x'), 400, 'invalid_input'],
    ] as const
    for (const [{ status, text }, expected, code] of refusals) {
      const body = JSON.parse(text)
      expect(body).toEqual({
        jsonrpc: '2.0',
        id: null,
        error: { code: -32_000, message: expect.stringMatching(/\w{3,} \w+/), data: { code, retryable: false } },
      })
      expect(status).toBe(expected)
    }
  })

  it('has the form of the platform at its other routes, with the sentence in the same place', async () => {
    const { error } = JSON.parse((await withoutKey('/api/v1/orgs', {}, 'GET', '')).text)
    expect(error).toMatchObject({ code: 'unauthorized', message: expect.any(String), retryable: false })
  })
})

describe('GET at the endpoint', () => {
  it('answers curl with one line of JSON: what this is and how to connect', async () => {
    for (const path of ['/mcp', '/mcp/core/']) {
      const { status, text } = await send(path, { accept: '*/*' }, 'GET')
      const address = `${team.server.url.origin}${path.replace(/\/$/, '')}`
      expect(text).not.toContain('\n')
      expect([status, JSON.parse(text)]).toEqual([
        200,
        {
          name: 'Commonplace',
          version: ABOUT.version,
          description: expect.stringContaining('MCP server (streamable HTTP)'),
          url: address,
          connect: `claude mcp add --transport http commonplace ${address} --header "Authorization: Bearer <key>"`,
        },
      ])
    }
  })

  it('begins OAuth without a key, since clients probe the address so, and states the same in the refusal', async () => {
    const { status, headers, text } = await withoutKey('/mcp', { accept: '*/*' }, 'GET', '')
    expect([status, headers['www-authenticate']]).toEqual([401, expect.stringContaining('resource_metadata=')])
    expect(JSON.parse(text).error.data.server.connect).toMatch(/^claude mcp add /)
  })

  it('has no stream of events for a client that listens', async () => {
    expect((await send('/mcp', { accept: 'text/event-stream' }, 'GET')).status).toBe(405)
    expect((await send('/mcp', { accept: 'application/json, text/event-stream' }, 'GET')).status).toBe(405)
  })
})

describe('a page of another origin', () => {
  const asks = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization,mcp-method' }
  const PUBLIC = [
    '/.well-known/oauth-protected-resource',
    '/.well-known/oauth-protected-resource/mcp/core',
    '/.well-known/oauth-authorization-server',
    '/.well-known/openid-configuration',
    '/mcp/server-card',
    '/register',
    '/token',
  ]

  it('may find out how to connect, register and exchange a code, whatever its origin is', async () => {
    for (const origin of ['https://anywhere.example', 'null', 'http://localhost:6274'])
      for (const path of PUBLIC) {
        const allowed = await withoutKey(path, { origin, ...asks }, 'OPTIONS', '')
        expect([path, origin, allowed.status]).toEqual([path, origin, 204])
        const headers = String(allowed.headers['access-control-allow-headers']).toLowerCase()
        for (const name of ['authorization', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'])
          expect(headers.split(', ')).toContain(name)
        const method = /register|token/.test(path) ? 'POST' : 'GET'
        const got = await withoutKey(path, { origin }, method, method === 'POST' ? '{}' : '')
        expect([path, origin, got.status === 403, ['*', origin].includes(String(cors(got)))]).toEqual([
          path,
          origin,
          false,
          true,
        ])
        expect(got.headers['access-control-allow-credentials']).toBeUndefined()
      }
  })

  it('may call the endpoint with a bearer token when ALLOWED_ORIGINS names its origin', async () => {
    for (const origin of ['https://app.example', 'chrome-extension://abcdefghijklmnop']) {
      const allowed = await withoutKey('/mcp', { origin, ...asks }, 'OPTIONS', '')
      expect([allowed.status, cors(allowed), allowed.headers.vary]).toEqual([204, origin, 'Origin'])
      const called = await send('/mcp/core', { origin })
      expect([called.status, cors(called)]).toEqual([200, origin])
      expect(String(called.headers.vary)).toContain('Origin')
      const refused = await withoutKey('/mcp', { origin })
      expect([refused.status, cors(refused)]).toEqual([401, origin])
      expect(String(refused.headers['access-control-expose-headers'])).toContain('WWW-Authenticate')
      expect(called.headers['access-control-allow-credentials']).toBeUndefined()
    }
  })

  it('is refused at the endpoint when its origin only resembles one that is named', async () => {
    for (const origin of [
      ...[
        'null',
        'https://evil.example',
        'http://app.example',
        'https://app.example:8443',
        'https://app.example.evil.example',
      ],
      ...[
        'https://sub.app.example',
        'https://app.example@evil.example',
        'https://app.example/',
        'https://app.example, https://x.example',
      ],
      ...['chrome-extension://other', 'file://', 'https://APP.example.'],
    ]) {
      const refused = await send('/mcp', { origin })
      expect([origin, refused.status, cors(refused)]).toEqual([origin, 403, undefined])
      const asked = await withoutKey('/mcp', { origin, ...asks }, 'OPTIONS', '')
      expect([origin, asked.status, cors(asked)]).toEqual([origin, 403, undefined])
    }
  })

  it('reaches nothing but the endpoint, whatever ALLOWED_ORIGINS names', async () => {
    const origin = 'https://app.example'
    for (const path of [
      '/',
      '/login',
      '/search',
      '/api/v1/orgs',
      '/authorize',
      '/entries/1',
      `/images/${'0'.repeat(64)}`,
      '/metrics',
      '/ready',
    ])
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        const refused = await send(path, { origin }, method)
        expect([path, method, refused.status, cors(refused)]).toEqual([path, method, 403, undefined])
      }
  })

  it('never speaks for the session of the dashboard that its browser has', async () => {
    const login = await raw(team.server, '/login', 'GET', { accept: 'text/html' })
    const token = /name="page" value="([^"]+)"/.exec(login.text)?.[1] ?? ''
    const before = String(login.headers['set-cookie'] ?? '').split(';')[0] ?? ''
    const form = new URLSearchParams({ page: token, next: '/', key }).toString()
    const signedIn = await raw(
      team.server,
      '/login',
      'POST',
      { 'content-type': 'application/x-www-form-urlencoded', origin: team.server.url.origin, cookie: before },
      form,
    )
    const cookie =
      /(?:commonplace-\d+|__Host-commonplace)=[^;]+/.exec(String(signedIn.headers['set-cookie']))?.[0] ?? ''
    expect(cookie).toMatch(/^(commonplace-\d+|__Host-commonplace)=.+/)
    const origin = 'https://app.example'
    for (const path of ['/mcp', '/mcp/core'])
      for (const accept of ['*/*', 'text/html', 'text/event-stream'])
        for (const method of ['GET', 'POST']) {
          const { status, headers, text } = await withoutKey(
            path,
            { origin, cookie, accept },
            method,
            method === 'POST' ? LIST : '',
          )
          const isPage = method === 'GET' && accept === 'text/html'
          // The page for people is the same for everybody, and only the server's own origin may read it.
          expect([path, accept, method, status]).toEqual([path, accept, method, isPage ? 200 : 401])
          if (isPage) expect(cors({ headers })).toBe(team.server.url.origin)
          expect(headers['set-cookie']).toBeUndefined()
          expect(headers['access-control-allow-credentials']).toBeUndefined()
          expect(text).not.toContain('"tools"')
        }
  })

  it('is refused under a rebound name before its origin counts, when the deployment names its hosts', async () => {
    const named = await startTeam({ ALLOWED_HOSTS: 'memory.example', ALLOWED_ORIGINS: 'https://app.example' })
    const ask = (headers: Record<string, string>, path = '/mcp') =>
      raw(named.server, path, 'POST', { ...TYPES, ...headers }, LIST)
    for (const path of ['/mcp', '/register', '/token', '/.well-known/oauth-protected-resource'])
      for (const origin of ['https://app.example', 'http://rebound.example'])
        expect((await ask({ host: 'rebound.example', origin }, path)).status).toBe(403)
    expect((await ask({ host: 'memory.example', origin: 'https://app.example' })).status).toBe(401)
    expect((await ask({ host: 'memory.example', origin: 'https://other.example' })).status).toBe(403)
    await named.stop()
  })
})

it('refuses foreign pages in open mode whatever ALLOWED_ORIGINS names, at every route', async () => {
  const open = await startTeam({ AUTH_MODE: 'open', ALLOWED_ORIGINS: 'https://app.example' })
  for (const path of ['/mcp', '/mcp/server-card', '/.well-known/oauth-protected-resource', '/register', '/token'])
    for (const method of ['GET', 'POST', 'OPTIONS']) {
      const refused = await raw(
        open.server,
        path,
        method,
        { ...TYPES, origin: 'https://app.example' },
        method === 'POST' ? LIST : '',
      )
      expect([path, method, refused.status, cors(refused)]).toEqual([path, method, 403, undefined])
    }
  await open.stop()
})

describe('resources', () => {
  it('are listed for a client of all tools under names that no tool has, and not at /mcp/core, where their addresses are read', async () => {
    const store = { thread_id: 'remember', source: 'agent', text: 'a thread with the name of a tool' }
    await answer(rpc('tools/call', { name: 'store_context', arguments: store }))
    const ask = async (path: string, method: string, params?: object) =>
      JSON.parse((await send(path, {}, 'POST', rpc(method, params))).text).result
    const { resources } = await ask('/mcp', 'resources/list')
    const { tools } = await ask('/mcp', 'tools/list')
    const one = resources.find(({ title }: { title: string }) => title === 'remember')
    expect(one.name).toBe('thread:remember')
    const names = tools.map(({ name }: { name: string }) => name)
    expect(resources.filter(({ name }: { name: string }) => names.includes(name))).toEqual([])
    expect(await ask('/mcp/core', 'resources/list')).toEqual({ resources: [] })
    expect((await ask('/mcp/core', 'resources/read', { uri: one.uri })).contents[0].text).toContain('name of a tool')
    const templates = await ask('/mcp/core', 'resources/templates/list')
    expect(templates.resourceTemplates.map(({ name }: { name: string }) => name)).toContain('thread')
  })
})
