import { type SQL, sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { createLocalEmbedder } from '../../src/adapters/local/embedder'
import type { SqlConnection } from '../../src/adapters/sql/core/connection'
import { createSqlEntryStore } from '../../src/adapters/sql/stores/entries/entry-store'
import { createSqlHistory } from '../../src/adapters/sql/stores/history/history'
import { createSqlReceipts } from '../../src/adapters/sql/stores/history/receipts'
import { createSqlOutbox } from '../../src/adapters/sql/stores/maintenance/outbox'
import {
  createUnfinishedDeletes,
  PART_ENTRIES,
  pendingDeletion,
} from '../../src/adapters/sql/tables/changes/pending-deletion'
import { writeFrame } from '../../src/adapters/sql/tables/changes/publish-changes'
import { LEASE_MS } from '../../src/adapters/sql/tables/outbox/outbox-rows'
import { MOST_DELETED } from '../../src/domain/identity/audit'
import type { Caller } from '../../src/domain/identity/scope'
import { NO_QUOTAS } from '../../src/domain/quota'
import { Notes } from '../../src/domain/receipts/notes'
import { EVERYTHING } from '../../src/domain/search/filter'
import { createOutboxWork } from '../../src/services/maintenance/outbox-work'
import { createGenerate } from '../../src/services/writing/entries/generate'
import { createRestoreEntries } from '../../src/services/writing/entries/restore-entries'
import type { ToolContext } from '../../src/tools/context'
import { executeOnce } from '../../src/tools/idempotency'
import { deleteContext } from '../../src/tools/threads/deletion'
import { deleting } from '../support/deleting'
import { keyedCall } from '../support/keyed'
import { entryOf, freshPrincipal, TestClock } from '../support/scope'
import type { HistoryUnderTest } from './history-store'

const PAGE = { limit: 10, offset: 0, previewLength: 10 }
const terms = { days: 30, receiptHours: 24 }
const receiptOf = (key: string) => ({ key, digest: 'd', notes: new Notes() })

/** Entries that one call deletes or erases beyond one transaction become invisible at once, are removed in bounded parts, and restored in such. */
export function largeDeletesContract(name: string, make: () => HistoryUnderTest): void {
  describe(`${name} deletes much at once`, () => {
    let made: HistoryUnderTest
    let ada: Caller
    beforeEach(() => {
      made = make()
      ada = freshPrincipal()
    })
    const store = () => createSqlEntryStore(made.connection, made.analyzer, made.clock, new Map(), NO_QUOTAS, terms)
    const counted = async (...tables: SQL[]) => {
      const rows = await made.connection.batch(tables.map((table) => sql`SELECT count(*) AS n FROM ${table}`))
      return rows.map(([row]) => Number(row?.n))
    }
    const of = (table: string) => sql`${sql.raw(table)} WHERE org = ${ada.org}`
    const stored = async () => (await store().save(ada, [await entryOf(ada)]))[0]?.id as number
    const patch = (id: number, caller = ada) => store().patch(caller, id, { n: Math.random() })

    const COUNT = 1200
    const PARTS = Array.from({ length: Math.ceil(COUNT / PART_ENTRIES) }, (_, i) =>
      Math.min(PART_ENTRIES, COUNT - i * PART_ENTRIES),
    )
    /** Entries of a few words, put there without the ways of callers. */
    const many = async (count = COUNT) => {
      for (let from = 0; from < count; from += 500) {
        const numbers = JSON.stringify(Array.from({ length: Math.min(500, count - from) }, (_, i) => from + i))
        const id = made.connection.dialect.entryId(sql`NULL`)
        await made.connection.batch([
          sql`
            INSERT INTO entries (id, org, thread_id, source, layer, created_at, updated_at, created_by, text_hash, bytes, text_words, text)
            SELECT ${id}${made.connection.dialect.countsRows ? sql` + value - ${from}` : sql``}, ${ada.org}, 'many', 'agent', 2, 1000 * value, 1000, ${ada.keyId}, CAST(value AS text), 4, 1, 'word'
            FROM ${made.connection.dialect.jsonNumbers(sql`${numbers}`)} numbers`,
        ])
      }
      const [rows] = await made.connection.batch([sql`SELECT id FROM entries WHERE org = ${ada.org} ORDER BY id`])
      return (rows ?? []).map(({ id }) => Number(id))
    }
    const standing = async () => {
      const [rows] = await made.connection.batch([sql`SELECT count(*) AS n FROM entries WHERE org = ${ada.org}`])
      return Number(rows?.[0]?.n)
    }
    /** A connection that reports how many entries each batch has removed, and dies after a number of batches that write. */
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
          if (lock !== undefined) seen.push((await store().page(ada, EVERYTHING, PAGE)).entries.length)
          return rows
        },
      }
      const by = createSqlEntryStore(connection, made.analyzer, made.clock, new Map(), NO_QUOTAS, terms)
      return { removed, seen, by }
    }
    const history = () => createSqlHistory(made.connection, made.analyzer, made.clock, NO_QUOTAS, terms)

    it('are invisible to every reader after the first transaction, and each removes a bounded part', async () => {
      const ids = await many()
      const { removed, seen, by } = watched()
      const receipt = receiptOf('k')
      const caller = { ...ada, receipt, changeId: 'all of them' }
      expect(await by.delete(caller, { threadIds: ['many'] })).toBe(COUNT)
      expect(removed).toEqual(PARTS)
      expect(seen).toEqual(PARTS.map(() => 0))
      expect(await store().threads(ada, { limit: 9, offset: 0 })).toMatchObject({ total: 0 })
      expect(await createSqlReceipts(made.connection, made.clock, terms).find(ada, 'k')).toMatchObject({
        changes: COUNT,
      })
      const [audited, feed, left] = await made.connection.batch([
        sql`SELECT detail FROM audit WHERE org = ${ada.org}`,
        sql`SELECT DISTINCT change_id, key_id FROM changes WHERE org = ${ada.org} AND action = 'delete'`,
        sql`SELECT 1 FROM pending_deletes WHERE org = ${ada.org} UNION ALL SELECT 1 FROM outbox WHERE org = ${ada.org} AND topic = 'delete'`,
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
          longTexts: {} as never,
          ...{ deletes: createUnfinishedDeletes(made.connection), generation: null },
          ...{ syncOrg: async () => {}, log: () => {} },
        })()
      await workAt(made.clock.now())
      expect(await standing()).toBe(COUNT - PART_ENTRIES)
      await workAt(made.clock.now() + LEASE_MS)
      const left = sql`SELECT 1 FROM outbox WHERE org = ${ada.org} AND topic = 'delete'`
      expect([await standing(), (await made.connection.batch([left]))[0]]).toEqual([0, []])
    })

    it('are at most a fixed number, the oldest first', async () => {
      const ids = await many(9)
      const caller = { ...ada, changeId: 'the oldest' }
      const { begin, end } = writeFrame(caller, { keeps: false })
      const where = sql`org = ${ada.org} AND id > ${ids[1] as number}`
      const { dialect } = made.connection
      const { name, ids: named, remove } = pendingDeletion(dialect, caller, where, { now: 0, most: 4 })
      const rows = await made.connection.batch([begin, name, named, ...remove, end], { org: ada.org })
      expect((rows[2] ?? []).map(({ value }) => Number(value)).sort((a, b) => a - b)).toEqual(ids.slice(2, 6))
      expect(await standing()).toBe(5)
    })

    it('stay invisible when the writer dies between, and are restored completely', async () => {
      const ids = await many()
      const { by } = watched(1)
      const caller = { ...ada, receipt: receiptOf('k'), changeId: 'a call that died' }
      expect(await by.delete(caller, { threadIds: ['many'] })).toBe(COUNT)
      expect(await standing()).toBe(COUNT - PART_ENTRIES)
      // A repeated call reports all, although most of it is still to be removed.
      const { find } = createSqlReceipts(made.connection, made.clock, terms)
      expect(await find(ada, 'k')).toMatchObject({ changes: COUNT, output: {} })
      expect((await store().page(ada, EVERYTHING, PAGE)).entries).toEqual([])
      expect(await store().delete(ada, { threadIds: ['many'] })).toBe(0)
      const [work] = await made.connection.batch([
        sql`SELECT topic, key, due_at FROM outbox WHERE org = ${ada.org} AND topic = 'delete'`,
      ])
      expect(work?.map(({ key, due_at }) => [key, Number(due_at)])).toEqual([
        ['a call that died', made.clock.now() + LEASE_MS],
      ])
      // A restoration finds all of it.
      const found = await history().restorable(ada, { changeId: 'a call that died' }, { limit: 10, maxBytes: 1e6 })
      expect([found.kept.length, found.more, await standing()]).toEqual([10, COUNT - 10, 0])
      await store().erase({ ...ada, changeId: 'erases one' }, { ids: ids.slice(-1) })
      expect((await find(ada, 'k'))?.erased).toBe(true)
    })

    it('and erases hide hundreds of long states at once and remove them in bounded parts, in any later call', async () => {
      const { connection, clock } = made
      const id = await stored()
      await patch(id, { ...ada, receipt: receiptOf('k'), changeId: 'a call about it' })
      const before = await stored()
      await patch(before)
      await store().delete(ada, { ids: [before] })
      // 300 states of 100 KB.
      const [found] = await connection.batch([sql`SELECT * FROM entry_versions WHERE entry_id = ${id}`])
      const made_up = new Set(['id', 'kind', 'reader', 'expires_at', 'version', 'bytes', 'text_hash'])
      const columns = sql.raw(
        Object.keys(found?.[0] ?? {})
          .filter((name) => !made_up.has(name))
          .join(', '),
      )
      const numbers = sql`${connection.dialect.jsonNumbers(sql`${JSON.stringify(Array.from({ length: 299 }, (_, i) => 10 + i))}`)}`
      await connection.batch(
        [
          sql`INSERT INTO entry_versions (${columns}, version, bytes, text_hash)
            SELECT ${columns}, value, 100000, 'hash ' || value FROM entry_versions v CROSS JOIN ${numbers} n WHERE v.entry_id = ${id}`,
          sql`INSERT INTO long_texts (org, hash, text) SELECT ${ada.org}, 'hash ' || value, 'long' FROM ${numbers} n`,
        ],
        { org: ada.org },
      )
      const seen = async () => [
        await history().versions(ada, id, { limit: 5, offset: 0 }),
        await history().versions(ada, before, { limit: 5, offset: 0 }),
        await history().state(ada, id, 12),
        (await history().asOf(ada, [id, before], clock.now(), 1e9)).entries,
      ]
      expect((await seen()).map((one) => one === null || (Array.isArray(one) && one.length === 0))).not.toContain(true)
      let rounds = 0
      const parts: number[] = []
      const kept = async () =>
        Number(
          (await connection.batch([sql`SELECT count(*) AS n FROM entry_versions WHERE org = ${ada.org}`]))[0]?.[0]?.n,
        )
      const dying: SqlConnection = {
        ...connection,
        batch: async (statements, lock) => {
          if (lock !== undefined && rounds++ >= 2) throw new Error('gone')
          const there = await kept()
          const rows = await connection.batch(statements, lock)
          if (lock !== undefined) parts.push(there - (await kept()))
          return rows
        },
      }
      const by = createSqlEntryStore(dying, made.analyzer, clock, new Map(), NO_QUOTAS, terms)
      expect(await by.erase({ ...ada, changeId: 'erased' }, { ids: [id, before] })).toMatchObject({
        count: 2,
        before: 1,
      })
      expect(await seen()).toEqual([null, null, null, []])
      expect(Math.max(...parts)).toBeLessThanOrEqual(50)
      expect(await kept()).toBeGreaterThan(200)
      await createUnfinishedDeletes(connection).finish(ada.org, 'erased')
      const of = (table: string, more = sql``) =>
        sql`SELECT count(*) AS n FROM ${sql.raw(table)} WHERE org = ${ada.org}${more}`
      const left = [
        of('entries'),
        of('entry_versions'),
        of('long_texts'),
        of('pending_deletes'),
        of('changes', sql` AND erased = 0`),
      ]
      const rest = await connection.batch([
        ...left,
        of('receipts', sql` AND erased = 0`),
        of('outbox', sql` AND topic = 'delete'`),
      ])
      expect(rest.map(([row]) => Number(row?.n))).toEqual([0, 0, 0, 0, 0, 0, 0])
    })

    it('and erases leave nothing of any part', async () => {
      const ids = await many()
      await patch(ids[0] as number)
      await patch(ids[900] as number)
      const { removed, by } = watched()
      const caller = { ...ada, receipt: receiptOf('k') }
      expect(await by.erase(caller, { threadIds: ['many'] })).toMatchObject({ count: COUNT })
      const { find } = createSqlReceipts(made.connection, made.clock, terms)
      expect(await find(ada, 'k')).toMatchObject({ erased: false, output: { erased: { count: COUNT } } })
      expect(removed).toEqual(PARTS)
      expect(await counted(of('entry_versions'))).toEqual([0])
    })

    it('report the rest beyond one call, again under the same key, and continue under another', async () => {
      const ids = await many(MOST_DELETED + 8)
      await store().delete(ada, { ids: ids.slice(0, 1) })
      const entries = createSqlEntryStore(made.connection, made.analyzer, made.clock, new Map(), NO_QUOTAS, terms)
      const receipts = createSqlReceipts(made.connection, made.clock, terms)
      const services = {
        deleteEntries: deleting(entries),
        receipts,
        afterwards: () => {},
        maintenance: { work: async () => {}, workLeft: async () => {} },
      }
      const erase = async (key: string) => {
        const principal = { ...ada, changeId: crypto.randomUUID() }
        const context = { principal, services, config: {} } as unknown as ToolContext
        const args = { thread_id: 'many', erase: true, idempotency_key: key }
        const { structured } = await deleteContext.call(context, args)
        return [structured.replayed === true, structured.deleted_count, structured.remaining]
      }
      // Of the thread goes too what they have deleted.
      expect(await erase('a')).toEqual([false, MOST_DELETED, 8])
      expect(await erase('a')).toEqual([true, MOST_DELETED, 8])
      expect(await standing()).toBe(8)
      expect([await erase('b'), await erase('b')]).toEqual([
        [false, 8, undefined],
        [true, 8, undefined],
      ])
    })

    it('[HISTORY-31] undoes a call that deleted more than a thousand entries, a thousand at a time, in few statements', async () => {
      const texts = (from: number) => Array.from({ length: 101 }, (_, i) => `glacier number ${from + i} of the range`)
      for (let from = 0; from < 1010; from += 101)
        await store().save(ada, await Promise.all(texts(from).map((text) => entryOf(ada, { text }))))
      const call = { ...ada, changeId: crypto.randomUUID() }
      expect(await store().delete(call, { threadIds: ['thread'] })).toBe(1010)
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
        history: createSqlHistory(counted, analyzer, clock, NO_QUOTAS, terms),
        generate,
        now: () => clock.now(),
      })
      const services = { receipts: createSqlReceipts(connection, clock, terms) }
      const undo = async (key: string) => {
        const before = statements
        const principal = { ...ada, changeId: crypto.randomUUID() }
        const { result, replayed } = await executeOnce(
          { ...{ principal, services }, key, args: {}, findsReceiptFirst: true },
          keyedCall(
            async (caller) => ({ ...(await restore(caller, { changeId: call.changeId })) }),
            ({ notes }) => ({ ...(notes.restored as object) }),
          ),
        )
        most = Math.max(most, statements - before)
        return [replayed, (result.restored as unknown[]).length, result.remaining]
      }
      expect([await undo('a'), await undo('a'), await undo('b'), await undo('b')]).toEqual([
        [false, 1000, 10],
        [true, 1000, 10],
        [false, 10, 0],
        [true, 10, 0],
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
  })
}
