import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Server } from '@modelcontextprotocol/server'
import { describe, expect, it } from 'vitest'
import { createCursorSeal } from '../../src/domain/history/cursor'
import { actionFor, type FeedChange, UNFILTERED_FEED, type VisibilityChange } from '../../src/domain/history/feed'
import { filterOfResource } from '../../src/domain/history/resource-filter'
import { eventStream } from '../../src/http/changes'
import { openPages } from '../../src/http/event-stream'
import { serveListening } from '../../src/http/listen'
import { serveMcp } from '../../src/http/mcp'
import type { ChangeNotifier, Woken } from '../../src/ports/change-notifier'
import type { ChangeFeed, FeedPage } from '../../src/ports/history'
import type { LastSeen } from '../../src/ports/memories'
import { createChanges, type ListRequest } from '../../src/services/searching/history/changes'
import type { Services } from '../../src/services/services'
import { freshPrincipal, TestClock } from '../support/scope'

/** The rules of the feed and its waits, on a clock that only waiting advances. */
const ada = freshPrincipal()
const place = { threadId: 't', project: null, reader: '' }

/**
 * A feed in memory, a notifier that works or does not, and a clock; each read of the feed is recorded with its time.
 */
function world(bell: Partial<ChangeNotifier> = {}) {
  const clock = new TestClock(0)
  const looks: number[] = []
  let commits = 0
  const plans: { at: number; step: () => void }[] = []
  const pass = async (ms: number) => {
    const until = clock.ms + ms
    for (const plan of plans.splice(0))
      if (plan.at <= until) {
        clock.ms = Math.max(clock.ms, plan.at)
        plan.step()
      } else plans.push(plan)
    clock.ms = until
  }
  const change = (position: number): FeedChange => {
    const sight: VisibilityChange = { entryId: position, before: null, after: place, erased: false }
    const item = { changeId: 'c', action: 'stored', entryId: position, threadId: 't', project: null } as const
    return { ...item, kind: 'note', version: 1, at: 0, agent: null, preview: '', position, sight }
  }
  const feed: ChangeFeed = {
    async page(_scope, _filter, start, limit): Promise<FeedPage> {
      looks.push(clock.ms)
      const from = start === 'now' ? commits : start === 'start' ? 0 : start
      const all = Array.from({ length: commits - from }, (_, i) => change(from + i + 1))
      const changes = all.slice(0, limit)
      return { changes, next: changes.at(-1)?.position ?? from, more: all.length > limit }
    },
    latest: async () => ({ changes: [], next: commits }),
    newest: async () => ({ changes: [], next: commits, older: null }),
    position: async () => 0,
  }
  const silent: ChangeNotifier = {
    publish: async () => {},
    mark: async () => null,
    wait: async () => null,
    admit: async () => true,
    closeStream: async () => {},
  }
  const seal = createCursorSeal('a secret')
  const sightings: LastSeen = {
    since: async () => ({ last: null, newestId: 0, added: 0, recent: [] }),
    note: async () => {},
  }
  const changes = createChanges({
    ...{ feed, bell: { ...silent, ...bell }, seal: () => seal, sightings, clock, sleep: pass },
  })
  return {
    ...{ clock, looks, changes, pass },
    commitAt: (at: number, then = () => {}) =>
      plans.push({
        at,
        step: () => {
          commits++
          then()
        },
      }),
  }
}

const request = (waitMs: number, after?: string): ListRequest => ({ after, filter: UNFILTERED_FEED, limit: 50, waitMs })

describe('waiting for a change', () => {
  it('[HISTORY-47] finds a change within fifteen seconds without a notification, and polls at most every five', async () => {
    const { changes, looks, commitAt, clock } = world()
    const { next } = await changes.list(ada, request(0))
    commitAt(9_000)
    const found = await changes.list(ada, request(20_000, next))
    expect(found.changes.map(({ entryId }) => entryId)).toEqual([1])
    expect(clock.ms - 9_000).toBeLessThanOrEqual(15_000)
    const waiting = looks.slice(1)
    for (const [i, at] of waiting.slice(1).entries()) expect(at - (waiting[i] as number)).toBeGreaterThanOrEqual(5_000)
    // No change arrives: the call ends after its time, with three polls.
    const end = clock.ms + 20_000
    looks.splice(0)
    expect(await changes.list(ada, request(20_000, found.next))).toMatchObject({ changes: [], more: false })
    expect(clock.ms).toBe(end)
    expect(looks.length).toBe(4)
    // A stream without notifications polls as often, for as long as it is open.
    const stream = changes.follow(ada, 'now', { filters: [UNFILTERED_FEED], stream: { id: 's', key: 'k' } })
    looks.splice(0)
    for (let i = 0; i < 5; i++) await stream.next()
    for (const [i, at] of looks.slice(1).entries()) expect(at - (looks[i] as number)).toBe(7_500)
  })

  it('[HISTORY-50] sends a comment on a silent stream every fifteen seconds, and moves its cursor with it', async () => {
    const { changes, clock } = world()
    const spoke: number[] = []
    const seal: typeof changes.seal = (...given) => {
      spoke.push(clock.ms)
      return changes.seal(...given)
    }
    const services = {
      changes: { ...changes, seal },
      now: () => clock.ms,
      identity: { principalOfKeyId: async () => ada },
      afterwards: () => {},
    } as unknown as Services
    const pages = await openPages(services, ada, { after: undefined, filters: [UNFILTERED_FEED] })
    const reader = eventStream(services, ada, pages).getReader()
    const said: string[] = []
    for (let i = 0; i < 6; i++) said.push(new TextDecoder().decode((await reader.read()).value))
    await reader.cancel()
    for (const text of said.slice(1)) expect(text).toMatch(/^: .+\nid: \S+\n\n$/)
    const silence = spoke.slice(1).map((at, i) => at - (spoke[i] as number))
    expect([silence.length >= 5, Math.max(...silence) <= 15_000, Math.min(...silence) >= 10_000]).toEqual([
      true,
      true,
      true,
    ])
  })

  it('answers at once after a notification, and reads no further than its change', async () => {
    let ring: (() => void) | null = null
    let mark = 0
    const bell: Partial<ChangeNotifier> = {
      mark: async () => String(mark),
      wait: async (_org, _listener, since, ms) => {
        if (since !== String(mark)) return { notified: true, mark: String(mark) }
        let told = false
        ring = () => {
          told = true
        }
        await made.pass(Math.min(ms, 3_000))
        if (!told) await made.pass(ms - 3_000)
        return { notified: told, mark: String(mark) }
      },
    }
    const made = world(bell)
    const { next } = await made.changes.list(ada, request(0))
    made.commitAt(3_000, () => {
      mark++
      ring?.()
    })
    const found = await made.changes.list(ada, request(20_000, next))
    expect([found.changes.length, made.clock.ms, made.looks]).toEqual([1, 3_000, [0, 0, 3_000]])
    // A wait shorter than the minimum time between two polls ends without another poll.
    made.looks.splice(0)
    expect((await made.changes.list(ada, request(4_000, found.next))).changes).toEqual([])
    expect(made.looks.length).toBe(1)
  })

  it('[HISTORY-52] notifies listeners as soon as the notifier reports a commit, without advancing the clock', async () => {
    let ring = () => {}
    const { changes, looks, clock, commitAt, pass } = world({
      mark: async () => 'm',
      wait: () => new Promise<Woken>((resolve) => (ring = () => resolve({ notified: true, mark: 'm' }))),
    })
    const services = {
      ...{ changes, now: () => clock.ms, afterwards: () => {} },
      identity: { principalOfKeyId: async () => ada },
    } as unknown as Services
    const onerror = (error: Error) => {
      throw error
    }
    const createServer = () =>
      new Server({ name: 's', version: '1.0.0' }, { capabilities: { resources: { subscribe: true } } })
    const serving = { services, principal: ada, createServer, onerror, release: () => {} }
    const fetch = (url: string | URL, init?: RequestInit) => {
      const headers = new Headers(init?.headers)
      headers.set('host', 'localhost')
      return serveMcp(new Request(url, { ...init, headers }), createServer, onerror, {
        listen: (request, message) => serveListening(request, message, serving),
      })
    }
    const client = new Client({ name: 'c', version: '1.0.0' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
    await client.connect(new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), { fetch }))
    const heard = new Promise((resolve) =>
      client.setNotificationHandler('notifications/resources/updated', ({ params }) => resolve(params.uri)),
    )
    await client.listen({ resourceSubscriptions: ['memory://thread/t'] })
    commitAt(0)
    await pass(0)
    ring()
    expect(await heard).toBe('memory://thread/t')
    // No time has passed, on a clock that every wait except the notifier's advances.
    expect([clock.ms, looks]).toEqual([0, [0, 0]])
    await client.close()
  })

  it('looks again only a while after a ring that was for nothing', async () => {
    const made = world({ mark: async () => 'm', wait: async () => ({ notified: true, mark: 'm' }) })
    const { next } = await made.changes.list(ada, request(0))
    made.looks.splice(0)
    await made.changes.list(ada, request(5_000, next))
    expect(made.looks.length).toBeLessThanOrEqual(6)
  })
})

describe('cursors', () => {
  it('[HISTORY-39] seals cursors so that two cursors of one position share no text, and none is valid for another organization', async () => {
    const seal = await createCursorSeal('a secret')
    const cursors = await Promise.all(Array.from({ length: 50 }, () => seal.seal('one', 7)))
    expect(new Set(cursors).size).toBe(50)
    expect(new Set(cursors.map((cursor) => cursor.slice(-16))).size).toBe(50)
    for (const cursor of cursors) {
      expect(cursor).toMatch(/^[A-Za-z0-9_-]{48}$/)
      expect(await seal.open('one', cursor)).toBe(7)
      expect(await seal.open('two', cursor)).toBeNull()
    }
    expect((await seal.seal('one', Number.MAX_SAFE_INTEGER)).length).toBe(48)
    const [cursor] = cursors as [string]
    for (const wrong of [
      '',
      'start',
      `${cursor}x`,
      cursor.replace(/.$/, (end) => (end === 'A' ? 'B' : 'A')),
      'A'.repeat(48),
    ])
      expect(await seal.open('one', wrong)).toBeNull()
    expect(await (await createCursorSeal('another')).open('one', cursor)).toBeNull()
  })
})

describe('addresses of resources', () => {
  it('name what of the feed they are about, where the scope reaches it', () => {
    const of = (uri: string, projects: string[] | null = null) => filterOfResource({ ...ada, projects }, uri)
    expect(of('memory://thread/release%202.1')).toEqual({ ...UNFILTERED_FEED, threadId: 'release 2.1' })
    expect(of('memory://project/p')).toEqual({ ...UNFILTERED_FEED, project: 'p' })
    expect(of('memory://entry/42')).toEqual({ ...UNFILTERED_FEED, entryId: 42 })
    for (const uri of ['memory://entry/x', 'memory://pack/goal', 'https://example.com/thread/t', 'memory://thread/%E0'])
      expect(of(uri)).toBeNull()
    expect([of('memory://project/p', ['q']), of('memory://project/q', ['q'])]).toEqual([
      null,
      { ...UNFILTERED_FEED, project: 'q' },
    ])
  })

  it('are about one entry, whatever else changes', () => {
    const sight: VisibilityChange = { entryId: 42, before: place, after: place, erased: false }
    expect(actionFor(ada, { ...UNFILTERED_FEED, entryId: 42 }, sight)).toBe('updated')
    expect(actionFor(ada, { ...UNFILTERED_FEED, entryId: 43 }, sight)).toBeNull()
    expect(actionFor(ada, { ...UNFILTERED_FEED, actions: ['deleted'] }, sight)).toBeNull()
  })
})
