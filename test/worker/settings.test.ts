import { afterAll, describe, expect, it, vi } from 'vitest'
import { workerHere } from '../support/worker-here'

// Errors are logged, too.
for (const level of ['warn', 'error'] as const) vi.spyOn(console, level).mockImplementation(() => {})
// Files share a process.
afterAll(() => void vi.restoreAllMocks())

/** Reports of wrong or missing settings, and the effect of valid ones. */
const ADMIN_TOKEN = 'an-admin-token-of-this-test-alone'
const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })
const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const CALL = { method: 'POST', headers: HEADERS, body: LIST }
const messageOf = async (response: Response): Promise<string> =>
  (await response.json<{ error: { message: string } }>()).error.message

describe('a deployment with default settings', () => {
  it('refuses everything but /health and names what to set', async () => {
    const ask = workerHere({ AUTH_MODE: 'required' })
    const response = await ask('/mcp', CALL)
    expect(response.status).toBe(401)
    expect(await messageOf(response)).toContain('AUTH_MODE=open')
    expect((await ask('/health')).status).toBe(200)
    expect((await ask(`/images/${'0'.repeat(64)}`)).status).toBe(401)
  })

  it('lists every bad setting in one message, such as a metadata field that is to be indexed twice', async () => {
    const vars = { LOG_LEVEL: 'loud', MAX_IMAGE_SIZE_MB: '99', METADATA_INDEXED_FIELDS: 'status,status:integer' }
    const response = await workerHere(vars)('/mcp', CALL)
    expect(response.status).toBe(503)
    const text = await messageOf(response)
    for (const said of ['LOG_LEVEL', 'MAX_IMAGE_SIZE_MB', 'METADATA_INDEXED_FIELDS contains "status" twice'])
      expect(text).toContain(said)
  })

  it('names the invalid entry of ALLOWED_HOSTS, to a browser on a page', async () => {
    const ask = workerHere({ AUTH_MODE: 'required', ADMIN_TOKEN, ALLOWED_HOSTS: 'https://memory.example' })
    for (const path of ['/', '/mcp', '/threads', '/entries/7']) {
      const page = await ask(path, { headers: { accept: 'text/html' } })
      expect([path, page.status, page.headers.get('content-type')]).toEqual([path, 503, 'text/html; charset=utf-8'])
      expect(await page.text()).toContain('ALLOWED_HOSTS contains &quot;https://memory.example&quot;')
    }
    const ready = await ask('/ready', { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } })
    expect(await messageOf(ready)).toContain('ALLOWED_HOSTS contains "https://memory.example"')
  })

  it('does not limit open mode', async () => {
    const ask = workerHere({ RATE_LIMIT_PER_MINUTE: '1', MAX_CONCURRENT_REQUESTS: '1' })
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask('/mcp', CALL)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  })
})

describe('OAuth', () => {
  const required = { AUTH_MODE: 'required', ADMIN_TOKEN }

  it('does not exist without a store for grants, and keys still work', async () => {
    const ask = workerHere(required, { OAUTH_KV: undefined })
    for (const path of ['/.well-known/oauth-protected-resource', '/authorize', '/token', '/register'])
      expect([path, (await ask(path)).status]).toEqual([path, 404])
    const refused = await ask('/mcp', { method: 'POST' })
    expect(refused.headers.get('www-authenticate')).toBe('Bearer realm="commonplace"')
    const headers = { ...HEADERS, authorization: `Bearer ${ADMIN_TOKEN}` }
    const post = (path: string, body: object) => ask(path, { method: 'POST', headers, body: JSON.stringify(body) })
    expect((await post('/api/v1/orgs', { id: 'acme', name: 'Acme' })).status).toBe(201)
    const made = await post('/api/v1/orgs/acme/keys', { name: 'a key', role: 'writer' })
    const { key } = await made.json<{ key: string }>()
    expect((await ask('/mcp', { ...CALL, headers: { ...headers, authorization: `Bearer ${key}` } })).status).toBe(200)
  })

  it('is not there over plain http on another host, where tokens could be read', async () => {
    const ask = workerHere(required)
    for (const path of ['/.well-known/oauth-authorization-server', '/authorize', '/token']) {
      expect([path, (await ask(`http://memory.example${path}`)).status]).toEqual([path, 404])
      // As everywhere else, where it is there.
      expect([path, (await ask(`https://memory.example${path}`)).status]).not.toEqual([path, 404])
    }
  })
})
