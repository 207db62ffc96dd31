import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { beforeAll, describe, expect, it } from 'vitest'
import { APP_TOOL_NAMES } from '../../../src/tools/core/tools'
import type { KeyDraft, Team } from '../../support/access'
import { claudeCode, PLACE } from '../../support/hook-events'
import { sharedTeam, unique } from './session'

// biome-ignore lint/suspicious/noExplicitAny: answers have many shapes
type Json = any

const APPS = { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } } }
const ASKS = { elicitation: { form: {} } }
const [PACK, REVIEW] = ['ui://commonplace/pack.html', 'ui://commonplace/review.html']
type Reply = { readonly action: 'accept' | 'decline'; readonly content?: { readonly confirm: boolean } }
const YES: Reply = { action: 'accept', content: { confirm: true } }

/** MCP Apps: a context pack, and the review of captured sessions (core contract, CORE-70 to CORE-77). */
export function appsContract(): void {
  describe('MCP Apps', () => {
    let team: Team
    let serial = 0
    beforeAll(async () => {
      team = await sharedTeam()
    })
    const newKey = async (draft: KeyDraft = {}, org = unique('org')) =>
      (await team.key(org, { owner: 'ada', ...draft })).key

    async function connect(
      key: string,
      { capabilities = {}, pin = '2026-07-28', path = '/mcp/core', reply = YES, meanwhile = async () => {} }: Json = {},
    ) {
      const questions: string[] = []
      const negotiation = pin === '' ? {} : { versionNegotiation: { mode: { pin } } }
      const client = new Client({ name: 'host', version: '1' }, { capabilities, ...negotiation })
      if (capabilities.elicitation !== undefined)
        client.setRequestHandler('elicitation/create', async ({ params }: Json) => {
          questions.push(params.message)
          await meanwhile()
          return reply
        })
      const headers = { authorization: `Bearer ${key}` }
      await client.connect(
        new StreamableHTTPClientTransport(new URL(path, team.server.url), { requestInit: { headers } }),
      )
      const call = async (name: string, args: Json = {}): Promise<Json> => client.callTool({ name, arguments: args })
      return { client, questions, call, close: () => client.close() }
    }
    const capture = async (key: string, prompt: string): Promise<void> => {
      const s = claudeCode(unique(`s${++serial}`))
      const at = Date.now()
      const events = [s.prompt(prompt), s.edit(`${serial}.ts`), s.end()].map((event) => ({
        ...event,
        at,
        place: PLACE,
      }))
      expect((await team.api('/hooks/claude-code', key, 'POST', { events })).status).toBe(200)
    }
    const waitingFor = async (key: string): Promise<Json[]> =>
      (await team.api('/orgs/-/captured', key)).body.items.map(({ id, version }: Json) => ({ id, version }))
    /** A key, and two captured sessions of its owner. */
    const twoCaptured = async () => {
      const key = await newKey()
      await capture(key, 'light the harbour')
      await capture(key, 'paint the gate')
      return { key, sessions: await waitingFor(key) }
    }
    const found = async (key: string): Promise<string[]> =>
      (await team.call(key, 'search_context', {})).data.results.map(({ metadata }: Json) => metadata.title)

    it('[CORE-70] declares an app at tools of a client that shows apps, and lists the other tools as before', async () => {
      const key = await newKey()
      const plain = await connect(key)
      const host = await connect(key, { capabilities: APPS })
      const [{ tools: before }, { tools }] = [await plain.client.listTools(), await host.client.listTools()]
      expect(before.map(({ name }) => name)).not.toEqual(expect.arrayContaining([...APP_TOOL_NAMES]))
      expect(JSON.stringify(before)).not.toContain('ui://')
      expect(tools.slice(0, before.length).map(({ _meta, ...tool }) => tool)).toEqual(before)
      expect(tools.filter(({ _meta }) => _meta !== undefined).map(({ name, _meta }) => [name, _meta])).toEqual([
        ['context', { ui: { resourceUri: PACK } }],
        ['review', { ui: { resourceUri: REVIEW } }],
        ['review_decide', { ui: { resourceUri: REVIEW, visibility: ['app'] } }],
      ])
      await Promise.all([plain.close(), host.close()])
    })

    it('[CORE-71] gives tools and pages of apps only to clients that declare their type, at /mcp/core', async () => {
      const key = await newKey()
      const others = [
        {},
        { capabilities: { extensions: { 'io.modelcontextprotocol/ui': {} } } },
        { capabilities: { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html'] } } } },
        { capabilities: APPS, pin: '' },
        { capabilities: APPS, path: '/mcp' },
      ]
      for (const options of others) {
        const { client, call, close } = await connect(key, options)
        expect(JSON.stringify(await client.listTools())).not.toContain('ui://')
        expect(JSON.stringify(await client.listResources())).not.toContain('ui://')
        await expect(client.readResource({ uri: PACK })).rejects.toThrow()
        await expect(call('review')).rejects.toThrow('Unknown tool: review')
        await expect(call('review_decide', { action: 'drop', sessions: [] })).rejects.toThrow('Unknown tool')
        await close()
      }
    })

    it('[CORE-72] serves pages that load nothing and need no origin', async () => {
      const { client, close } = await connect(await newKey(), { capabilities: APPS })
      const { resources } = await client.listResources()
      expect(resources.map(({ uri, mimeType }) => [uri, mimeType])).toEqual(
        [PACK, REVIEW].map((uri) => [uri, 'text/html;profile=mcp-app']),
      )
      for (const uri of [PACK, REVIEW]) {
        const [page] = (await client.readResource({ uri })).contents as Json[]
        expect(page).toMatchObject({
          uri,
          mimeType: 'text/html;profile=mcp-app',
          _meta: { ui: { prefersBorder: true } },
        })
        expect(page.text.length).toBeLessThan(16_000)
        expect(page.text).toContain(`data-origin="${team.server.url.origin}"`)
        expect(page.text).not.toMatch(/\ssrc=|<link|@import|url\(|\bfetch\(|https?:(?!\/\/(127\.0\.0\.1|localhost))/)
      }
      await expect(client.readResource({ uri: 'ui://commonplace/other.html' })).rejects.toThrow()
      await close()
    })

    it('[CORE-73] lists what waits for the owner of the key, by project and page by page, within the token budget', async () => {
      const { key, sessions } = await twoCaptured()
      const { call, close } = await connect(key, { capabilities: APPS })
      const { structuredContent } = await call('review')
      expect(structuredContent.waiting.map(({ id, version }: Json) => ({ id, version }))).toEqual(sessions)
      expect(structuredContent.waiting[0]).toEqual({
        ...sessions[0],
        ...{ title: 'paint the gate', kind: 'session', project: 'github.com/acme/ferry', branch: 'main' },
        ...{ client: 'claude-code', at: expect.any(String), expires_at: expect.any(String) },
        content: expect.stringContaining('paint the gate'),
      })
      expect((await call('review', { project: 'elsewhere' })).structuredContent).toEqual({
        waiting: [],
        hint: 'No captured sessions await review.',
      })
      for (let i = 0; i < 20; i++) await capture(key, `${'a long prompt '.repeat(40)} ${i}`)
      const pages: Json[] = []
      for (let next: string | undefined = ''; next !== undefined; next = pages.at(-1).next) {
        const { structuredContent: page } = await call('review', next === '' ? {} : { after: next })
        expect(JSON.stringify(page).length).toBeLessThan(10_000)
        pages.push(page)
      }
      expect(pages.flatMap(({ waiting }) => waiting.map(({ id }: Json) => id))).toEqual(
        (await waitingFor(key)).map(({ id }) => id),
      )
      expect(pages).toHaveLength(2)
      expect((await call('review', { after: 'x' })).content[0].text).toContain('after must be next')
      await close()
    })

    it('[CORE-74] approves and drops after the person agreed to a question that names each session', async () => {
      const { key, sessions } = await twoCaptured()
      const [gate, harbour] = sessions
      const { call, questions, close } = await connect(key, { capabilities: { ...APPS, ...ASKS } })
      expect(await found(key)).toEqual([])
      const approved = await call('review_decide', { action: 'approve', sessions: [harbour] })
      expect(approved.structuredContent).toEqual({ approved: 1, change_id: expect.any(String) })
      expect(await found(key)).toEqual(['light the harbour'])
      const dropped = await call('review_decide', { action: 'drop', sessions: [gate] })
      expect(dropped.structuredContent).toEqual({ dropped: 1, change_id: expect.any(String) })
      expect(questions).toEqual([
        `Approve 1 captured session? Agents can then find them. “light the harbour” (${harbour.id})`,
        `Drop 1 captured session? “paint the gate” (${gate.id})`,
      ])
      expect(await waitingFor(key)).toEqual([])
      for (const { structuredContent } of [dropped, approved]) {
        const { change_id } = structuredContent
        expect((await team.api('/orgs/-/captured/undo', key, 'POST', { change_id })).status).toBe(200)
      }
      expect(new Set((await waitingFor(key)).map(({ id }) => id))).toEqual(new Set(sessions.map(({ id }) => id)))
      await close()
    })

    it('[CORE-74] repeats a decision with a key once', async () => {
      const { key, sessions } = await twoCaptured()
      const { call, questions, close } = await connect(key, { capabilities: { ...APPS, ...ASKS } })
      for (const action of ['approve', 'drop']) {
        const args = {
          action,
          sessions: [action === 'approve' ? sessions[0] : sessions[1]],
          idempotency_key: unique('k'),
        }
        const { structuredContent: first } = await call('review_decide', args)
        const { structuredContent: again } = await call('review_decide', args)
        expect(again).toEqual({ ...first, replayed: true })
      }
      expect(questions).toHaveLength(2)
      await close()
    })

    it('[CORE-75] changes nothing without a yes, and names the dashboard to a client that cannot ask', async () => {
      const { key, sessions } = await twoCaptured()
      for (const action of ['approve', 'drop']) {
        for (const reply of [{ action: 'decline' }, { action: 'accept', content: { confirm: false } }]) {
          const { call, close } = await connect(key, { capabilities: { ...APPS, ...ASKS }, reply })
          expect(await call('review_decide', { action, sessions })).toMatchObject({
            isError: true,
            content: [{ text: expect.stringContaining('declined') }],
          })
          await close()
        }
        const { call, close } = await connect(key, { capabilities: APPS })
        expect(await call('review_decide', { action, sessions })).toMatchObject({
          isError: true,
          content: [{ text: expect.stringContaining(`Open ${team.server.url.origin}/review`) }],
          structuredContent: { error: { code: 'unsupported' } },
        })
        await close()
      }
      expect(await waitingFor(key)).toEqual(sessions)
    })

    it('[CORE-75] refuses a session that changed since the person saw it, also while they read the question', async () => {
      const { key, sessions } = await twoCaptured()
      const edit = async () =>
        void (await team.call(key, 'update_context', { context_id: sessions[0].id, text: `other words ${++serial}` }))
      const options = { capabilities: { ...APPS, ...ASKS }, meanwhile: edit }
      const { call, questions, close } = await connect(key, options)
      const answer = await call('review_decide', { action: 'approve', sessions })
      expect(answer.structuredContent.error.code).toBe('conflict')
      expect(questions).toHaveLength(1)
      await call('review_decide', { action: 'approve', sessions })
      expect(questions).toHaveLength(1)
      expect(await waitingFor(key)).toHaveLength(2)
      await close()
    })

    it('[CORE-76] refuses a key that may not review, and sessions of another owner, project or organization', async () => {
      const org = unique('org')
      const key = await newKey({}, org)
      await capture(key, 'light the harbour')
      const sessions = await waitingFor(key)
      const capabilities = { ...APPS, ...ASKS }
      const reader = await connect(await newKey({ role: 'reader' }, org), { capabilities })
      for (const [tool, args] of [
        ['review', {}],
        ['review_decide', { action: 'approve', sessions }],
      ] as const)
        expect((await reader.call(tool, args)).structuredContent.error.code).toBe('forbidden')
      const others = [
        await newKey({ owner: 'ben' }, org),
        await newKey({ projects: ['elsewhere'] }, org),
        await newKey({ role: 'admin', owner: 'cyd' }, org),
        await newKey(),
      ]
      for (const other of others) {
        const { call, questions, close } = await connect(other, { capabilities })
        expect((await call('review')).structuredContent.waiting).toEqual([])
        for (const action of ['approve', 'drop']) {
          const { structuredContent } = await call('review_decide', { action, sessions })
          expect(structuredContent.error.code).toBe('not_found')
        }
        expect(questions).toEqual([])
        await close()
      }
      expect(reader.questions).toEqual([])
      expect(await waitingFor(key)).toEqual(sessions)
      await reader.close()
    })
  })
}
