import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import type { SqlConnection } from '../../src/adapters/sql/core/connection'
import { createSqlEntryStore } from '../../src/adapters/sql/stores/entries/entry-store'
import type { EntryDraft } from '../../src/domain/entry/draft'
import type { ImageRef } from '../../src/domain/entry/image'
import type { Caller } from '../../src/domain/identity/scope'
import type { Quotas } from '../../src/domain/quota'
import type { Analyzer } from '../../src/domain/search/analysis'
import { entryOf, freshPrincipal, type TestClock } from '../support/scope'

export interface QuotasUnderTest {
  readonly connection: SqlConnection
  readonly analyzer: Analyzer
  readonly clock: TestClock
}

const image = (name: string, size: number): ImageRef => ({ hash: name.repeat(64), mimeType: 'image/png', size })

/** The usage of an organization is counted exactly, and no write exceeds its limits, also with concurrent calls. */
export function quotaContract(name: string, make: () => QuotasUnderTest): void {
  describe(`${name} bounds what an org holds`, () => {
    let made: QuotasUnderTest
    let ada: Caller
    beforeEach(() => {
      made = make()
      ada = freshPrincipal()
    })
    const within = (quotas: Partial<Quotas>, days = 0) => {
      const terms = { days, receiptHours: 24 }
      const all = { entries: null, bytes: null, ...quotas }
      return createSqlEntryStore(made.connection, made.analyzer, made.clock, new Map(), all, terms)
    }
    const free = () => within({})
    type Store = ReturnType<typeof within>
    const save = async (store: Store, draft: Partial<EntryDraft>, images: readonly ImageRef[] | null = null) => {
      const entry = { ...(await entryOf(ada, draft)), images }
      return (await store.save(ada, [entry]))[0]?.id as number
    }
    const used = async () => {
      const [kept, truth, images] = await made.connection.batch([
        sql`SELECT part, items, bytes FROM org_usage WHERE org = ${ada.org} ORDER BY part`,
        sql`SELECT count(*) AS items, coalesce(sum(bytes), 0) AS bytes FROM entries WHERE org = ${ada.org}`,
        sql`
          SELECT count(*) AS items, coalesce(sum(size), 0) AS bytes
          FROM (SELECT hash, max(size) AS size FROM image_uses WHERE org = ${ada.org} GROUP BY hash) used`,
      ])
      const counted = Object.fromEntries((kept ?? []).map((row) => [row.part, [Number(row.items), Number(row.bytes)]]))
      const said = (rows: typeof truth) => [Number(rows?.[0]?.items), Number(rows?.[0]?.bytes)]
      expect([counted.entries ?? [0, 0], counted.images ?? [0, 0]]).toEqual([said(truth), said(images)])
      return { entries: said(truth)[0] as number, bytes: (said(truth)[1] as number) + (said(images)[1] as number) }
    }
    const refusal = (limit: string) => ({ code: 'limit_exceeded', message: expect.stringContaining(limit) })

    it('counting text, metadata and each image once, through every kind of change', async () => {
      const store = free()
      const a = await save(store, { text: 'héllo', metadata: { k: 'ä' } }, [image('1', 1000), image('2', 500)])
      expect(await used()).toEqual({ entries: 1, bytes: 6 + 10 + 1500 })
      const b = await save(store, { threadId: 'b', text: 'x' }, [image('1', 1000)])
      expect(await used()).toEqual({ entries: 2, bytes: 16 + 1 + 1500 })
      await store.patch(ada, a, { k: null })
      await store.change(ada, [{ id: b, version: 1, steps: 1, text: { text: 'longer', hash: 'h' }, images: [] }])
      expect(await used()).toEqual({ entries: 2, bytes: 5 + 3 + 6 + 1500 })
      await store.change(ada, [{ id: a, version: 2, steps: 1, images: [image('2', 500), image('3', 7)] }])
      expect((await used()).bytes).toBe(6 + 2 + 6 + 507)
      await store.delete(ada, { ids: [a] })
      expect(await used()).toEqual({ entries: 1, bytes: 6 })
      await store.delete(ada, { threadIds: ['b'] })
      expect(await used()).toEqual({ entries: 0, bytes: 0 })
    })

    it('refusing the entry beyond the last one, alone and in a batch, which is then not stored', async () => {
      const store = within({ entries: 2 })
      const first = await save(store, { text: 'one' })
      const two = await Promise.all([entryOf(ada), entryOf(ada)])
      await expect(store.save(ada, two)).rejects.toMatchObject(refusal('at most 2 entries (MAX_ENTRIES_PER_ORG)'))
      expect((await used()).entries).toBe(1)
      await save(store, {})
      await expect(save(store, {})).rejects.toMatchObject(refusal('MAX_ENTRIES_PER_ORG'))
      await store.delete(ada, { ids: [first] })
      await save(store, {})
      expect((await used()).entries).toBe(2)
    })

    it('letting a repeated turn and a change through when it is full', async () => {
      const store = within({ entries: 1 })
      const id = await save(store, { text: 'same' })
      expect(await save(store, { text: 'same', metadata: { a: 1 } })).toBe(id)
      expect((await store.patch(ada, id, { b: 2 }))?.version).toBe(3)
    })

    it('refusing the byte beyond the last one in stores, changes and patches, which change nothing', async () => {
      const store = within({ bytes: 2_150 })
      const id = await save(store, { text: 'x'.repeat(1000), metadata: { a: 1 } }, [image('4', 900)])
      const before = await used()
      const wide = { id, version: 1, steps: 1 }
      await expect(save(store, { text: 'y'.repeat(250) })).rejects.toMatchObject(refusal('at most 2150 bytes'))
      await expect(save(store, {}, [image('5', 250)])).rejects.toMatchObject(refusal('MAX_BYTES_PER_ORG'))
      await expect(store.patch(ada, id, { b: 'z'.repeat(250) })).rejects.toMatchObject(refusal('MAX_BYTES_PER_ORG'))
      const longer = { ...wide, text: { text: 'x'.repeat(1250), hash: 'h' } }
      await expect(store.change(ada, [longer])).rejects.toMatchObject(refusal('MAX_BYTES_PER_ORG'))
      await expect(store.change(ada, [{ ...wide, images: [image('6', 1150)] }])).rejects.toMatchObject(
        refusal('MAX_BYTES_PER_ORG'),
      )
      expect(await used()).toEqual(before)
      expect((await store.read(ada, [id]))[0]).toMatchObject({ version: 1, metadata: { a: 1 } })
      // An image that the org has already takes no more room.
      await save(store, { text: 'z'.repeat(80) }, [image('4', 900)])
    })

    it('allowing reductions, after the limit was lowered', async () => {
      const id = await save(free(), { text: 'x'.repeat(1000) })
      await save(free(), { text: 'y'.repeat(1000) })
      const store = within({ bytes: 100, entries: 1 })
      await expect(store.patch(ada, id, { a: 1 })).rejects.toMatchObject(refusal('MAX_BYTES_PER_ORG'))
      expect(await store.change(ada, [{ id, version: 1, steps: 1, text: { text: 'short', hash: 'h' } }])).toMatchObject(
        [{ version: 2 }],
      )
      expect(await store.delete(ada, { ids: [id] })).toBe(1)
    })

    const versions = async (): Promise<number[]> => {
      const [rows] = await made.connection.batch([
        sql`SELECT entry_id FROM entry_versions WHERE org = ${ada.org} ORDER BY id`,
      ])
      return (rows ?? []).map((row) => Number(row.entry_id))
    }
    const text = (size: number, letter = 'x') => letter.repeat(size)
    const textChange = (id: number, version: number, value: string) => ({
      ...{ id, version, steps: 1, text: { text: value, hash: `${id} ${version}` } },
    })

    it('deleting the oldest retained states where the quota requires it, so that deleting frees space', async () => {
      const store = within({ bytes: 7_000 }, 30)
      const [a, b] = [await save(store, { text: text(2_000, 'a') }), await save(store, { text: text(2_000, 'b') })]
      await store.delete(ada, { ids: [a] })
      await store.delete(ada, { ids: [b] })
      const c = await save(store, { text: text(2_000, 'c') })
      expect(await versions()).toEqual([a, b])
      const d = await save(store, { text: text(2_000, 'd') })
      expect(await versions()).toEqual([b])
      // At the limit entries can be changed and shortened, although each change retains the old state.
      await store.change(ada, [textChange(c, 1, text(1_990, 'e'))])
      await store.change(ada, [textChange(c, 2, text(1_980, 'f'))])
      await store.change(ada, [textChange(d, 1, text(500, 'g'))])
      expect(new Set(await versions())).not.toContain(b)
      expect((await store.read(ada, [c, d])).map(({ text: { length } }) => length)).toEqual([1_980, 500])
    })

    it('in parts when one write needs the space of many retained states, and keeps them if that is not enough', async () => {
      const free = within({}, 30)
      const id = await save(free, { text: text(100) })
      for (let version = 1; version <= 300; version++)
        await free.change(ada, [textChange(id, version, `${text(95)}${version}`)])
      const [row] = await made.connection.batch([sql`SELECT sum(bytes) AS n FROM org_usage WHERE org = ${ada.org}`])
      const store = within({ bytes: Number(row?.[0]?.n) + 500 }, 30)
      await expect(save(store, { text: text(60_000) })).rejects.toMatchObject(refusal('MAX_BYTES_PER_ORG'))
      expect(await versions()).toHaveLength(300)
      await save(store, { text: text(28_000) })
      expect((await versions()).length).toBeLessThan(30)
    })

    it('naming what holds the bytes, to whom it may be known', async () => {
      const free = within({}, 30)
      const id = await save(free, { text: text(3_000) }, [image('7', 1_000)])
      await free.change(ada, [textChange(id, 1, text(4_000))])
      const store = within({ bytes: 2_000 })
      const message = async (caller: Caller) => {
        const [entry] = [await entryOf(caller, { text: text(3_000, 'y'), metadata: { project: 'p' } })]
        return store.save(caller, [entry]).then(
          () => '',
          (error: Error) => error.message,
        )
      }
      expect(await message(ada)).toMatch(
        /It holds text and metadata \(200 %\).*images \(50 %\).*the audit log \(\d+ %\).* with erase /,
      )
      expect(await message({ ...ada, projects: ['p'] })).toMatch(
        /^This organization may hold at most 2000 bytes of text(?!.*%)/,
      )
    })

    it('exactly, when twenty stores come at the same time', async () => {
      const store = within({ entries: 7 })
      const drafts = await Promise.all(Array.from({ length: 20 }, (_, i) => entryOf(ada, { threadId: `t${i}` })))
      const outcomes = await Promise.allSettled(drafts.map((draft) => store.save(ada, [draft])))
      const failed = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.code] : []))
      expect(failed).toEqual(Array.from({ length: 13 }, () => 'limit_exceeded'))
      expect((await used()).entries).toBe(7)
    })

    it('for one org without looking at another', async () => {
      const store = within({ entries: 1 })
      await save(store, {})
      ada = freshPrincipal()
      await save(store, {})
      expect((await used()).entries).toBe(1)
    })
  })
}
