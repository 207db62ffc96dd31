import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, type Team } from '../../support/access'
import { type Event, type EventStream, openEvents } from '../../support/event-stream'
import { sharedTeam, unique } from './session'

const CURSOR = /^[A-Za-z0-9_-]{48}$/
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const STALE = { code: 'invalid_input', details: { resync_from: 'list' } }

// biome-ignore lint/suspicious/noExplicitAny: answers are untyped
type Json = any

/** The feed as agents and programs have it: list_changes, lines and events over HTTP, notifications (history contract §4). */
export function changeFeedEndpointContract(): void {
  describe('the feed on the wire', () => {
    let team: Team
    let org: string
    let writer: string
    let reader: { id: string; key: string }
    let narrow: string
    const open: (() => unknown)[] = []
    beforeAll(async () => {
      team = await sharedTeam()
      org = unique('org')
      writer = (await team.key(org, { name: 'writer', agent: 'ci-bot', owner: 'ada' })).key
      reader = await team.key(org, { name: 'reader', role: 'reader', owner: 'eve' })
      narrow = (await team.key(org, { name: 'narrow', role: 'reader', projects: ['p'], owner: 'nat' })).key
    })
    afterAll(async () => {
      for (const close of open) await close()
    })

    const ok = async (bearer: string, name: string, args: Record<string, unknown> = {}): Promise<Json> => {
      const { data, isError, text } = await team.call(bearer, name, args)
      if (isError) throw new Error(`${name} failed: ${text}`)
      return data
    }
    const store = async (text: string, args: Record<string, unknown> = {}): Promise<number> =>
      (await ok(writer, 'store_context', { thread_id: 't', source: 'agent', text, ...args })).context_id
    const list = (args: Record<string, unknown> = {}, bearer = reader.key) => ok(bearer, 'list_changes', args)
    const now = async (bearer = reader.key): Promise<string> => (await list({ limit: 0 }, bearer)).next
    const brief = (changes: readonly Json[]) => changes.map(({ action, context_id: id }) => `${action} ${id}`)
    const page = (query = '', bearer: string | null = reader.key, of = org) =>
      team.ask(`/api/v1/orgs/${of}/changes${query}`, bearer)
    const stream = async (query = '', bearer = reader.key, headers: Record<string, string> = {}) => {
      const url = new URL(`/api/v1/orgs/-/changes${query}`, team.server.url.href)
      const opened = await openEvents(url, { authorization: `Bearer ${bearer}`, ...headers })
      open.push(() => opened.close())
      return opened
    }
    const dataOf = (seen: readonly Event[]) =>
      seen.flatMap(({ data }) => (data === undefined ? [] : [JSON.parse(data)]))
    const ids = (events: EventStream, count: number) =>
      events.until((seen) => dataOf(seen).length >= count).then((seen) => dataOf(seen).map((one) => one.context_id))

    it('[HISTORY-38] answers list_changes with the documented shape, and with limit 0 only a cursor', async () => {
      const first = await list({ limit: 0 })
      expect(first).toEqual({ changes: [], next: expect.stringMatching(CURSOR), hasMore: false })
      const id = await store('we ship on Tuesdays', { metadata: { project: 'p', kind: 'decision' } })
      const { changes, next, hasMore } = await list({ after: first.next })
      expect([changes, hasMore]).toEqual([
        [
          {
            ...{ change_id: expect.stringMatching(/^[0-9a-f]{32}$/), action: 'stored', context_id: id, thread_id: 't' },
            ...{ project: 'p', version: 1, at: expect.stringMatching(ISO), agent: 'ci-bot', kind: 'decision' },
            preview: 'we ship on Tuesdays',
          },
        ],
        false,
      ])
      await ok(writer, 'delete_context', { context_ids: [id] })
      expect((await list({ after: next })).changes).toMatchObject([{ action: 'deleted', context_id: id, preview: '' }])
      const both = [`stored ${id}`, `deleted ${id}`]
      expect(brief((await list({ after: first.next })).changes)).toEqual(both)
      const { changes: all } = await list({ after: 'start', project: 'p', limit: 200 })
      expect(brief(all).filter((one) => one.endsWith(` ${id}`))).toEqual(both)
      // Without a cursor the newest changes, in the order of commits; with a time those from then on.
      const newest = await list({ limit: 2 })
      expect([brief(newest.changes), newest.hasMore]).toEqual([both, false])
      expect(await list({ after: newest.next })).toMatchObject({ changes: [] })
      expect(brief((await list({ after: '1 hour ago', limit: 200 })).changes)).toEqual(expect.arrayContaining(both))
      expect((await list({ after: 'tomorrow' })).changes).toEqual([])
      const refused = await team.call(reader.key, 'list_changes', { after: 'the other day' })
      expect(refused.data.error).toMatchObject(STALE)
      expect(refused.text).toContain('resync_from')
      const denied = await team.call(narrow, 'list_changes', { project: 'q' })
      expect(denied.data.error).toMatchObject({ code: 'forbidden', message: 'Project access denied: q' })
      expect((await team.call(reader.key, 'list_changes', { actions: ['gone'] })).isError).toBe(true)
    })

    it('[HISTORY-40] cuts the feed into pages of a limit, and reports a limit above its maximum', async () => {
      const after = await now()
      const entries = Array.from({ length: 5 }, (_, i) => ({ thread_id: 't', source: 'agent', text: `limit ${i}` }))
      const { results } = await ok(writer, 'store_context_batch', { entries })
      const found: number[] = []
      let cursor = after
      for (let more = true; more; ) {
        const { changes, next, hasMore } = await list({ after: cursor, limit: 2 })
        expect(changes.length).toBe(hasMore ? 2 : 1)
        found.push(...changes.map((change: Json) => change.context_id))
        ;[cursor, more] = [next, hasMore]
      }
      expect(found).toEqual(results.map((result: Json) => result.context_id))
      const whole = await list({ after, limit: 1000 })
      expect(whole.clamped_limit).toEqual({ requested: 1000, applied: 200 })
      expect(new Set(whole.changes.map((change: Json) => change.change_id)).size).toBe(1)
    })

    it('[HISTORY-47] waits for a change, and answers as soon as there is one, else with an empty list at the end', async () => {
      const after = await now()
      const waiting = list({ after, wait_seconds: 20 })
      const id = await store('a reader waits for this')
      expect(brief((await waiting).changes)).toEqual([`stored ${id}`])
      const private_ = list({ after: await now(), wait_seconds: 1, actions: ['deleted'] })
      await store('of another kind')
      expect(await private_).toMatchObject({ changes: [], hasMore: false })
      expect((await team.call(reader.key, 'list_changes', { wait_seconds: 21 })).isError).toBe(true)
    })

    it('[HISTORY-49] answers a page of lines over HTTP, with headers for the next page', async () => {
      const after = await now()
      const stored = [await store('line one'), await store('line two'), await store('line three')]
      const first = await page(`?after=${after}&limit=2`)
      expect([first.status, first.headers.get('content-type')]).toEqual([200, 'application/x-ndjson; charset=utf-8'])
      const lines = first.text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
      expect(lines.map(({ context_id: id }) => id)).toEqual(stored.slice(0, 2))
      expect(lines).toEqual((await list({ after, limit: 2 })).changes)
      const link = /^<([^>]+)>; rel="next"$/.exec(first.headers.get('link') ?? '')?.[1] as string
      const cursor = first.headers.get('x-next-cursor') as string
      expect([cursor, new URL(link, team.server.url).searchParams.get('after')]).toEqual([
        expect.stringMatching(CURSOR),
        cursor,
      ])
      const second = await team.ask(link, reader.key)
      expect(
        second.text
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line).context_id),
      ).toEqual(stored.slice(2))
      expect((await list({ after: cursor })).changes).toHaveLength(1)
      expect(await page('?thread_id=none&after=start')).toMatchObject({ status: 200, text: '' })
      const other = await store('elsewhere', { metadata: { project: 'p' } })
      const of = await page(`?after=${after}&project=p&actions=stored,deleted`, narrow)
      expect(JSON.parse(of.text)).toMatchObject({ context_id: other, project: 'p' })
    })

    it('[HISTORY-49] refuses the feed over HTTP to callers of other or no organizations, and each wrong parameter by name', async () => {
      const foreign = unique('foreign')
      const stranger = (await team.key(foreign, {})).key
      const nowhere = await page('', stranger, 'never-was')
      expect(await page('', stranger)).toMatchObject({ status: 404, text: nowhere.text })
      expect(await page('', ADMIN_TOKEN)).toMatchObject({
        status: 403,
        body: { error: { code: 'forbidden', message: 'Organization context required' } },
      })
      expect((await page('', null)).status).toBe(401)
      for (const [query, word] of [
        ['?limit=0', 'limit'],
        ['?actions=gone', 'actions'],
        ['?thread_id=%20', 'thread_id'],
        ['?since=5', 'since'],
      ] as const)
        expect(await page(query)).toMatchObject({
          status: 400,
          body: { error: { message: expect.stringContaining(word) } },
        })
      expect(await page('?after=yesterday')).toMatchObject({ status: 400, body: { error: STALE } })
      expect(await page('?project=q', narrow)).toMatchObject({ status: 403 })
      // A cursor of one org is none in another.
      const cursor = await now()
      expect(await page(`?after=${cursor}`, stranger, foreign)).toMatchObject({ status: 400, body: { error: STALE } })
      const events = await stream('?after=yesterday')
      expect([events.status, events.headers.get('content-type')]).toEqual([400, expect.stringContaining('json')])
    })

    it('[HISTORY-50] streams changes as events, and resumes after the last one without loss or duplicate', async () => {
      const live = await stream()
      expect([live.status, live.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
      const [opening] = await live.until((seen) => seen.length > 0)
      expect([opening?.data, opening?.id]).toEqual([undefined, expect.stringMatching(CURSOR)])
      const stored = [await store('event one'), await store('event two')]
      await store('of ada alone', { metadata: { audience: 'private' } })
      stored.push(await store('event three'))
      expect(await ids(live, 3)).toEqual(stored)
      const events = live.seen.filter(({ data }) => data !== undefined)
      live.close()
      // After a disconnect at any point, a reader gets the rest and nothing twice.
      for (const [i, { id = '' }] of [opening, ...events].entries() as Iterable<[number, Event]>) {
        const again = await stream('', reader.key, { 'last-event-id': id })
        const more = await store(`after ${i}`)
        const rest = stored.slice(i)
        expect(await ids(again, rest.length + 1)).toEqual([...rest, more])
        stored.push(more)
        again.close()
      }
      const whole = await stream('?after=start&thread_id=t&actions=deleted')
      const deleted = brief((await list({ after: 'start', thread_id: 't', actions: ['deleted'] })).changes)
      const seen = await whole.until((all) => dataOf(all).length >= deleted.length)
      expect(brief(dataOf(seen))).toEqual(deleted)
      whole.close()
    })

    it('[HISTORY-50] ends the streams of a key that is revoked, and lets a key open ten at a time', async () => {
      const guest = await team.key(org, { name: 'guest', role: 'reader' })
      const streams = []
      for (let i = 0; i < 10; i++) streams.push(await stream('', guest.key))
      expect(streams.map(({ status }) => status)).toEqual(streams.map(() => 200))
      const eleventh = await page('', guest.key)
      expect(eleventh.status).toBe(200)
      expect((await stream('', guest.key)).status).toBe(413)
      await Promise.all(streams.map((one) => one.until((seen) => seen.length > 0)))
      await team.api(`/orgs/${org}/keys/${guest.id}`, ADMIN_TOKEN, 'DELETE')
      await store('not for those who left')
      await Promise.all(streams.map(({ ended }) => ended))
      for (const { seen } of streams) {
        expect(seen.at(-1)).toMatchObject({ event: 'end', data: expect.stringContaining('unauthorized') })
        expect(seen.filter(({ data, event }) => data !== undefined && event === undefined)).toEqual([])
      }
      expect((await stream('', guest.key)).status).toBe(401)
    })

    it('[HISTORY-52] notifies everyone who may see a changed resource, and about no other resource', async () => {
      const thread = unique('listened')
      const id = await store('watched', { thread_id: 'elsewhere' })
      async function listen(bearer: string, uris: string[]) {
        const client = new Client(
          { name: 'test', version: '1.0.0' },
          { versionNegotiation: { mode: { pin: '2026-07-28' } } },
        )
        const headers = { authorization: `Bearer ${bearer}` }
        await client.connect(new StreamableHTTPClientTransport(team.server.url, { requestInit: { headers } }))
        open.push(() => client.close())
        const heard: string[] = []
        const waiting = new Set<() => void>()
        client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
          heard.push(params.uri)
          for (const look of waiting) look()
        })
        const subscription = await client.listen({ resourceSubscriptions: uris })
        const until = (uri: string) =>
          new Promise<void>((resolve) => {
            const look = () => {
              if (!heard.includes(uri)) return
              waiting.delete(look)
              resolve()
            }
            waiting.add(look)
            look()
          })
        return { heard, subscription, until }
      }
      const [ofThread, ofEntry] = [`memory://thread/${thread}`, `memory://entry/${id}`]
      const all = await listen(reader.key, [ofThread, 'memory://project/p', ofEntry, 'memory://nothing/here'])
      expect(all.subscription.honoredFilter.resourceSubscriptions).toEqual([ofThread, 'memory://project/p', ofEntry])
      const some = await listen(narrow, ['memory://project/q', ofThread, 'memory://project/p'])
      expect(some.subscription.honoredFilter.resourceSubscriptions).toEqual([ofThread, 'memory://project/p'])
      await store('of q', { thread_id: thread, metadata: { project: 'q' } })
      await all.until(ofThread)
      await ok(writer, 'update_context', { context_id: id, metadata_patch: { plain: 1 } })
      await all.until(ofEntry)
      await store('of ada alone', { thread_id: thread, metadata: { audience: 'private', project: 'p' } })
      await store('of p', { thread_id: 'other', metadata: { project: 'p' } })
      await Promise.all([all.until('memory://project/p'), some.until('memory://project/p')])
      expect(all.heard.toSorted()).toEqual([ofEntry, 'memory://project/p', ofThread].toSorted())
      expect(some.heard).toEqual(['memory://project/p'])
      await all.subscription.close()
      // Revoking ends the others in good order.
      const guest = await team.key(org, { name: 'listener', role: 'reader' })
      const ending = await listen(guest.key, [ofThread])
      await team.api(`/orgs/${org}/keys/${guest.id}`, ADMIN_TOKEN, 'DELETE')
      expect(await ending.subscription.closed).toBe('graceful')
      expect(ending.heard).toEqual([])
    })
  })
}
