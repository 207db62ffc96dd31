import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, startTeam, type Team } from '../support/access'
import { openEvents } from '../support/event-stream'

/** How much one key may ask, as HTTP answers it. The counting itself: test/worker/gate.test.ts. */
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
const ACCEPT = { accept: 'application/json, text/event-stream' }

describe('a server that lets each key ask five times a minute', () => {
  let team: Team
  beforeAll(async () => {
    team = await startTeam({ RATE_LIMIT_PER_MINUTE: '5' })
  })
  afterAll(() => team.stop())
  const ask = (key: string) => team.ask('/mcp', key, 'POST', LIST, ACCEPT)

  it('answers what is beyond with 429, Retry-After and a JSON-RPC error, and other keys as ever', async () => {
    const busy = await team.key('limits')
    const calm = await team.key('limits')
    const answers = []
    for (let i = 0; i < 12; i++) answers.push(await ask(busy.key))
    const refused = answers.filter(({ status }) => status === 429)
    // A minute may turn in between, which lets a few more in.
    expect(refused.length).toBeGreaterThanOrEqual(2)
    for (const { headers, body } of refused) {
      expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
      expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(120)
      expect(body).toMatchObject({
        jsonrpc: '2.0',
        id: null,
        error: { data: { code: 'limit_exceeded', retryable: true } },
      })
      expect(body.error.message).toMatch(/too many requests in a minute; try again in \d+ s/)
    }
    expect((await ask(calm.key)).status).toBe(200)
  })

  it('counts each message of a JSON-RPC batch, and does none of one that does not fit', async () => {
    const { key } = await team.key('batches')
    const call = (id: number) => ({
      ...{ jsonrpc: '2.0', id, method: 'tools/call' },
      params: { name: 'store_context', arguments: { thread_id: 'batch', source: 'user', text: `text ${id}` } },
    })
    const send = (count: number, headers = {}) =>
      team.ask(
        '/mcp',
        key,
        'POST',
        Array.from({ length: count }, (_, id) => call(id)),
        { ...ACCEPT, ...headers },
      )
    const refused = await send(6)
    expect(refused.status).toBe(429)
    expect(refused.body.error.data.code).toBe('limit_exceeded')
    // One message of the refused batch was counted when it came.
    expect((await send(4)).status).toBe(200)
    const { key: reader } = await team.key('batches')
    const { data } = await team.call(reader, 'search_context', { thread_id: 'batch' })
    expect(data.total).toBe(4)
  })

  it('refuses a JSON-RPC batch in every revision but 2025-03-26', async () => {
    const { key } = await team.key('revisions')
    for (const revision of ['2025-06-18', '2025-11-25', '2026-07-28', '2024-11-05']) {
      const { status, body } = await team.ask('/mcp', key, 'POST', [LIST], {
        ...ACCEPT,
        'mcp-protocol-version': revision,
      })
      expect([revision, status, body.error?.code]).toEqual([revision, 400, -32600])
    }
    const { key: other } = await team.key('revisions')
    for (const headers of [ACCEPT, { ...ACCEPT, 'mcp-protocol-version': '2025-03-26' }])
      expect((await team.ask('/mcp', other, 'POST', [LIST], headers)).status).toBe(200)
  })

  it('limits the other routes in their own form, and ADMIN_TOKEN not at all', async () => {
    const { key } = await team.key('limits')
    const statuses = []
    for (let i = 0; i < 12; i++) statuses.push(await team.ask(`/images/${'0'.repeat(64)}`, key))
    expect(statuses.find(({ status }) => status === 429)?.body.error).toMatchObject({ code: 'limit_exceeded' })
    for (let i = 0; i < 12; i++) expect((await team.api('/orgs', ADMIN_TOKEN)).status).toBe(200)
  })
})

describe('a server that lets each key ask twice at the same time', () => {
  let team: Team
  beforeAll(async () => {
    team = await startTeam({ MAX_CONCURRENT_REQUESTS: '2', RATE_LIMIT_PER_MINUTE: '0' })
  })
  afterAll(() => team.stop())

  it('refuses what is beyond, and lets the key in again once its requests are over', async () => {
    const { key } = await team.key('crowd')
    const store = (n: number) => ({
      jsonrpc: '2.0',
      id: n,
      method: 'tools/call',
      params: { name: 'store_context', arguments: { thread_id: 't', source: 'user', text: `text ${n}` } },
    })
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) => team.ask('/mcp', key, 'POST', store(n), ACCEPT)),
    )
    const statuses = new Set(answers.map(({ status }) => status))
    expect(statuses).toEqual(new Set([200, 429]))
    const refused = answers.find(({ status }) => status === 429)
    expect(refused?.headers.get('retry-after')).toBe('1')
    expect(refused?.body.error.message).toContain('at the same time')
    await expect.poll(async () => (await team.ask('/mcp', key, 'POST', LIST, ACCEPT)).status).toBe(200)
  })

  describe('a reader that waits and goes', () => {
    // Shorter than the waits, and than the time to forget a reader that never closes.
    const SOON = { timeout: 8_000, interval: 250 }

    const waitFor = { name: 'list_changes', arguments: { wait_seconds: 20 } }
    const modern = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 't', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    }

    it.each([
      ['a revision of 2025', waitFor, {}],
      [
        'revision 2026-07-28',
        { ...waitFor, _meta: modern },
        { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'list_changes' },
      ],
    ])('leaves the requests that run at once before its time is over, in %s', async (_, params, headers) => {
      const { key } = await team.key('waiting')
      const wait = new AbortController()
      const sent = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
      const waiting = Array.from({ length: 2 }, () =>
        fetch(team.server.url, {
          method: 'POST',
          signal: wait.signal,
          headers: { ...ACCEPT, 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
          body: JSON.stringify(sent),
        }).then((answer) => answer.text()),
      )
      const status = async () => (await team.ask('/mcp', key, 'POST', LIST, ACCEPT)).status
      await expect.poll(status, SOON).toBe(429)
      wait.abort()
      expect((await Promise.allSettled(waiting)).map((one) => one.status)).toEqual(['rejected', 'rejected'])
      await expect.poll(status, SOON).toBe(200)
    })

    it('is answered as usual when it stays, after white space', async () => {
      const { key } = await team.key('staying')
      const params = { name: 'list_changes', arguments: { wait_seconds: 3 } }
      const sent = { jsonrpc: '2.0', id: 7, method: 'tools/call', params }
      const { status, text, body } = await team.ask('/mcp', key, 'POST', sent, ACCEPT)
      expect([status, body.id, body.result.structuredContent]).toEqual([
        ...[200, 7, { changes: [], next: expect.any(String), hasMore: false }],
      ])
      expect(text).toMatch(/^ +\{/)
    })

    it('leaves the streams of its key', async () => {
      const { key } = await team.key('streams')
      const url = new URL('/api/v1/orgs/-/changes', team.server.url)
      const open = () => openEvents(url, { authorization: `Bearer ${key}` })
      const streams = []
      for (let i = 0; i < 10; i++) streams.push(await open())
      expect(streams.map(({ status }) => status)).toEqual(streams.map(() => 200))
      expect((await open()).status).toBe(413)
      for (const { close } of streams.slice(0, 9)) close()
      const reopened = async () => {
        const stream = await open()
        stream.close()
        return stream.status
      }
      await expect.poll(reopened, SOON).toBe(200)
      streams[9]?.close()
      // Listeners to resources count as the same streams.
      const { key: other } = await team.key('listening')
      const gone = new AbortController()
      const notifications = { resourceSubscriptions: ['memory://thread/t'] }
      const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' }
      const listen = async () => {
        const answer = await fetch(team.server.url, {
          method: 'POST',
          signal: gone.signal,
          headers: { ...ACCEPT, ...headers, 'content-type': 'application/json', authorization: `Bearer ${other}` },
          body: JSON.stringify({
            ...{ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen' },
            params: { notifications, _meta: modern },
          }),
        })
        void answer.text().catch(() => {})
        return answer.headers.get('content-type')
      }
      for (let i = 0; i < 10; i++) expect(await listen()).toContain('text/event-stream')
      const watch = async () => {
        const stream = await openEvents(url, { authorization: `Bearer ${other}` })
        stream.close()
        return stream.status
      }
      expect(await watch()).toBe(413)
      gone.abort()
      await expect.poll(watch, SOON).toBe(200)
    })
  })
})
