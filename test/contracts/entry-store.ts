import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import type { SqlConnection } from '../../src/adapters/sql/core/connection'
import type { EntryDraft } from '../../src/domain/entry/draft'
import type { Entry } from '../../src/domain/entry/entry'
import type { EntryChange, NewEntry } from '../../src/domain/entry/entry-write'
import type { Metadata } from '../../src/domain/entry/metadata'
import { applyUpdates } from '../../src/domain/entry/update'
import type { Caller } from '../../src/domain/identity/scope'
import { EVERYTHING, type Filter } from '../../src/domain/search/filter'
import type { EntryStore } from '../../src/ports/entry-store'
import { entryOf, freshPrincipal, type TestClock } from '../support/scope'

const PAGE = { limit: 100, offset: 0, previewLength: 301 }
const thread = (is: string): Filter => ({ op: 'thread', is })

export interface StoreUnderTest {
  readonly store: EntryStore
  readonly clock: TestClock
  /** The database itself, for what only the life cycle writes. */
  readonly connection: SqlConnection
}

/** Behavior of every EntryStore, on every database. */
export function entryStoreContract(name: string, make: () => StoreUnderTest): void {
  describe(`${name} keeps entries`, () => {
    let store: EntryStore
    let clock: TestClock
    let connection: SqlConnection
    let ada: Caller
    beforeEach(() => {
      ;({ store, clock, connection } = make())
      ada = freshPrincipal()
    })

    const save = async (draft: Partial<EntryDraft> = {}, by = ada): Promise<number> => {
      const [saved] = await store.save(by, [await entryOf(by, draft)])
      return saved?.id as number
    }
    const archive = (id: number) => connection.batch([sql`UPDATE entries SET archived = 1 WHERE id = ${id}`])
    const read = async (id: number, by = ada) => (await store.read(by, [id]))[0]
    const listed = async (filter: Filter = EVERYTHING, by = ada) =>
      (await store.page(by, filter, PAGE)).entries.map(({ id }) => id)

    it('[THREADS-74, THREADS-184] counts all matches for a reader of few entries, and may stop at a thousand for one of many', async () => {
      for (let at = 0; at < 1_100; at += 275) {
        const drafts = Array.from({ length: 275 }, (_, i) => ({ text: `entry ${at + i}`, metadata: { state: 'open' } }))
        await store.save(ada, await Promise.all(drafts.map((draft) => entryOf(ada, draft))))
      }
      await save({ metadata: { state: 'done' } })
      const open: Filter = { op: 'equals', path: ['state'], anyOf: ['open'], fold: true }
      const page = async (offset: number) => {
        const { entries, ...counted } = await store.page(ada, open, { limit: 30, offset, previewLength: 9 })
        return { shown: entries.map(({ id }) => id), ...counted }
      }
      const all = await page(0)
      expect(all).toMatchObject({ total: 1_100 })
      expect(all).not.toHaveProperty('totalIsExact')
      const further = await page(1_050)
      await connection.batch([
        sql`UPDATE entry_counters SET entries = entries + 10000 WHERE org = ${ada.org} AND entries > 0`,
      ])
      const stopped = await page(0)
      expect(stopped.shown).toEqual(all.shown)
      expect([stopped.total, stopped.totalIsExact]).toEqual(
        stopped.totalIsExact === false ? [1_000, false] : [1_100, undefined],
      )
      // One more than the page has shown is counted, so that readers know that there are more.
      const beyond = await page(1_050)
      expect(beyond.shown).toEqual(further.shown)
      expect(beyond.total).toBe(beyond.totalIsExact === false ? 1_081 : 1_100)
      expect(await page(1_090)).toMatchObject({ total: 1_100 })
      expect((await page(1_090)).shown).toHaveLength(10)
    })

    it('returns stored entries', async () => {
      const metadata = { title: 'T', nested: { a: [1, null, 'x'] }, ['__proto__']: 1 }
      const id = await save({ threadId: 't', source: 'agent', text: 'héllo 🌍', metadata, tags: ['B', 'a'] })
      expect(await read(id)).toMatchObject({
        id,
        threadId: 't',
        source: 'agent',
        text: 'héllo 🌍',
        tags: ['a', 'b'],
        images: [],
        version: 1,
        kind: 'note',
        title: 'T',
        createdAt: clock.ms,
        updatedAt: clock.ms,
        createdBy: 'key-1',
      })
      expect(JSON.stringify((await read(id))?.metadata)).toBe(JSON.stringify(metadata))
    })

    it('names with an entry the newest visible one that supersedes it, in every kind of read', async () => {
      const eve = { ...ada, owner: 'eve' }
      const old = await save({ threadId: 't' })
      const later = await save({ threadId: 't', metadata: { supersedes: [old] } })
      const hidden = await save({ threadId: 't', metadata: { supersedes: [old], audience: 'private' } })
      const page = await save({ threadId: 't', metadata: { supersedes: [old], diary: true, agent_name: 'a' } })
      const told = async (by: Caller) => [
        ...(await store.readWithin(by, [old, later], 1_000_000)).entries,
        ...(await store.page(by, thread('t'), PAGE)).entries
          .filter(({ id }) => id === old || id === later)
          .toReversed(),
        ...(await store.previews(by, EVERYTHING, [old, later], 301)),
      ]
      const named = async (by: Caller) => (await told(by)).map(({ id, supersededBy }) => [id, supersededBy])
      const everywhere = (by: number | undefined) =>
        Array.from({ length: 3 }, () => [
          [old, by],
          [later, undefined],
        ]).flat()
      expect(await named(ada)).toEqual(everywhere(hidden))
      expect(await named(eve)).toEqual(everywhere(later))
      await store.delete(ada, { ids: [later, page] })
      expect((await store.readWithin(eve, [old], 1_000_000)).entries[0]?.supersededBy).toBeUndefined()
      // Of two that supersede each other the newer is current.
      await store.change(ada, [
        await applyUpdates(ada, (await read(old)) as Entry, [{ id: old, metadata: { supersedes: [hidden] } }]),
      ])
      const both = await store.readWithin(ada, [old, hidden], 1_000_000)
      expect(both.entries.map(({ supersededBy }) => supersededBy)).toEqual([hidden, undefined])
    })

    it('preserves what an entry supersedes when its metadata are changed by a caller who cannot see that', async () => {
      const eve = { ...ada, owner: 'eve', projects: ['p'] }
      const hidden = await save({ metadata: { audience: 'private' } })
      const elsewhere = await save({ metadata: { project: 'q' } })
      const unseen = await save({ metadata: { project: 'q' } })
      const later = await save({
        threadId: 't',
        text: 'Later',
        metadata: { project: 'p', supersedes: [hidden, elsewhere] },
      })
      const told = async () =>
        (await store.readWithin(ada, [elsewhere, hidden, unseen], 1_000_000)).entries.map(
          ({ supersededBy }) => supersededBy,
        )
      const change = async (metadata: Metadata) =>
        store.change(eve, [await applyUpdates(eve, (await read(later, eve)) as Entry, [{ id: later, metadata }])])
      await change({ project: 'p', status: 'done', supersedes: [hidden, elsewhere] })
      expect((await told())[0]).toBe(later)
      await save(
        { threadId: 't', text: 'Later', metadata: { project: 'p', supersedes: [hidden, elsewhere], a: 1 } },
        eve,
      )
      expect((await told())[0]).toBe(later)
      // Links that they did not make are not made, and removed names are not linked.
      await change({ project: 'p', supersedes: [hidden, unseen] })
      expect((await told()).slice(0, 1).concat((await told())[2])).toEqual([undefined, undefined])
      await store.change(ada, [
        await applyUpdates(ada, (await read(later)) as Entry, [
          { id: later, metadata: { project: 'p', supersedes: [hidden] } },
        ]),
      ])
      expect(await told()).toEqual([undefined, later, undefined])
    })

    it('distinguishes null metadata from an empty object', async () => {
      expect((await read(await save()))?.metadata).toBeNull()
      expect((await read(await save({ metadata: {} })))?.metadata).toEqual({})
    })

    it('gives ids that rise and are never used again', async () => {
      const first = await save()
      await store.delete(ada, { ids: [first] })
      expect(await save()).toBeGreaterThan(first)
    })

    it('shows nothing of another org', async () => {
      const id = await save({ threadId: 'shared', tags: ['t'] })
      const bob = freshPrincipal()
      expect(await read(id, bob)).toBeUndefined()
      expect(await listed(EVERYTHING, bob)).toEqual([])
      expect(await store.delete(bob, { ids: [id] })).toBe(0)
      expect(await store.delete(bob, { threadIds: ['shared'] })).toBe(0)
      expect(await store.patch(bob, id, { a: 1 })).toBeNull()
      expect((await store.threads(bob, { limit: 10, offset: 0 })).total).toBe(0)
      expect((await store.statistics(bob)).entries).toBe(0)
      expect(await read(id)).toBeDefined()
    })

    it('shows entries of closed projects to no narrowed caller, and its own', async () => {
      const org = ada.org
      const inA = await save({ metadata: { project: 'a' } })
      const inB = await save({ metadata: { project: 'b' } })
      const free = await save()
      const narrowed = freshPrincipal({ org, projects: ['a'] })
      expect(await listed(EVERYTHING, narrowed)).toEqual([free, inA])
      expect(await read(inB, narrowed)).toBeUndefined()
      expect((await store.threads(narrowed, { limit: 10, offset: 0 })).threads[0]?.entries).toBe(2)
      expect((await store.statistics(narrowed)).entries).toBe(2)
    })

    it('shows private entries to their owner only, and diary pages by id only', async () => {
      const secret = await save({ metadata: { audience: 'private' } })
      const diary = await save({ metadata: { diary: true } })
      const eve = freshPrincipal({ org: ada.org, owner: 'eve' })
      expect(await listed()).toEqual([secret])
      expect(await listed(EVERYTHING, eve)).toEqual([])
      expect(await read(diary)).toBeDefined()
      expect(await read(diary, eve)).toBeUndefined()
      expect(await read(secret, eve)).toBeUndefined()
      expect((await store.statistics(eve)).entries).toBe(0)
    })

    it('hides an entry at the second it expires, from pages, reads and counters', async () => {
      const id = await save({ threadId: 'x', metadata: { expires_at: '2026-11-20T09:00:10Z' } })
      const stays = await save({ threadId: 'x' })
      clock.advance(9_999)
      expect(await listed()).toEqual([stays, id])
      clock.advance(1)
      expect(await listed()).toEqual([stays])
      expect(await read(id)).toBeUndefined()
      const { threads } = await store.threads(ada, { limit: 10, offset: 0 })
      expect(threads).toMatchObject([{ threadId: 'x', entries: 1 }])
      expect((await store.page(ada, thread('x'), PAGE)).total).toBe(1)
      expect((await store.statistics(ada)).entries).toBe(1)
    })

    it('[OPERATE-155] orders threads by use, name or number of entries, and finds those whose names contain a text', async () => {
      for (const threadId of ['b one', 'a two', 'b one', '%c', 'Z one']) {
        clock.advance(1_000)
        await save({ threadId, text: `${threadId} ${clock.ms}` })
      }
      const names = async (more: object, by = ada) =>
        (await store.threads(by, { limit: 10, offset: 0, ...more })).threads.map(({ threadId }) => threadId)
      expect(await names({})).toEqual(['Z one', '%c', 'b one', 'a two'])
      expect(await names({ order: 'name' })).toEqual(['%c', 'Z one', 'a two', 'b one'])
      expect(await names({ order: 'entries' })).toEqual(['b one', 'Z one', '%c', 'a two'])
      expect(await names({ contains: 'one' })).toEqual(['Z one', 'b one'])
      expect(await names({ contains: '%' })).toEqual(['%c'])
      expect((await store.threads(ada, { limit: 1, offset: 0, contains: 'one' })).total).toBe(2)
      expect(await names({ contains: 'one' }, freshPrincipal())).toEqual([])
    })

    describe('when a store is repeated', () => {
      it('updates the newest turn with the same text', async () => {
        const id = await save({ text: 'same', metadata: { a: 1 }, tags: ['x'] })
        clock.advance(5_000)
        const [again] = await store.save(ada, [await entryOf(ada, { text: 'same' })])
        expect(again).toMatchObject({ id, version: 2, isNew: false })
        expect(await read(id)).toMatchObject({ metadata: { a: 1 }, tags: ['x'], version: 2, updatedAt: clock.ms })
        expect((await read(id))?.createdAt).toBe(clock.ms - 5_000)
      })

      it('replaces given values, also with empty lists', async () => {
        const id = await save({ text: 'same', metadata: { a: 1 }, tags: ['x'] })
        await save({ text: 'same', metadata: { b: 2 }, tags: [] })
        expect(await read(id)).toMatchObject({ metadata: { b: 2 }, tags: [] })
      })

      it('replaces images and links, including equal ones, and preserves them if none are given', async () => {
        const picture = (hash: string) => ({ hash: hash.repeat(64), mimeType: 'image/png' as const, size: 70 })
        const [a, b] = [picture('a'), picture('b')]
        const linked = await save()
        const metadata = { references: { context_ids: [linked, linked] } }
        const saveAgain = async (images: NewEntry['images'], more: Partial<EntryDraft> = {}) => {
          const [saved] = await store.save(ada, [{ ...(await entryOf(ada, { text: 'same', ...more })), images }])
          return (await read(saved?.id as number))?.images.map(({ hash }) => hash[0])
        }
        expect(await saveAgain([a])).toEqual(['a'])
        expect(await saveAgain([a, a])).toEqual(['a', 'a'])
        expect(await saveAgain(null)).toEqual(['a', 'a'])
        expect(await saveAgain(null, { metadata })).toEqual(['a', 'a'])
        expect(await saveAgain([a, b, a], { metadata: { ...metadata, b: 2 } })).toEqual(['a', 'b', 'a'])
        expect(await saveAgain([])).toEqual([])
        expect((await store.page(ada, thread('thread'), PAGE)).total).toBe(2)
      })

      it('adds an entry each time without deduplication of messages', async () => {
        const id = await save({ text: 'same' })
        const [again] = await store.save(ada, [await entryOf(ada, { text: 'same' })], { dedupe: false })
        expect(again).toMatchObject({ version: 1, isNew: true })
        expect(again?.id).not.toBe(id)
      })

      it('adds an entry when the other source has answered since', async () => {
        const id = await save({ text: 'yes', source: 'user' })
        await save({ text: 'done', source: 'agent' })
        expect(await save({ text: 'yes', source: 'user' })).not.toBe(id)
      })

      it('adds an entry when a newer turn of the same source differs', async () => {
        const id = await save({ text: 'one' })
        await save({ text: 'two' })
        expect(await save({ text: 'one' })).not.toBe(id)
      })

      it('does not match entries of other threads, orgs or private readers', async () => {
        const id = await save({ text: 'same', threadId: 'a' })
        expect(await save({ text: 'same', threadId: 'b' })).not.toBe(id)
        const secret = await save({ text: 'hidden', metadata: { audience: 'private' } })
        const eve = freshPrincipal({ org: ada.org, owner: 'eve' })
        expect(await save({ text: 'hidden' }, eve)).not.toBe(secret)
      })

      it('does not move an entry out of its project, nor into one', async () => {
        const inA = freshPrincipal({ org: ada.org, owner: 'eve', projects: ['a'] })
        const first = { text: 'same', metadata: { project: 'a' }, tags: ['x'] }
        const id = await save(first, inA)
        expect(await save(first, inA)).toBe(id)
        const loose = await save({ text: 'same', metadata: { title: 'mine' } })
        const inB = await save({ text: 'same', metadata: { project: 'b' } })
        expect(new Set([id, loose, inB]).size).toBe(3)
        expect(await read(id, inA)).toMatchObject({ metadata: { project: 'a' }, tags: ['x'], version: 2 })
        expect(await save({ text: 'same', metadata: { project: 'b', title: 'mine' } })).toBe(inB)
        expect(await save({ text: 'same', tags: ['y'] })).toBe(inB)
      })

      it('lets each entry of a batch see the ones before it', async () => {
        const same = await entryOf(ada, { text: 'same' })
        const [first, second] = await store.save(ada, [same, same])
        expect(second).toMatchObject({ id: first?.id, version: 2, isNew: false })
      })

      it('gives one id to twenty stores at the same time', async () => {
        const same = await entryOf(ada, { text: 'same' })
        const saved = await Promise.all(Array.from({ length: 20 }, () => store.save(ada, [same])))
        expect(new Set(saved.map(([one]) => one?.id)).size).toBe(1)
        expect(new Set(saved.map(([one]) => one?.version)).size).toBe(20)
      })
    })

    describe('in pages', () => {
      it('orders by second of creation, then id, and counts every match', async () => {
        const ids: number[] = []
        for (const advance of [0, 400, 700, 5_000]) {
          clock.advance(advance)
          ids.push(await save())
        }
        const { entries, total } = await store.page(ada, EVERYTHING, { limit: 2, offset: 1, previewLength: 10 })
        expect(entries.map(({ id }) => id)).toEqual([ids[2], ids[1]])
        expect(total).toBe(4)
      })

      it('returns no more of a text than requested', async () => {
        await save({ text: '🌍'.repeat(50) })
        const { entries } = await store.page(ada, EVERYTHING, { limit: 2, offset: 0, previewLength: 10 })
        expect(entries[0]?.text).toBe('🌍'.repeat(10))
      })

      it('counts by thread and source from the counters as it does from the entries', async () => {
        for (const source of ['user', 'agent', 'user'] as const) await save({ threadId: 'a', source })
        await save({ threadId: 'b', source: 'agent' })
        const total = async (filter: Filter) => (await store.page(ada, filter, PAGE)).total
        expect(await total(EVERYTHING)).toBe(4)
        expect(await total(thread('a'))).toBe(3)
        expect(await total({ op: 'source', is: 'agent' })).toBe(2)
        expect(await total({ op: 'and', of: [thread('a'), { op: 'source', is: 'user' }] })).toBe(2)
      })
    })

    describe('when entries change', () => {
      const changeOf = async (id: number, change: Partial<EntryChange>): Promise<EntryChange> => ({
        id,
        version: (await read(id))?.version as number,
        steps: 1,
        ...change,
      })

      it('writes given fields and preserves the rest', async () => {
        const id = await save({ text: 'old', metadata: { a: 1 }, tags: ['x'] })
        clock.advance(1_000)
        expect(await store.change(ada, [await changeOf(id, { tags: ['y'] })])).toMatchObject([{ version: 2 }])
        expect(await read(id)).toMatchObject({ text: 'old', metadata: { a: 1 }, tags: ['y'], version: 2 })
        expect((await read(id))?.updatedAt).toBe(clock.ms)
      })

      it('changes none when one of them has moved on', async () => {
        const [a, b] = [await save(), await save()]
        const stale = await changeOf(a, { tags: ['stale'] })
        await store.patch(ada, a, { moved: true })
        const fresh = await changeOf(b, { tags: ['fresh'] })
        await expect(store.change(ada, [fresh, stale])).rejects.toMatchObject({ code: 'conflict', retryable: true })
        expect((await read(b))?.tags).toEqual([])
      })

      it('refuses a change of a deleted entry', async () => {
        const id = await save()
        const change = await changeOf(id, { tags: ['x'] })
        await store.delete(ada, { ids: [id] })
        await expect(store.change(ada, [change])).rejects.toMatchObject({ code: 'conflict' })
      })

      it('keeps fifty patches of different keys made at the same time', async () => {
        const id = await save({ metadata: { kept: true } })
        const keys = Array.from({ length: 50 }, (_, i) => `k${i}`)
        const patched = await Promise.all(keys.map((key) => store.patch(ada, id, { [key]: key })))
        const versions = patched.map((one) => one?.version)
        expect(new Set(versions).size).toBe(50)
        expect(await read(id)).toMatchObject({
          version: 51,
          metadata: { kept: true, ...Object.fromEntries(keys.map((key) => [key, key])) },
        })
      })

      it('refuses a patch that would make the metadata too large', async () => {
        const id = await save({ metadata: { a: 'x'.repeat(200_000) } })
        await expect(store.patch(ada, id, { b: 'y'.repeat(100_000) })).rejects.toMatchObject({ code: 'limit_exceeded' })
        expect((await read(id))?.version).toBe(1)
      })
    })

    describe('when entries are deleted', () => {
      it('counts existing entries, duplicates once', async () => {
        const id = await save()
        expect(await store.delete(ada, { ids: [id, id, 999_999_999] })).toBe(1)
        expect(await store.delete(ada, { ids: [id] })).toBe(0)
      })

      it('joins criteria with AND', async () => {
        const old = await save({ threadId: 'a', source: 'agent' })
        await save({ threadId: 'a', source: 'user' })
        clock.advance(86_400_000)
        await save({ threadId: 'a', source: 'agent' })
        const count = await store.delete(ada, {
          threadIds: ['a'],
          source: 'agent',
          createdBefore: clock.ms,
        })
        expect(count).toBe(1)
        expect(await read(old)).toBeUndefined()
      })
    })

    it('keeps thread counters equal to the truth', async () => {
      const a = await save({ threadId: 'a', source: 'user' })
      clock.advance(10_000)
      await save({ threadId: 'a', source: 'agent' })
      clock.advance(10_000)
      const last = await save({ threadId: 'a', source: 'agent', text: 'last' })
      await save({ threadId: 'b' })
      await store.delete(ada, { ids: [a] })
      await archive(last)
      const { threads } = await store.threads(ada, { limit: 10, offset: 0 })
      expect(threads.map(({ threadId, entries, sources }) => [threadId, entries, sources])).toEqual([
        ['b', 1, 1],
        ['a', 1, 1],
      ])
      expect(threads[1]?.firstSecond).toBe(threads[1]?.lastSecond)
    })
  })
}
