import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { createFeedNotifier } from '../../src/adapters/feed-object'
import type { FeedObject } from '../../src/adapters/feed-object/object'
import { composeServices } from '../../src/composition/worker'
import { UNFILTERED_FEED, type VisibilityChange } from '../../src/domain/history/feed'
import type { ChangeNotifier, Listener } from '../../src/ports/change-notifier'
import { bindings, config, migrate } from '../support/bindings'
import { freshPrincipal } from '../support/scope'

/** The bell of an org, which is a Durable Object, and what it costs the database to wait for it. */
const org = () => `org-${crypto.randomUUID()}`
const bell = (failures: unknown[] = []): ChangeNotifier =>
  createFeedNotifier(bindings.FEEDS as NonNullable<typeof bindings.FEEDS>, (error) => failures.push(error))
const place = (threadId: string, project: string | null = null, reader = '') => ({ threadId, project, reader })
const stored = (entryId: number, threadId: string, project: string | null = null, reader = ''): VisibilityChange => ({
  ...{ entryId, before: null, after: place(threadId, project, reader), erased: false },
})
const LONG = 60_000

beforeAll(migrate)

describe('the bell of an org', () => {
  const listener = (of: string, more: Partial<Listener> = {}): Listener => ({
    scope: { org: of, projects: null, owner: 'ada' },
    filters: [UNFILTERED_FEED],
    ...more,
  })

  it('wakes matching listeners, and lets the others wait', async () => {
    const [one, ringing] = [org(), bell()]
    const mark = (await ringing.mark(one)) as string
    const waits = [
      listener(one),
      listener(one, { filters: [{ ...UNFILTERED_FEED, threadId: 'a' }] }),
      listener(one, {
        filters: [
          { ...UNFILTERED_FEED, threadId: 'b' },
          { ...UNFILTERED_FEED, entryId: 7 },
        ],
      }),
      listener(one, { filters: [{ ...UNFILTERED_FEED, threadId: 'b' }] }),
      listener(one, { scope: { org: one, projects: ['q'], owner: 'ada' } }),
      listener(one, { scope: { org: one, projects: null, owner: 'eve' } }),
    ].map((who) => ringing.wait(one, who, mark, 400))
    await ringing.publish(one, [stored(7, 'a', 'p', 'ada')])
    expect((await Promise.all(waits)).map((woken) => woken?.notified)).toEqual([true, true, true, false, false, false])
  })

  it('forgets nothing between two waits, and wakes everyone when there were too many changes', async () => {
    const [one, ringing] = [org(), bell()]
    const mark = (await ringing.mark(one)) as string
    await ringing.publish(one, [stored(1, 'a')])
    const woken = await ringing.wait(one, listener(one), mark, LONG)
    expect(woken?.notified).toBe(true)
    expect((await ringing.wait(one, listener(one), woken?.mark as string, 10))?.notified).toBe(false)
    await ringing.publish(one, null)
    const narrow = listener(one, { scope: { org: one, projects: [], owner: null } })
    expect((await ringing.wait(one, narrow, woken?.mark as string, LONG))?.notified).toBe(true)
    // A reader with a position of another life, or of too long ago, reads the feed.
    for (const old of ['another life 0', '', `${mark.split(' ')[0]} 99`])
      expect((await ringing.wait(one, narrow, old, LONG))?.notified).toBe(true)
    for (let i = 0; i < 300; i++) void ringing.publish(one, [stored(i, 'a', 'p')])
    await ringing.publish(one, [stored(1, 'a', 'p')])
    expect((await ringing.wait(one, narrow, mark, LONG))?.notified).toBe(true)
  })

  it('may be evicted while a reader waits, since it holds no call or timer, and then wakes matching listeners', async () => {
    const [one, ringing] = [org(), bell()]
    const object = bindings.FEEDS?.getByName(one) as DurableObjectStub<FeedObject>
    const mark = (await ringing.mark(one)) as string
    const stream = { id: 'a', key: 'key-1' }
    const crowd = Array.from({ length: 100 }, (_, i) => ({ ...UNFILTERED_FEED, threadId: `thread ${i}` }))
    const waits = [
      listener(one, { stream }),
      listener(one, { filters: crowd }),
      listener(one, { filters: [{ ...UNFILTERED_FEED, threadId: 'b' }] }),
    ].map((who) => ringing.wait(one, who, mark, LONG))
    const other = vi.fn()
    void waits[2]?.then(other)
    const waiting = () =>
      runInDurableObject(object, (_, state) => state.getWebSockets().map((at) => at.deserializeAttachment()))
    await vi.waitUntil(async () => (await waiting()).filter((kept) => kept !== null).length === 3)
    // Which waits for calls that are under way, had there been any.
    await evictDurableObject(object)
    expect(await ringing.mark(one)).not.toBe(mark)
    expect(await ringing.admit(one, { id: 'b', key: 'key-1' }, 1)).toBe(false)
    await ringing.closeStream(one, stream)
    expect(await ringing.admit(one, { id: 'b', key: 'key-1' }, 1)).toBe(true)
    await evictDurableObject(object)
    await ringing.publish(one, [stored(7, 'a', 'p', 'ada')])
    expect((await Promise.all(waits.slice(0, 2))).map((woken) => woken?.notified)).toEqual([true, true])
    expect(other).not.toHaveBeenCalled()
    await ringing.publish(one, [stored(8, 'b')])
    expect((await waits[2])?.notified).toBe(true)
    await vi.waitUntil(async () => (await waiting()).length === 0)
  })

  it('keeps orgs apart', async () => {
    const [one, two, ringing] = [org(), org(), bell()]
    const waiting = ringing.wait(two, listener(two), (await ringing.mark(two)) as string, 200)
    await ringing.publish(one, [stored(1, 'a')])
    expect((await waiting)?.notified).toBe(false)
  })

  it('counts the streams of a key until they leave', async () => {
    const [one, ringing] = [org(), bell()]
    const stream = (id: string, key = 'key-1') => ({ id, key })
    expect(await ringing.admit(one, stream('a'), 2)).toBe(true)
    expect(await ringing.admit(one, stream('b'), 2)).toBe(true)
    expect(await ringing.admit(one, stream('c'), 2)).toBe(false)
    expect(await ringing.admit(one, stream('c', 'key-2'), 2)).toBe(true)
    await ringing.closeStream(one, stream('a'))
    expect(await ringing.admit(one, stream('c'), 2)).toBe(true)
  })

  it('delays no call when it does not respond', async () => {
    const failures: unknown[] = []
    const broken = { getByName: () => Promise.reject(new Error('down')) } as never
    const down = createFeedNotifier(
      new Proxy(broken, { get: () => () => new Proxy({}, { get: () => () => Promise.reject(new Error('down')) }) }),
      (error) => failures.push(error),
    )
    expect(await down.mark('o')).toBeNull()
    expect(await down.wait('o', listener('o'), '', 10)).toBeNull()
    expect(await down.admit('o', { id: 'a', key: 'k' }, 1)).toBe(true)
    await down.publish('o', null)
    await down.closeStream('o', { id: 'a', key: 'k' })
    expect(failures.length).toBe(5)
  })
})

describe('a change of the store', () => {
  it('is published to waiting readers, however it was written', async () => {
    const background: Promise<unknown>[] = []
    const services = composeServices(bindings, config, {
      log: () => {},
      waitUntil: (work) => background.push(work),
    })
    const ada = freshPrincipal()
    // Shorter than the interval of polling, so that a notification caused the result.
    const waitFor = async (write: () => Promise<unknown>) => {
      const { next } = await services.changes.list(ada, {
        after: undefined,
        filter: UNFILTERED_FEED,
        limit: 50,
        waitMs: 0,
      })
      const asked = services.changes.list(ada, { after: next, filter: UNFILTERED_FEED, limit: 50, waitMs: 4_500 })
      await write()
      const { changes } = await asked
      return changes.map(({ action, changeId }) => `${action} ${changeId}`)
    }
    const drafts = [{ ok: true as const, value: { threadId: 't', source: 'user' as const, text: 'told' } }]
    expect(
      await waitFor(() => services.storeEntries({ ...ada, changeId: 'c1' }, drafts, { atomic: true, dedupe: true })),
    ).toEqual(['stored c1'])
    const [id] = (
      await services.entries.page(ada, { op: 'thread', is: 't' }, { limit: 1, offset: 0, previewLength: 1 })
    ).entries.map((entry) => entry.id) as [number]
    expect(
      await waitFor(() =>
        services.updateEntries({ ...ada, changeId: 'c2' }, [{ ok: true, value: { id, text: 'again' } }], true),
      ),
    ).toEqual(['updated c2'])
    expect(await waitFor(() => services.deleteEntries.delete({ ...ada, changeId: 'c3' }, { ids: [id] }))).toEqual([
      'deleted c3',
    ])
    await Promise.all(background)
  })
})
