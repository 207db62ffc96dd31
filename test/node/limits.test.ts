import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, startTeam, type Team } from '../support/access'
import { startServer } from '../support/server'

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

  it('limits the routes beside MCP in their own form, and ADMIN_TOKEN not at all', async () => {
    const { key } = await team.key('limits')
    const statuses = []
    for (let i = 0; i < 12; i++) statuses.push(await team.ask(`/images/${'0'.repeat(64)}`, key))
    expect(statuses.find(({ status }) => status === 429)?.body.error).toMatchObject({ code: 'limit_exceeded' })
    for (let i = 0; i < 12; i++) expect((await team.api('/orgs', ADMIN_TOKEN)).status).toBe(200)
  })
})

describe('a server that lets each key ask twice at the same time', () => {
  it('refuses what is beyond, and lets the key in again once its requests are over', async () => {
    const team = await startTeam({ MAX_CONCURRENT_REQUESTS: '2', RATE_LIMIT_PER_MINUTE: '0' })
    try {
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
    } finally {
      await team.stop()
    }
  })
})

it('does not limit open mode', async () => {
  const server = await startServer({ RATE_LIMIT_PER_MINUTE: '1', MAX_CONCURRENT_REQUESTS: '1' })
  try {
    const headers = { 'content-type': 'application/json', ...ACCEPT }
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => fetch(server.url, { method: 'POST', headers, body: JSON.stringify(LIST) })),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  } finally {
    await server.stop()
  }
})
