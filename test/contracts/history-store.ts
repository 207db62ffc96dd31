import { type SQL, sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { createLocalEmbedder } from '../../src/adapters/local/embedder'
import type { SqlConnection } from '../../src/adapters/sql/connection'
import { createSqlEntryStore } from '../../src/adapters/sql/entry-store'
import { createSqlHistory } from '../../src/adapters/sql/history'
import { createUnfinishedDeletes, leaveStatements, PART_ENTRIES } from '../../src/adapters/sql/leaving'
import { CLAIM_MS, createSqlOutbox } from '../../src/adapters/sql/outbox'
import { createSqlReceipts } from '../../src/adapters/sql/receipts'
import { createSqlRetention } from '../../src/adapters/sql/retention'
import { writing } from '../../src/adapters/sql/writing'
import type { Analyzer } from '../../src/domain/analysis'
import { EVERYTHING } from '../../src/domain/filter'
import { type Done, Notes, type Receipt } from '../../src/domain/history/receipt'
import type { HistoryTerms } from '../../src/domain/history/terms'
import { WITHOUT_REST } from '../../src/domain/pace'
import { NO_QUOTAS } from '../../src/domain/quota'
import type { Caller } from '../../src/domain/scope'
import { createGenerate } from '../../src/services/generate'
import { createRestoreEntries } from '../../src/services/history/restore-entries'
import { createOutboxWork } from '../../src/services/keeping/outbox-work'
import type { ToolContext } from '../../src/tools/context'
import { carryOutOnce } from '../../src/tools/idempotency'
import { promise } from '../requirements/history'
import { entryOf, freshPrincipal, TestClock } from '../support/scope'

export interface HistoryUnderTest {
  readonly connection: SqlConnection
  readonly analyzer: Analyzer
  readonly clock: TestClock
}

const DAY = 86_400_000
const receiptOf = (key: string) => ({ key, digest: 'd', notes: new Notes() })
const PAGE = { limit: 10, offset: 0, previewLength: 10 }

/** What is kept of changes and calls, for how long, and what it costs (history contract §3, §5). */
export function historyStoreContract(name: string, make: () => HistoryUnderTest): void {
  describe(`${name} keeps what was`, () => {
    let made: HistoryUnderTest
    let ada: Caller
    beforeEach(() => {
      made = make()
      ada = freshPrincipal()
    })
    const store = (terms: HistoryTerms) =>
      createSqlEntryStore(made.connection, made.analyzer, made.clock, new Set(), undefined, NO_QUOTAS, terms)
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

    it(promise('h5-off'), async () => {
      const off = { days: 0, receiptHours: 24 }
      const id = await stored(off)
      await patch(off, id)
      await store(off).delete(ada, { ids: [id] })
      expect(await counts()).toEqual([0, 3, 0])
    })

    it(promise('h5-cost'), async () => {
      const terms = { days: 30, receiptHours: 24 }
      const id = await stored(terms)
      const receipt = receiptOf('k')
      const before = await counts()
      await patch(terms, id, { ...ada, receipt, changeId: 'c' })
      expect((await counts()).map((n, i) => n - (before[i] as number))).toEqual([1, 1, 1])
      await expect(patch(terms, id, { ...ada, receipt, changeId: 'other' })).rejects.toThrow('idempotency_key')
      expect((await counts()).map((n, i) => n - (before[i] as number))).toEqual([1, 1, 1])
    })

    it(promise('h5-keyed-cost'), async () => {
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
      const entries = createSqlEntryStore(counted, analyzer, clock, new Set(), undefined, NO_QUOTAS, terms)
      const services = { receipts: createSqlReceipts(counted, clock, terms) }
      const call = async (key: string, looksFirst: boolean) => {
        const principal = { ...ada, changeId: crypto.randomUUID() }
        trips = 0
        const { replayed } = await carryOutOnce(
          { principal, services } as unknown as ToolContext,
          { key, args: { id }, looksFirst },
          async (caller) => ({ version: await entries.patch(caller, id, { n: 1 }) }),
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

    it(promise('h3-restore-late'), async () => {
      const terms = { days: 30, receiptHours: 24 }
      const { connection, analyzer, clock } = made
      const history = createSqlHistory(connection, analyzer, clock, WITHOUT_REST, NO_QUOTAS, terms)
      const id = await stored(terms)
      await store(terms).delete(ada, { ids: [id] })
      const { kept } = await history.restorable(ada, { ids: [id] }, { limit: 9, maxBytes: 9999 })
      expect(await history.restore(ada, kept, [null])).toEqual([3])
      await store(terms).delete(ada, { ids: [id] })
      await expect(history.restore(ada, kept, [null])).rejects.toThrow('changes at this moment')
      const { kept: last } = await history.restorable(ada, { ids: [id] }, { limit: 9, maxBytes: 9999 })
      expect(await history.restore(ada, last, [null])).toEqual([5])
    })

    it(promise('h3-undo-thousand'), async () => {
      const terms = { days: 30, receiptHours: 24 }
      const texts = (from: number) => Array.from({ length: 101 }, (_, i) => `glacier number ${from + i} of the range`)
      for (let from = 0; from < 1010; from += 101)
        await store(terms).save(ada, await Promise.all(texts(from).map((text) => entryOf(ada, { text }))))
      const call = { ...ada, changeId: crypto.randomUUID() }
      expect(await store(terms).delete(call, { threadIds: ['thread'] })).toBe(1010)
      let [statements, most] = [0, 0]
      const count = (given: readonly SQL[]): readonly SQL[] => {
        statements += given.length
        return given
      }
      const { connection, analyzer, clock } = made
      const counted: SqlConnection = {
        dialect: connection.dialect,
        batch: (given, lock) => connection.batch(count(given), lock),
        read: (given) => connection.read(count(given)),
      }
      const generate = createGenerate({
        ...{ embedder: createLocalEmbedder(analyzer), summarizer: null, chunking: null },
        ...{ onEmbeddingFailure: 'fail', minContentLength: 0 },
      })
      const restore = createRestoreEntries({
        history: createSqlHistory(counted, analyzer, clock, WITHOUT_REST, NO_QUOTAS, terms),
        generate,
        now: () => clock.now(),
      })
      const undo = async () => {
        const before = statements
        const { restored, remaining } = await restore({ ...ada }, { changeId: call.changeId })
        most = Math.max(most, statements - before)
        return [restored.length, remaining]
      }
      expect([await undo(), await undo()]).toEqual([
        [1000, 10],
        [10, 0],
      ])
      // D1 takes a thousand statements of one call.
      expect(most).toBeLessThan(60)
      const numbers = async (query: SQL) => Number((await connection.batch([query]))[0]?.[0]?.n)
      expect([
        await numbers(sql`SELECT count(*) AS n FROM entries WHERE org = ${ada.org} AND version = 3 AND text_words > 2`),
        await numbers(sql`SELECT count(*) AS n FROM entry_vectors WHERE org = ${ada.org}`),
        await numbers(sql`SELECT count(*) AS n FROM outbox WHERE org = ${ada.org} AND topic IN ('index', 'embed')`),
      ]).toEqual([1010, 1010, 0])
      const row = sql.raw(name === 'D1' ? 'rowid' : 'entry_id')
      const indexed = sql`SELECT count(*) AS n FROM entries_fts f JOIN entries e ON e.id = f.${row} WHERE e.org = ${ada.org}`
      expect(await numbers(indexed)).toBe(1010)
    })

    it(promise('h3-retention'), async () => {
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

    it('erases what receipts tell of entries whose deletion kept nothing, for whom they were theirs to write', async () => {
      const off = { days: 0, receiptHours: 24 }
      const id = await stored(off)
      const receipt = receiptOf('k')
      receipt.notes.note('title', 'a secret')
      receipt.notes.text = 'a secret text'
      await patch(off, id, { ...ada, receipt, changeId: 'c' })
      await store(off).delete(ada, { ids: [id] })
      const { find } = createSqlReceipts(made.connection, made.clock, off)
      const others = { ...ada, changeId: 'e', projects: ['p'] }
      expect([await store(off).erase(others, { ids: [id] }), (await find(ada, 'k'))?.text]).toEqual([
        0,
        'a secret text',
      ])
      const erasing = { ...ada, changeId: 'f' }
      expect([await store(off).erase(erasing, { ids: [id] }), await store(off).erase(erasing, { ids: [id] })]).toEqual([
        1, 0,
      ])
      expect(await find(ada, 'k')).toMatchObject({ erased: true, notes: null, told: null, text: null, answer: null })
      const [audited] = await made.connection.batch([
        sql`SELECT action FROM audit WHERE org = ${ada.org} ORDER BY seq DESC LIMIT 1`,
      ])
      expect(audited).toEqual([{ action: 'erase' }])
    })

    describe('of thousands of entries that one call deletes', () => {
      const terms = { days: 30, receiptHours: 24 }
      const COUNT = 1200
      const full = Array.from({ length: Math.floor(COUNT / PART_ENTRIES) }, () => PART_ENTRIES)
      const PARTS = [...full, COUNT % PART_ENTRIES]
      /** Entries of a few words, put there without the ways of callers. */
      const many = async (count = COUNT) => {
        const numbers = JSON.stringify(Array.from({ length: count }, (_, i) => i))
        await made.connection.batch([
          sql`
            INSERT INTO entries (org, thread_id, source, layer, created_at, updated_at, created_by, text_hash, bytes, text_words, text)
            SELECT ${ada.org}, 'many', 'agent', 2, 1000 * value, 1000, ${ada.keyId}, CAST(value AS text), 4, 1, 'word'
            FROM ${made.connection.dialect.jsonNumbers(sql`${numbers}`)} numbers`,
        ])
        const [rows] = await made.connection.batch([sql`SELECT id FROM entries WHERE org = ${ada.org} ORDER BY id`])
        return (rows ?? []).map(({ id }) => Number(id))
      }
      const standing = async () => {
        const [rows] = await made.connection.batch([sql`SELECT count(*) AS n FROM entries WHERE org = ${ada.org}`])
        return Number(rows?.[0]?.n)
      }
      /** A connection that tells how many entries each batch has removed, and dies after so many batches that write. */
      const watched = (lives = Number.POSITIVE_INFINITY) => {
        const removed: number[] = []
        const seen: number[] = []
        const connection: SqlConnection = {
          ...made.connection,
          batch: async (statements, lock) => {
            if (lock !== undefined && removed.length >= lives) throw new Error('gone')
            const before = await standing()
            const rows = await made.connection.batch(statements, lock)
            if (lock !== undefined) removed.push(before - (await standing()))
            if (lock !== undefined) seen.push((await store(terms).page(ada, EVERYTHING, PAGE)).entries.length)
            return rows
          },
        }
        const by = createSqlEntryStore(connection, made.analyzer, made.clock, new Set(), undefined, NO_QUOTAS, terms)
        return { removed, seen, by }
      }
      const history = () => createSqlHistory(made.connection, made.analyzer, made.clock, WITHOUT_REST, NO_QUOTAS, terms)

      it('are gone for every reader with the first transaction, and each removes a bounded part', async () => {
        const ids = await many()
        const { removed, seen, by } = watched()
        const receipt = receiptOf('k')
        const caller = { ...ada, receipt, changeId: 'all of them' }
        expect(await by.delete(caller, { threadIds: ['many'] })).toBe(COUNT)
        expect(removed).toEqual(PARTS)
        expect(seen).toEqual(PARTS.map(() => 0))
        expect(await store(terms).threads(ada, { limit: 9, offset: 0 })).toMatchObject({ total: 0 })
        expect(await createSqlReceipts(made.connection, made.clock, terms).find(ada, 'k')).toMatchObject({
          changes: COUNT,
        })
        const [audited, feed, left] = await made.connection.batch([
          sql`SELECT detail FROM audit WHERE org = ${ada.org}`,
          sql`SELECT DISTINCT change_id, key_id FROM changes WHERE org = ${ada.org} AND action = 'delete'`,
          sql`SELECT 1 FROM leaving WHERE org = ${ada.org} UNION ALL SELECT 1 FROM outbox WHERE org = ${ada.org} AND topic = 'delete'`,
        ])
        expect(JSON.parse(audited?.[0]?.detail as string)).toEqual({ deleted: COUNT })
        expect(feed).toEqual([{ change_id: 'all of them', key_id: ada.keyId }])
        expect(left).toEqual([])
        const { kept, more } = await history().restorable(
          ada,
          { changeId: 'all of them' },
          { limit: 1000, maxBytes: 1e6 },
        )
        expect([kept.length, more]).toEqual([1000, 200])
        expect(kept[0]?.id).toBe(ids[0])
      })

      it('are bounded by their bytes too, since texts have vectors', async () => {
        const ids = await many(10)
        await made.connection.batch([sql`UPDATE entries SET bytes = 1000000 WHERE org = ${ada.org}`])
        const { removed, by } = watched()
        expect(await by.delete(ada, { ids })).toBe(10)
        expect(removed).toEqual([4, 4, 2])
      })

      it('are removed by the outbox when the writer died', async () => {
        await many()
        await watched(1).by.delete(ada, { threadIds: ['many'] })
        const workAt = (ms: number) =>
          createOutboxWork({
            ...{ outbox: createSqlOutbox(made.connection, new TestClock(ms)), images: {} as never, index: {} as never },
            ...{ deletes: createUnfinishedDeletes(made.connection, WITHOUT_REST), generation: null },
            ...{ syncOrg: async () => {}, log: () => {} },
          })()
        await workAt(made.clock.now())
        expect(await standing()).toBe(COUNT - PART_ENTRIES)
        await workAt(made.clock.now() + CLAIM_MS)
        const left = sql`SELECT 1 FROM outbox WHERE org = ${ada.org} AND topic = 'delete'`
        expect([await standing(), (await made.connection.batch([left]))[0]]).toEqual([0, []])
      })

      it('are at most so many, the oldest first', async () => {
        const ids = await many(9)
        const caller = { ...ada, changeId: 'the oldest' }
        const { begin, end } = writing(caller, { keeps: false })
        const where = sql`org = ${ada.org} AND id > ${ids[1] as number}`
        const { name, ids: named, remove } = leaveStatements(caller, where, { now: 0, erases: false, most: 4 })
        const rows = await made.connection.batch([begin, name, named, ...remove, end], { org: ada.org })
        expect((rows[2] ?? []).map(({ value }) => Number(value)).sort((a, b) => a - b)).toEqual(ids.slice(2, 6))
        expect(await standing()).toBe(5)
      })

      it('stay gone when the writer dies between, and come back whole', async () => {
        const ids = await many()
        const { by } = watched(1)
        const caller = { ...ada, receipt: receiptOf('k'), changeId: 'a call that died' }
        expect(await by.delete(caller, { threadIds: ['many'] })).toBe(COUNT)
        expect(await standing()).toBe(COUNT - PART_ENTRIES)
        // Made again, the call tells all, although most of it is still to be removed.
        const { find } = createSqlReceipts(made.connection, made.clock, terms)
        const known = (await find(ada, 'k')) as Receipt & Done
        expect(await by.delete({ ...caller, done: known }, { threadIds: ['many'] })).toBe(COUNT)
        expect((await store(terms).page(ada, EVERYTHING, PAGE)).entries).toEqual([])
        expect(await store(terms).delete(ada, { threadIds: ['many'] })).toBe(0)
        const [work] = await made.connection.batch([
          sql`SELECT topic, key, due_at FROM outbox WHERE org = ${ada.org} AND topic = 'delete'`,
        ])
        expect(work?.map(({ key, due_at }) => [key, Number(due_at)])).toEqual([
          ['a call that died', made.clock.now() + CLAIM_MS],
        ])
        // Whoever undoes it finds all of it.
        const found = await history().restorable(ada, { changeId: 'a call that died' }, { limit: 10, maxBytes: 1e6 })
        expect([found.kept.length, found.more, await standing()]).toEqual([10, COUNT - 10, 0])
        await store(terms).erase({ ...ada, changeId: 'erases one' }, { ids: ids.slice(-1) })
        expect((await find(ada, 'k'))?.erased).toBe(true)
      })

      it('and erases leave nothing of any part', async () => {
        const ids = await many()
        await patch(terms, ids[0] as number)
        await patch(terms, ids[900] as number)
        const { removed, by } = watched()
        const caller = { ...ada, receipt: receiptOf('k') }
        expect(await by.erase(caller, { threadIds: ['many'] })).toBe(COUNT)
        const { find } = createSqlReceipts(made.connection, made.clock, terms)
        const known = (await find(ada, 'k')) as Receipt & Done
        expect(await by.erase({ ...caller, done: known }, { threadIds: ['many'] })).toBe(COUNT)
        expect(known.erased).toBe(false)
        expect(removed).toEqual(PARTS)
        expect((await counts())[0]).toBe(0)
      })
    })
  })
}
