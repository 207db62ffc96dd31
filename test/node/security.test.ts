import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { beforeAll, describe, expect, it } from 'vitest'
import { parseAddress } from '../../src/adapters/http-json/client'
import { sharedTeam } from '../contracts/endpoint/session'
import type { Team } from '../support/access'
import { base64, pngBytes } from '../support/scope'

/** What SECURITY.md promises of the HTTP surface, against the real server. Guards of open mode: test/node/http.test.ts. */
let team: Team
let key: string
beforeAll(async () => {
  team = await sharedTeam()
  key = (await team.key('secure')).key
})

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
const ACCEPT = { accept: 'application/json, text/event-stream' }
const GOOD = { authorization: () => `Bearer ${key}` }

/** Sends headers that fetch would not let through. */
function raw(path: string, headers: Record<string, string>): Promise<number> {
  const url = new URL(path, team.server.url.href)
  return new Promise((resolve, reject) => {
    const all = { 'content-type': 'application/json', ...ACCEPT, authorization: GOOD.authorization(), ...headers }
    const sent = httpRequest(url.href, { method: 'POST', headers: all }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    sent.on('error', reject)
    sent.end(JSON.stringify(LIST))
  })
}

/** A request written byte by byte. Resolves with whatever comes back before the connection ends. */
function wire(text: string): Promise<string> {
  const { hostname, port } = team.server.url
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    let answer = ''
    socket.on('data', (data: Buffer) => {
      answer += data.toString()
      if (answer.includes('\r\n\r\n')) socket.end()
    })
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
    socket.write(text)
  })
}

describe('a server that asks for credentials', () => {
  it('refuses foreign pages and rebound names on every route, also with a good key', async () => {
    for (const path of ['/mcp', '/mcp/threads', '/api/v1/orgs', `/images/${'0'.repeat(64)}`]) {
      const statuses = [
        await raw(path, { origin: 'https://evil.example' }),
        await raw(path, { origin: 'null' }),
        await raw(path, { origin: 'file://' }),
        await raw(path, { host: 'rebound.example', origin: 'http://evil.example' }),
        // A page behind a name that was rebound to this server is of its origin, but has no key to send.
        await raw(path, { host: 'rebound.example', origin: 'http://rebound.example', authorization: 'Bearer none' }),
      ]
      expect([path, ...statuses]).toEqual([path, 403, 403, 403, 403, 401])
    }
    expect(await raw('/mcp', {})).toBe(200)
  })

  it('answers headers that are too large with 431', async () => {
    expect(await raw('/mcp', { 'x-filler': 'x'.repeat(40_000) })).toBe(431)
    expect(await raw('/mcp', { authorization: `Bearer cp_${'x'.repeat(40_000)}` })).toBe(431)
    expect(await raw('/mcp', { 'x-filler': 'x'.repeat(8_000) })).toBe(200)
  })

  it('lets no line break into a header, neither in nor out', async () => {
    const answer = await wire(
      `POST /mcp HTTP/1.1\r\nHost: ${team.server.url.host}\r\nAuthorization: Bearer x\rSet-Cookie: stolen=1\r\nContent-Length: 0\r\n\r\n`,
    )
    expect(answer).not.toMatch(/^set-cookie/im)
    expect(answer).not.toMatch(/^HTTP\/1\.1 200/)
    for (const path of ['/nowhere%0d%0aset-cookie:%20stolen=1', '/mcp/a%0d%0aset-cookie:%20stolen=1']) {
      const { headers } = await team.ask(path, key)
      expect(headers.get('set-cookie')).toBeNull()
    }
  })

  it('serves an image with its own type, never to be sniffed or run, and only to those who may see it', async () => {
    const data = base64(pngBytes('secret'))
    const images = [{ data, mime_type: 'image/png' }]
    const args = { thread_id: 't', source: 'user', text: 'with image', images, metadata: { project: 'p' } }
    const { data: stored } = await team.call(key, 'store_context', args)
    const { data: got } = await team.call(key, 'get_context_by_ids', { context_ids: [stored.context_id] })
    const url = JSON.stringify(got).match(/\/images\/[0-9a-f]{64}/)?.[0] as string
    const response = await team.ask(url, key)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/png'])
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(response.headers.get('cache-control')).toBe('private, max-age=31536000, immutable')
    const absent = await team.ask(`/images/${'0'.repeat(64)}`, key)
    for (const other of [await team.key('elsewhere'), await team.key('secure', { projects: ['q'] })])
      expect(await team.ask(url, other.key)).toMatchObject({ status: 404, text: absent.text })
    expect((await team.ask(url, null)).status).toBe(401)
  })

  it('takes no SVG for an image, whatever it is called', async () => {
    const svg = base64(
      new TextEncoder().encode('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'),
    )
    for (const mime_type of ['image/svg+xml', 'image/png']) {
      const images = [{ data: svg, mime_type }]
      const refused = await team.call(key, 'store_context', { thread_id: 't', source: 'user', text: 'x', images })
      expect([refused.isError, refused.data.error.code]).toEqual([true, 'invalid_input'])
    }
  })
})

describe('the address of a model provider', () => {
  it('is never that of a metadata service, and no message shows what is secret in it', () => {
    for (const host of [
      '169.254.169.254',
      '[fe80::1]',
      '[fd00:ec2::254]',
      '[::ffff:169.254.169.254]',
      '0xa9fea9fe',
      '2852039166',
      'metadata.google.internal',
    ])
      expect(() => parseAddress(`http://${host}/v1`, 'OPENAI_API_BASE')).toThrow(/metadata service/)
    expect(() => parseAddress('file:///etc/passwd', 'OLLAMA_HOST')).toThrow(/OLLAMA_HOST is not a web address/)
    expect(parseAddress('http://192.168.1.5:11434', 'OLLAMA_HOST').at('/api')).toBe('http://192.168.1.5:11434/api')
  })
})
