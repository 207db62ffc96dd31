import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTeam, type Team } from '../support/access'
import { startPlace } from '../support/places'
import { type Raw, raw } from '../support/raw'
import type { RunningServer } from '../support/server'

/** Access before any credential is checked: host names, origins, and headers for browsers. */
const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })
const JSON_TYPE = { 'content-type': 'application/json' }
const BOTH = { accept: 'application/json, text/event-stream' }

const corsOf = ({ headers }: Raw) => Object.keys(headers).filter((name) => name.startsWith('access-control-'))

describe('a server in open mode', () => {
  let server: RunningServer
  beforeAll(async () => {
    server = await startPlace()
  })
  afterAll(() => server.stop())
  const send = (path: string, headers: Record<string, string>, method = 'POST', body = LIST) =>
    raw(server, path, method, { ...JSON_TYPE, ...BOTH, ...headers }, body)

  it('trusts pages of its own origin only, and shows others no CORS header', async () => {
    const own = await send('/mcp', { origin: server.url.origin })
    expect([own.status, own.headers['access-control-allow-origin']]).toEqual([200, '*'])
    const others = [
      'http://localhost:6274',
      'http://127.0.0.1:1',
      'http://localhost',
      'https://evil.example',
      'null',
      'file://',
    ]
    for (const origin of others)
      for (const path of ['/mcp', '/api/v1/orgs/local/keys', '/health', '/ready', `/images/${'0'.repeat(64)}`]) {
        const answer = await send(path, { origin })
        expect([origin, path, answer.status, corsOf(answer)]).toEqual([origin, path, 403, []])
        const asked = await send(path, { origin, 'access-control-request-method': 'POST' }, 'OPTIONS', '')
        expect([origin, path, asked.status, corsOf(asked)]).toEqual([origin, path, 403, []])
      }
  })

  it('refuses what a page of another origin makes a browser send without an Origin, but not a link to a page', async () => {
    const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
    const document = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
    const paths = [
      '/api/v1/orgs/local/export',
      '/ready',
      '/health',
      '/mcp',
      '/',
      '/entries/1',
      `/images/${'0'.repeat(64)}`,
    ]
    for (const site of ['cross-site', 'same-site', 'Cross-Site', 'something-new']) {
      const ask = async (path: string, headers: Record<string, string>, method = 'GET', body = '') => {
        const { status } = await send(path, { ...html, 'sec-fetch-site': site, ...headers }, method, body)
        return [site, path, headers, status]
      }
      for (const path of paths) {
        for (const headers of [
          { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
          { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' },
          { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' },
          { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
          { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'object' },
          { 'sec-fetch-mode': 'navigate' },
          {},
        ] as Record<string, string>[])
          expect(await ask(path, headers)).toEqual([site, path, headers, 403])
        expect(await ask(path, document, 'POST', LIST)).toEqual([site, path, document, 403])
      }
      for (const path of ['/api/v1/orgs/local/export', '/api/v1/orgs', '/ready', '/metrics', '/images/a', '/nowhere'])
        expect(await ask(path, document)).toEqual([site, path, document, 403])
      for (const path of ['/', '/search?q=a', '/mcp'])
        expect(await ask(path, document)).toEqual([site, path, document, 200])
    }
    for (const site of ['same-origin', 'none', ''])
      expect((await send('/api/v1/orgs', site === '' ? {} : { 'sec-fetch-site': site }, 'GET', '')).status).toBe(200)
    // A check of Origin has already answered where there is one.
    expect((await send('/mcp', { 'sec-fetch-site': 'cross-site', origin: server.url.origin })).status).toBe(200)
  })

  it('refuses the character U+0000 in an address, for every caller and path, since no name contains it', async () => {
    for (const path of [
      '/api/v1/orgs/%00/keys',
      '/api/v1/orgs/-/captured?client=a%00',
      '/search?tag=%00',
      '/threads/%00',
    ]) {
      const { status, text } = await send(path, {}, 'GET', '')
      const message = 'The address contains the character U+0000 (%00); remove it and send the request again'
      expect([path, status, JSON.parse(text).error.message]).toEqual([path, 400, message])
    }
    expect((await send('/search?tag=%2500', { accept: 'text/html' }, 'GET', '')).status).toBe(200)
  })

  it('makes no key for a page of another port of this machine', async () => {
    const body = JSON.stringify({ name: 'stolen', role: 'admin' })
    const path = '/api/v1/orgs/local/keys'
    expect((await send(path, { origin: 'http://localhost:3000' }, 'POST', body)).status).toBe(403)
    expect(JSON.parse((await send(path, {}, 'GET', '')).text)).toEqual({ keys: [] })
  })

  it('takes administration as application/json only', async () => {
    const body = JSON.stringify({ id: 'p', name: 'P' })
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])
      expect((await send('/api/v1/orgs/local/projects', { 'content-type': type }, 'POST', body)).status).toBe(400)
    const type = 'application/json; charset=utf-8'
    expect((await send('/api/v1/orgs/local/projects', { 'content-type': type }, 'POST', body)).status).toBe(201)
  })

  it('refuses a request for any host but this machine, whatever headers claim about its origin', async () => {
    for (const host of [
      '192.168.1.5:8787',
      'memory.example',
      '0.0.0.0:8787',
      '127.0.0.1.evil.example',
      'localhost.evil.example',
    ])
      for (const path of ['/mcp', '/health', '/ready', '/api/v1/orgs']) {
        const answer = await send(path, { host, 'cf-connecting-ip': '127.0.0.1', 'x-forwarded-for': '127.0.0.1' })
        expect([host, path, answer.status]).toEqual([host, path, 403])
      }
    // Outside Cloudflare anybody may write this header, so it neither opens nor closes anything.
    expect((await send('/mcp', { 'cf-connecting-ip': '203.0.113.9' })).status).toBe(200)
  })

  it('serves no OAuth and names none', async () => {
    const paths = ['/.well-known/oauth-authorization-server', '/.well-known/oauth-protected-resource']
    for (const path of [...paths, '/.well-known/oauth-protected-resource/mcp', '/authorize', '/token', '/register'])
      expect([path, (await send(path, {}, 'GET', '')).status]).toEqual([path, 404])
    const refused = await send('/mcp', { authorization: 'Bearer cp_wrong' })
    expect(refused.status).toBe(401)
    expect(refused.headers['www-authenticate']).toMatch(/^Bearer /)
    expect(refused.headers['www-authenticate']).not.toContain('resource_metadata')
  })

  it('takes a client that accepts anything', async () => {
    for (const accept of ['*/*', 'application/json;q=0.9, */*;q=0.1'])
      expect([accept, (await send('/mcp', { accept })).status]).toEqual([accept, 200])
    expect((await raw(server, '/mcp', 'POST', JSON_TYPE, LIST)).status).toBe(200)
  })

  it('shows a browser what this is, without a script, and a client of MCP what it asked for', async () => {
    const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
    for (const [path, address] of [
      ['/mcp', '/mcp'],
      ['/mcp/threads', '/mcp/threads'],
    ] as const) {
      const page = await raw(server, path, 'GET', { accept })
      expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
      expect(page.text).toContain(`claude mcp add --transport http commonplace ${server.url.origin}${address}<`)
      expect(page.text).toContain('open mode')
      expect(page.text).not.toMatch(/<script|Bearer/i)
      expect(page.headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'nonce-/)
    }
    expect((await raw(server, '/mcp/nonsense', 'GET', { accept })).status).toBe(404)
    expect((await raw(server, '/mcp', 'GET', { accept: 'text/event-stream' })).status).toBe(405)
    expect((await raw(server, '/mcp', 'GET', { accept, host: 'rebound.example' })).status).toBe(403)
    const program = await raw(server, '/', 'GET', { accept: '*/*' })
    expect(JSON.parse(program.text).error.message).toContain('MCP is served at /mcp')
  })
})

describe('a deployment that names its hosts', () => {
  let team: Team
  let key: string
  beforeAll(async () => {
    team = await startTeam({ ALLOWED_HOSTS: 'memory.example, other.example:8443' })
    key = (await team.key('hosts')).key
  })
  afterAll(() => team.stop())
  const send = (headers: Record<string, string>, method = 'POST', path = '/mcp') =>
    raw(
      team.server,
      path,
      method,
      { ...JSON_TYPE, ...BOTH, authorization: `Bearer ${key}`, ...headers },
      method === 'POST' ? LIST : '',
    )

  it('answers under those names and to pages of theirs, and refuses every other', async () => {
    expect((await send({ host: 'memory.example', origin: 'https://memory.example' })).status).toBe(200)
    expect((await send({ host: 'memory.example', origin: 'https://other.example:8443' })).status).toBe(200)
    for (const [host, origin] of [
      ['rebound.example', 'http://rebound.example'],
      ['other.example', 'https://other.example'],
      ['memory.example', 'https://evil.example'],
      ['memory.example', 'http://localhost:6274'],
      ['memory.example', 'null'],
    ] as const) {
      const answer = await send({ host, origin })
      expect([host, origin, answer.status, corsOf(answer)]).toEqual([host, origin, 403, []])
    }
    expect((await send({ host: 'rebound.example' })).status).toBe(403)
  })

  it('shows a browser how to connect with a key or by OAuth', async () => {
    const page = await raw(team.server, '/mcp', 'GET', { accept: 'text/html' })
    expect(page.status).toBe(200)
    expect(page.text).toContain('Authorization: Bearer &lt;key&gt;')
    expect(page.text).toContain('paste the key once')
    expect(page.text).not.toContain('open mode')
  })

  it('lets a page that it trusts read a refusal, too', async () => {
    const wrong = await send({
      host: 'memory.example',
      origin: 'https://memory.example',
      authorization: 'Bearer cp_wrong',
    })
    expect([wrong.status, wrong.headers['access-control-allow-origin']]).toEqual([401, '*'])
    const asked = await send({ host: 'memory.example', origin: 'https://memory.example' }, 'OPTIONS')
    expect(asked.status).toBe(204)
    expect(asked.headers['access-control-allow-headers']).toContain('MCP-Protocol-Version')
  })
})
