import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Connect, TestClient } from '../../support/clients'
import { startPlace } from '../../support/places'
import type { RunningServer } from '../../support/server'

/** `/mcp/connector`, as ChatGPT's connectors and deep research use it, and the pages that it points to. */
export function connectorContract(connect: Connect): void {
  describe('the connector', () => {
    let server: RunningServer
    let client: TestClient
    let all: TestClient
    beforeAll(async () => {
      server = await startPlace()
      all = await connect(server.url)
      client = await connect(new URL('/mcp/connector', server.url.href))
    })
    afterAll(async () => {
      await client?.close()
      await all?.close()
      await server?.stop()
    })
    const store = async (text: string, more: Record<string, unknown> = {}): Promise<number> =>
      (await all.call('store_context', { thread_id: 'connector', source: 'agent', text, ...more })).data.context_id
    const page = (id: unknown, init: RequestInit = {}) => fetch(new URL(`/entries/${id}`, server.url.href), init)

    it('lists search and fetch alone, read-only, and no other endpoint lists them', async () => {
      const tools = await client.tools()
      expect(tools.map((tool) => tool.name)).toEqual(['search', 'fetch'])
      for (const { annotations } of tools) expect(annotations).toMatchObject({ readOnlyHint: true })
      expect(tools.map(({ inputSchema }) => inputSchema.properties)).toMatchObject([
        { query: { type: 'string' } },
        { id: { type: 'string' } },
      ])
      expect(client.instructions()).not.toContain('store_context')
      const others = (await all.tools()).map((tool) => tool.name)
      expect(others).not.toContain('search')
      expect(others).not.toContain('fetch')
      await expect(client.call('store_context')).rejects.toThrow('Unknown tool: store_context')
      await expect(all.call('search', { query: 'x' })).rejects.toThrow('Unknown tool: search')
      for (const joined of ['connector,threads', 'threads,connector'])
        expect((await fetch(new URL(`/mcp/${joined}`, server.url.href), { method: 'POST', body: '{}' })).status).toBe(
          404,
        )
    })

    it('names the entry that supersedes a result, as its page does', async () => {
      const old = await store('The lighthouse is painted red')
      const successor = await store('The lighthouse is painted white', { metadata: { supersedes: [Number(old)] } })
      expect((await client.call('fetch', { id: String(old) })).data.superseded_by).toBe(String(successor))
      expect((await client.call('fetch', { id: String(successor) })).data).not.toHaveProperty('superseded_by')
      expect(await (await page(old)).text()).toContain(`Superseded by</dt><dd><a href="/entries/${successor}">`)
    })

    it('[PLATFORM-14] finds the best ten by words and meaning and returns one complete memory', async () => {
      const text = 'zeppelin hangar\n'.repeat(40).trim()
      const id = await store(text, { metadata: { title: 'Hangars', n: 1 } })
      for (let i = 0; i < 12; i++)
        await store(`A zeppelin among many other things that fly over land and sea, number ${i}`)
      const { data, text: json } = await client.call('search', { query: 'zeppelin hangar' })
      expect(data.results).toHaveLength(10)
      expect(data.results[0]).toEqual({
        id: String(id),
        title: 'Hangars',
        url: new URL(`/entries/${id}`, server.url.href).href,
      })
      expect(data.results[1].title).toMatch(/^A zeppelin among .* number \d+$/)
      expect(JSON.parse(json)).toEqual(data)
      for (const given of [String(id), id])
        expect((await client.call('fetch', { id: given })).data).toEqual({
          id: String(id),
          title: 'Hangars',
          text,
          url: data.results[0].url,
          metadata: { title: 'Hangars', n: 1 },
        })
      const { warnings } = (await client.call('search', { query: 'zeppelin', limit: 3 })).data
      expect(warnings).toEqual(['Ignored unknown arguments: "limit"'])
    })

    it('answers an unknown id like one that never was', async () => {
      const missing = await client.call('fetch', { id: '999999' })
      expect(missing.data).toEqual({
        error: { code: 'not_found', message: 'Entry with ID 999999 not found', retryable: false },
      })
      expect((await client.call('fetch', { id: 'abc' })).data.error).toMatchObject({
        message: 'Invalid context ID: abc',
        details: [{ path: 'id', example: '42' }],
      })
      for (const id of ['999999', 'abc', '0', '9'.repeat(40)]) {
        const response = await page(id)
        expect([response.status, ((await response.json()) as { error: { message: string } }).error.message]).toEqual([
          404,
          'Entry not found',
        ])
      }
    })

    it('shows an entry as a page in which nothing can run', async () => {
      const evil = '<script>alert(1)</script><img src=x onerror=alert(2)>'
      const id = await store(`${evil}\nsecond line`, { tags: [evil], metadata: { '<b>': evil } })
      const response = await page(id)
      expect(response.status).toBe(200)
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
        'content-security-policy': expect.stringMatching(/^default-src 'none'; style-src 'nonce-[^']+'; /),
      })
      const body = await response.text()
      expect(body).not.toMatch(/<script|<img|<b>/)
      expect(body).toContain('&lt;script&gt;')
      expect(body).toContain('second line')
      expect((await page(id, { headers: { origin: 'https://evil.example' } })).status).toBe(403)
      expect((await page(id, { headers: { authorization: 'Bearer cp_wrong' } })).status).toBe(401)
    })
  })
}
