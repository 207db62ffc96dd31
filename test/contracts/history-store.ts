import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { PreconditionFailed, type SqlConnection } from '../../src/adapters/sql/core/connection'
import { createSqlEntryStore } from '../../src/adapters/sql/stores/entries/entry-store'
import { createSqlChangeFeed } from '../../src/adapters/sql/stores/history/change-feed'
import { createSqlHistory } from '../../src/adapters/sql/stores/history/history'
import { createSqlReceipts } from '../../src/adapters/sql/stores/history/receipts'
import { createSqlRetention } from '../../src/adapters/sql/stores/maintenance/retention'
import { createSqlStoreOverview } from '../../src/adapters/sql/stores/overview/store-overview'
import type { EntryDraft } from '../../src/domain/entry/draft'
import type { Entry } from '../../src/domain/entry/entry'
import type { EntryChange } from '../../src/domain/entry/entry-write'
import type { Metadata } from '../../src/domain/entry/metadata'
import { DeleteRefused } from '../../src/domain/entry/selection'
import { applyUpdates } from '../../src/domain/entry/update'
import { UNFILTERED_FEED } from '../../src/domain/history/feed'
import type { HistoryTerms } from '../../src/domain/history/version'
import type { Caller } from '../../src/domain/identity/scope'
import { NO_QUOTAS } from '../../src/domain/quota'
import { Notes } from '../../src/domain/receipts/notes'
import type { Analyzer } from '../../src/domain/search/analysis'
import { withRetries } from '../../src/services/outcome'
import { createGenerate } from '../../src/services/writing/entries/generate'
import { createRestoreEntries } from '../../src/services/writing/entries/restore-entries'
import { executeOnce } from '../../src/tools/idempotency'
import { keyedCall } from '../support/keyed'
import { entryOf, freshPrincipal, type TestClock } from '../support/scope'

export interface HistoryUnderTest {
  readonly connection: SqlConnection
  readonly analyzer: Analyzer
  readonly clock: TestClock
}

const DAY = 86_400_000
const receiptOf = (key: string) => ({ key, digest: 'd', notes: new Notes() })

/** Retention of changes and calls, its duration and cost (history contract §3, §5). */
export function historyStoreContract(name: string, make: () => HistoryUnderTest): void {
  describe(`${name} retains earlier states`, () => {
    let made: HistoryUnderTest
    let ada: Caller
    beforeEach(() => {
      made = make()
      ada = freshPrincipal()
    })
    const store = (terms: HistoryTerms) =>
      createSqlEntryStore(made.connection, made.analyzer, made.clock, new Map(), NO_QUOTAS, terms)
    const counts = async () => {
      const of = (table: string) => sql`SELECT count(*) AS n FROM ${sql.raw(table)} WHERE org = ${ada.org}`
      const tables = ['entry_versions', 'changes', 'receipts']
      const rows = await made.connection.batch(tables.map(of))
      return rows.map(([row]) => Number(row?.n))
    }
    const stored = async (terms: HistoryTerms) => {
      const [saved] = await store(terms).save(ada, [await entryOf(ada)])
      return saved?.id as number
    }
    const patch = (terms: HistoryTerms, id: number, caller = ada) =>
      store(terms).patch(caller, id, { n: Math.random() })

    it('[HISTORY-57] retains nothing and costs nothing with HISTORY_DAYS 0', async () => {
      const off = { days: 0, receiptHours: 24 }
      const id = await stored(off)
      await patch(off, id)
      await store(off).delete(ada, { ids: [id] })
      expect(await counts()).toEqual([0, 3, 0])
    })

    it('[OPERATE-162] lists deleted memories that the scope may restore, the last deleted first, in parts', async () => {
      const entries = store({ days: 30, receiptHours: 24 })
      const save = async (draft: Partial<EntryDraft>): Promise<number> => {
        const [saved] = await entries.save(ada, [await entryOf(ada, draft)])
        return saved?.id as number
      }
      const overview = () => createSqlStoreOverview(made.connection, made.clock)
      const bob = freshPrincipal({ org: ada.org, owner: 'bob' })
      const narrowed = freshPrincipal({ org: ada.org, owner: 'bob', projects: ['p'] })
      const ids = [
        await save({ text: 'first', metadata: { title: 'First', project: 'p' } }),
        await save({ text: 'second', metadata: { project: 'other' } }),
        await save({ text: 'third', metadata: { audience: 'private' } }),
        await save({ text: 'erased' }),
      ] as const
      const kept = await save({ text: 'kept' })
      await entries.patch(ada, kept, { title: 'Changed' })
      for (const id of ids) await entries.delete(ada, { ids: [id] })
      await entries.erase(ada, { ids: [ids[3]] })
      const told = async (by: Caller, before: number | null = null, limit = 10) => {
        const { entries: found, older } = await overview().deleted(by, { before, limit })
        return { ids: found.map(({ id }) => id), older }
      }
      expect(await told(ada)).toEqual({ ids: [ids[2], ids[1], ids[0]], older: null })
      expect((await overview().deleted(ada, { before: null, limit: 10 })).entries[2]).toEqual({
        ...{ id: ids[0], title: 'First', kind: 'episode', project: 'p', threadId: 'thread', text: 'first' },
        ...{ deletedAt: made.clock.now(), deletedBy: ada.agent ?? ada.keyId },
      })
      expect(await told(bob)).toEqual({ ids: [ids[1], ids[0]], older: null })
      expect(await told(narrowed)).toEqual({ ids: [ids[0]], older: null })
      expect(await told(freshPrincipal())).toEqual({ ids: [], older: null })
      const first = await told(ada, null, 2)
      expect([first.ids, (await told(ada, first.older, 2)).ids]).toEqual([[ids[2], ids[1]], [ids[0]]])
    })

    it('lists the states of an entry within one call one after the other, then those of the next', async () => {
      const terms = { days: 30, receiptHours: 24 }
      const ids = [await stored(terms), await stored(terms)]
      const twice = async (entry: Entry) => {
        const [once, then] = ['once', 'twice'].map((text) => applyUpdates(ada, entry, [{ id: entry.id, text }]))
        return { ...(await (then as Promise<EntryChange>)), steps: 2, between: [await (once as Promise<EntryChange>)] }
      }
      await store(terms).change(ada, await Promise.all((await store(terms).read(ada, ids)).map(twice)))
      const { changes } = await createSqlChangeFeed(made.connection, made.clock).page(ada, UNFILTERED_FEED, 'start', 9)
      expect(changes.slice(2).map(({ entryId, version }) => [ids.indexOf(entryId), version])).toEqual([
        [0, 2],
        [0, 3],
        [1, 2],
        [1, 3],
      ])
    })

    it('reports no change if a patch leaves the metadata equal', async () => {
      const terms = { days: 30, receiptHours: 24 }
      const [saved] = await store(terms).save(ada, [await entryOf(ada, { metadata: { z: { y: 1, x: [2] }, a: 'ä' } })])
      const id = saved?.id as number
      await store(terms).patch(ada, id, {})
      await store(terms).patch(ada, id, { a: 'ä', z: { y: 1 }, gone: null })
      await store(terms).patch(ada, id, { a: 'b' })
      const page = await createSqlHistory(
        ...([made.connection, made.analyzer, made.clock, NO_QUOTAS, terms] as const),
      ).versions(ada, id, { limit: 9, offset: 0 })
      expect(page?.versions.map(({ changed }) => changed)).toEqual([['metadata'], [], [], []])
    })

    it('finds no version of a number beyond what a database keeps versions in, and deletes nothing that is to be at one', async () => {
      const terms = { days: 30, receiptHours: 24 }
      const id = await stored(terms)
      await patch(terms, id)
      const { connection, analyzer, clock } = made
      const history = createSqlHistory(connection, analyzer, clock, NO_QUOTAS, terms)
      expect(await history.state(ada, id, 1)).toMatchObject({ id })
      for (const version of [2 ** 31, Number.MAX_SAFE_INTEGER]) {
        expect(await history.state(ada, id, version)).toBeNull()
        const { kept } = await history.restorable(ada, { ids: [id], version }, { limit: 9, maxBytes: 9999 })
        expect(kept).toEqual([])
        const refused = store(terms).delete(ada, { ids: [id], expectedVersion: version })
        await expect(refused).rejects.toBeInstanceOf(DeleteRefused)
      }
    })

    it('patches an entry that was deleted as the patch arrived and is restored, and does not report it as too large', async () => {
      const terms = { days: 30, receiptHours: 24 }
      const { connection, analyzer, clock } = made
      const id = await stored(terms)
      let meets = 1
      const meeting: SqlConnection = {
        ...connection,
        batch: async (...given) => {
          if (meets-- > 0) throw new PreconditionFailed()
          return connection.batch(...given)
        },
      }
      const parts = [analyzer, clock, new Map(), NO_QUOTAS, terms] as const
      const entries = createSqlEntryStore(meeting, ...parts)
      await expect(entries.patch(ada, id, { n: 1 })).rejects.toMatchObject({ code: 'conflict', retryable: true })
      expect(await withRetries(() => entries.patch(ada, id, { n: 1 }))).toMatchObject({ version: 2 })
      const large = { big: 'x'.repeat(200_000) }
      await entries.patch(ada, id, large)
      await expect(entries.patch(ada, id, { other: large.big })).rejects.toMatchObject({ code: 'limit_exceeded' })
    })

    it('reports no change of metadata if only the order of keys differs', async () => {
      const terms = { days: 30, receiptHours: 24 }
      const parts = [made.connection, made.analyzer, made.clock, NO_QUOTAS, terms] as const
      const history = createSqlHistory(...parts)
      const text = `text ${crypto.randomUUID()}`
      const storeOnce = async (metadata: Metadata) =>
        (await store(terms).save(ada, [await entryOf(ada, { text, metadata })]))[0]?.id as number
      const first: Metadata = { z: { y: 1, x: [{ q: 'ä', p: 2 ** 60 }, {}, []] }, a: '"b' }
      const turned: Metadata = { a: '"b', z: { x: [{ p: 2 ** 60, q: 'ä' }, {}, []], y: 1 } }
      const id = await storeOnce(first)
      const update = async (metadata: Metadata) => {
        const [entry] = await store(terms).read(ada, [id])
        await store(terms).change(ada, [await applyUpdates(ada, entry as Entry, [{ id, metadata }])])
      }
      // The same by each way of writing: a store again, an update, a patch.
      expect(await storeOnce(turned)).toBe(id)
      await update(turned)
      await store(terms).patch(ada, id, { z: { x: [{ p: 2 ** 60, q: 'ä' }, {}, []] } })
      // Different values, in the same or other places, with the same letters or other types.
      await store(terms).patch(ada, id, { b: 1 })
      await storeOnce({ ...turned, b: 1 })
      await storeOnce({ ...turned, b: 2 })
      await update({ ...turned, b: [] })
      await update({ ...turned, b: {} })
      await update({ a: '"b', b: {}, z: { x: [{}, { p: 2 ** 60, q: 'ä' }, []], y: 1 } })
      await update({ a: { c: 1 }, 'a.c': 2 })
      await update({ a: { c: 2 }, 'a.c': 1 })
      // A state that is restored and equal.
      await update({ 'a.c': 1, d: 1, a: { c: 2 } })
      await update({ a: { c: 2 }, 'a.c': 1 })
      const restoring = await history.restorable(ada, { ids: [id], version: 12 }, { limit: 1, maxBytes: 99_999 })
      await history.restore(ada, restoring.kept, [null])
      const page = await history.versions(ada, id, { limit: 99, offset: 0 })
      const same: string[] = []
      const other = ['metadata']
      expect(page?.versions.map(({ changed }) => changed).toReversed()).toEqual([
        ...[[], same, same, same],
        ...[other, same, other, other, other, other, other, other],
        ...[other, other, same],
      ])
      const bytes = await made.connection.batch([
        sql`SELECT bytes - length(text) - length(metadata) AS further, metadata FROM entries WHERE id = ${id}`,
      ])
      expect(Number(bytes[0]?.[0]?.further)).toBe(0)
    })

    it('[HISTORY-58] adds to a write one row of history, one of changes and one receipt, in the same round trip', async () => {
      const terms = { days: 30, receiptHours: 24 }
      const id = await stored(terms)
      const receipt = receiptOf('k')
      const before = await counts()
      await patch(terms, id, { ...ada, receipt, changeId: 'c' })
      expect((await counts()).map((n, i) => n - (before[i] as number))).toEqual([1, 1, 1])
      await expect(patch(terms, id, { ...ada, receipt, changeId: 'other' })).rejects.toThrow('idempotency_key')
      expect((await counts()).map((n, i) => n - (before[i] as number))).toEqual([1, 1, 1])
    })

    it('[HISTORY-58] stores a complete receipt in the round trip of its write, and looks first only if a repeat would cost', async () => {
      const terms = { days: 30, receiptHours: 24 }
      const id = await stored(terms)
      const { connection, analyzer, clock } = made
      let trips = 0
      const counted: SqlConnection = {
        ...connection,
        batch: (statements, lock) => {
          trips++
          return connection.batch(statements, lock)
        },
      }
      const entries = createSqlEntryStore(counted, analyzer, clock, new Map(), NO_QUOTAS, terms)
      const services = { receipts: createSqlReceipts(counted, clock, terms) }
      const call = async (key: string, findsReceiptFirst: boolean) => {
        const principal = { ...ada, changeId: crypto.randomUUID() }
        trips = 0
        const { replayed } = await executeOnce(
          { ...{ principal, services }, key, args: { id }, findsReceiptFirst },
          keyedCall(
            async (caller) => ({ version: await entries.patch(caller, id, { n: 1 }) }),
            ({ effect: [patched] }) => ({ version: patched?.[1] }),
          ),
        )
        return [replayed, trips]
      }
      // The write with its receipt; before a call that costs something, a look whether it was made.
      expect([await call('a', false), await call('b', true)]).toEqual([
        [false, 1],
        [false, 2],
      ])
      expect([await call('a', true), await call('b', false)]).toEqual([
        [true, 1],
        [true, 2],
      ])
      expect((await entries.read(ada, [id]))[0]?.version).toBe(3)
      // A twin that finds nothing left to do, before the one that did it has answered, does not answer for it.
      const receipt = receiptOf('c')
      await entries.patch({ ...ada, receipt, changeId: 'first' }, id, { n: 2 })
      const twin = { ...ada, receipt, changeId: 'twin' }
      expect(await services.receipts.complete(twin, { key: 'c', answer: {} })).toMatchObject({
        ...{ changeId: 'first', answer: null },
      })
    })

    it('[HISTORY-29] restores nothing over an entry that was restored and deleted again since it was read', async () => {
      const terms = { days: 30, receiptHours: 24 }
      const { connection, analyzer, clock } = made
      const history = createSqlHistory(connection, analyzer, clock, NO_QUOTAS, terms)
      const id = await stored(terms)
      await store(terms).delete(ada, { ids: [id] })
      const { kept } = await history.restorable(ada, { ids: [id] }, { limit: 9, maxBytes: 9999 })
      expect(await history.restore(ada, kept, [null])).toEqual([3])
      await store(terms).delete(ada, { ids: [id] })
      await expect(history.restore(ada, kept, [null])).rejects.toThrow('being changed by another call')
      const { kept: last } = await history.restorable(ada, { ids: [id] }, { limit: 9, maxBytes: 9999 })
      expect(await history.restore(ada, last, [null])).toEqual([5])
    })

    it('restores no state that looks like it contains a secret where secrets are removed from writes, and else warns', async () => {
      const terms = { days: 30, receiptHours: 24 }
      const secret = `ghp_${'a1B2'.repeat(10)}`
      const drafts = [{ text: `the key ${secret}` }, { text: 'a door', metadata: { password: 'hunter2hunter2' } }, {}]
      const entries = await Promise.all(drafts.map((draft) => entryOf(ada, draft)))
      const saved = await store(terms).save(ada, entries)
      const [text, metadata, plain] = saved.map((one) => one?.id as number) as [number, number, number]
      await store(terms).delete(ada, { ids: [text, metadata, plain] })
      const { connection, analyzer, clock } = made
      const generate = createGenerate({
        ...{ embedder: null, summarizer: null, chunking: null, onEmbeddingFailure: 'fail', minContentLength: 0 },
      })
      const restore = (redact: 'warn' | 'always', id: number) =>
        createRestoreEntries({
          history: createSqlHistory(connection, analyzer, clock, NO_QUOTAS, terms),
          generate,
          now: () => clock.now(),
          redact,
        })({ ...ada, changeId: crypto.randomUUID() }, { ids: [id] })
      for (const [id, kind] of [
        [text, 'github'],
        [metadata, 'secret'],
      ] as const) {
        const reason = `holds what looks like a secret: ${kind}`
        expect(await restore('always', id)).toMatchObject({ restored: [], skipped: [{ id, reason }], secrets: [] })
        expect(await restore('warn', id)).toMatchObject({ restored: [{ id }], skipped: [], secrets: [kind] })
      }
      expect(await restore('always', plain)).toMatchObject({ restored: [{ id: plain }], skipped: [], secrets: [] })
    })

    it('[HISTORY-18] purges versions and receipts after their time by the schedule, in bounded steps', async () => {
      const terms = { days: 30, receiptHours: 24 }
      const id = await stored(terms)
      await patch(terms, id, { ...ada, receipt: receiptOf('k') })
      made.clock.advance(29 * DAY)
      await patch(terms, id)
      const retention = createSqlRetention(made.connection, made.clock, terms)
      const all = async (step: (limit: number) => Promise<number>) => {
        while ((await step(50)) > 0);
      }
      await all(retention.forgetVersions)
      await all(retention.forgetReceipts)
      expect((await counts())[0]).toBe(2)
      expect(await createSqlReceipts(made.connection, made.clock, terms).find(ada, 'k')).toBeNull()
      expect((await counts())[2]).toBe(0)
      made.clock.advance(2 * DAY)
      await all(retention.forgetVersions)
      expect((await counts())[0]).toBe(1)
      made.clock.advance(40 * DAY)
      await all(retention.forgetVersions)
      expect((await counts())[0]).toBe(0)
      const [usage] = await made.connection.batch([
        sql`SELECT part, items, bytes FROM org_usage WHERE org = ${ada.org} AND part IN ('versions', 'receipts')`,
      ])
      for (const row of usage ?? []) expect([Number(row.items), Number(row.bytes)]).toEqual([0, 0])
    })
  })
}
