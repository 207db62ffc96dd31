import { type SQL, sql } from 'drizzle-orm'
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import { describe, expect, it } from 'vitest'
import { repeated } from '../../bench/faults/alphabets.mjs'
import type { Row, SqlConnection } from '../../src/adapters/sql/core/connection'
import { WRITE_BUDGET } from '../../src/adapters/sql/core/write-budget'
import { createSqlEntryStore } from '../../src/adapters/sql/stores/entries/entry-store'
import { createSqlHistory } from '../../src/adapters/sql/stores/history/history'
import { createSqlOutbox } from '../../src/adapters/sql/stores/maintenance/outbox'
import { createSqlIndexMaintenance } from '../../src/adapters/sql/stores/search/index-maintenance'
import { createSqlLongTexts } from '../../src/adapters/sql/stores/texts/staged-texts'
import { createUnfinishedDeletes } from '../../src/adapters/sql/tables/changes/pending-deletion'
import { LEASE_MS } from '../../src/adapters/sql/tables/outbox/outbox-rows'
import type { NewEntry } from '../../src/domain/entry/entry-write'
import { PREVIEW_LENGTH } from '../../src/domain/entry/long-text'
import { NO_QUOTAS } from '../../src/domain/quota'
import { SLICE, STEP } from '../../src/domain/scheduler'
import type { Analyzer } from '../../src/domain/search/analysis'
import { EVERYTHING, type Filter } from '../../src/domain/search/filter'
import { HIGHLIGHT_LIMIT } from '../../src/domain/search/hits'
import { parseQuery } from '../../src/domain/search/query'
import { scoredTerms } from '../../src/domain/search/score'
import { PAGE_METADATA_BYTES } from '../../src/domain/search/window'
import { sha256Hex } from '../../src/domain/text'
import type { EntryStore } from '../../src/ports/entry-store'
import { type FullText, SCORED_LENGTH } from '../../src/ports/full-text'
import { createOutboxWork } from '../../src/services/maintenance/outbox-work'
import { createRankedSearches } from '../../src/services/searching/ranked/ranked-search'
import { createSearchText } from '../../src/services/searching/ranked/search-text'
import { notePauses } from '../support/pauses'
import { entryOf, freshPrincipal, TestClock } from '../support/scope'

interface Made {
  readonly entries: EntryStore
  readonly fullText: FullText
  readonly analyzer: Analyzer
  readonly connection: SqlConnection
  readonly clock: TestClock
}

const LONG = repeated('hay ', 400_000)

const textOf = (statement: SQL): string => new SQLiteSyncDialect().sqlToQuery(statement).sql

/** Reads and work for long texts, counted, on every database. */
export function longTextsContract(name: string, make: () => Made): void {
  describe(`${name} serves long texts`, () => {
    it('yields between slices of stores and changes', async () => {
      const { analyzer, connection, clock } = make()
      let rests = 0
      notePauses(() => rests++)
      const entries = createSqlEntryStore(connection, analyzer, clock, new Map())
      const ada = freshPrincipal()
      const [one, two] = await Promise.all([entryOf(ada, { text: LONG }), entryOf(ada, { text: `${LONG}x` })])
      const [saved] = await entries.save(ada, [one, two])
      // Each text is read for its terms and once more when its statement is made.
      const least = Math.floor((2 * LONG.length) / (SLICE + STEP))
      expect(rests).toBeGreaterThanOrEqual(least)
      rests = 0
      const id = saved?.id as number
      const indexed = {
        text: LONG,
        threadId: 'thread',
        title: null,
        project: null,
        agent: null,
        reader: '',
        captured: false,
        layer: 2 as const,
        metadata: null,
      }
      await entries.change(ada, [{ id, version: 1, steps: 1, text: { text: LONG, hash: 'h' }, indexed }])
      expect(rests).toBeGreaterThanOrEqual(Math.floor(least / 2))
    })

    it('writes a long text once, whatever else changes, and retains it as long as an entry or its history needs it', async () => {
      const { analyzer, connection, clock } = make()
      const ada = freshPrincipal()
      const terms = { days: 30, receiptHours: 24 }
      const store = (days: number) =>
        createSqlEntryStore(connection, analyzer, clock, new Map(), NO_QUOTAS, { ...terms, days })
      const history = createSqlHistory(connection, analyzer, clock, NO_QUOTAS, terms)
      const inRows = async () => {
        const of = (table: string) =>
          sql`SELECT coalesce(sum(length(text)), 0) AS n FROM ${sql.raw(table)} WHERE org = ${ada.org}`
        const results = await connection.batch(['entries', 'entry_versions', 'long_texts'].map(of))
        return results.map(([row]) => Number(row?.n))
      }
      const long = 'hay '.repeat(5000).trim()
      const [one, two] = (
        await store(30).save(ada, [
          await entryOf(ada, { text: long, threadId: 'a' }),
          await entryOf(ada, { text: long, threadId: 'b' }),
        ])
      ).map(({ id }) => id) as [number, number]
      await store(30).patch(ada, one, { n: 1 })
      expect(await inRows()).toEqual([0, 0, long.length])
      expect((await store(30).read(ada, [one, two])).map(({ text }) => text)).toEqual([long, long])

      const metadata = { value: { n: 2 }, lifted: (await entryOf(ada)).lifted, links: [] }
      await store(30).change(ada, [{ id: one, version: 2, steps: 1, metadata }])
      const sizes = await connection.batch([sql`SELECT bytes FROM entries WHERE id = ${one}`])
      expect(Number(sizes[0]?.[0]?.bytes)).toBe(long.length + '{"n":2}'.length)
      const short = { text: 'needle', hash: await sha256Hex('needle') }
      await store(30).change(ada, [{ id: one, version: 3, steps: 1, text: short }])
      await store(30).delete(ada, { ids: [one, two] })
      expect(await inRows()).toEqual([0, 'needle'.length, long.length])
      for (const version of [1, 2, 3]) expect((await history.state(ada, one, version))?.text).toBe(long)
      expect((await history.texts(ada, one, [3, 4], 1e6)).get(3)).toBe(long)

      const { kept } = await history.restorable(ada, { ids: [two] }, { limit: 10, maxBytes: 1e6 })
      await history.restore(
        ada,
        kept,
        kept.map(() => null),
      )
      expect((await store(30).read(ada, [two]))[0]?.text).toBe(long)
      expect(await inRows()).toEqual([0, 'needle'.length, long.length])
      await store(30).erase(ada, { ids: [one] })
      expect(await inRows()).toEqual([0, 0, long.length])
      await store(30).erase(ada, { ids: [two] })
      expect(await inRows()).toEqual([0, 0, 0])

      // Without history the last entry that needs it takes it along.
      const [again] = await store(0).save(ada, [await entryOf(ada, { text: long })])
      await store(0).change(ada, [{ id: again?.id as number, version: 1, steps: 1, text: short }])
      expect(await inRows()).toEqual(['needle'.length, 0, 0])
    })

    it('reads only the preview of a separately stored long text, and deletes it with the text', async () => {
      const { entries, connection, fullText, analyzer } = make()
      const ada = freshPrincipal()
      const text = '😀 ä needle '.repeat(10_000).trim()
      const id = (await entries.save(ada, [await entryOf(ada, { text })]))[0]?.id as number
      const query = parseQuery('needle', 'match', analyzer)
      const request = { query, terms: scoredTerms(query.units), filter: EVERYTHING, columns: ['body'] as const }
      const read = async () => {
        const { hits } = await fullText.search(ada, { ...request, depth: { candidates: 9, complete: 9 } })
        const [shown] = await entries.previews(ada, EVERYTHING, [id], 300)
        const cut = [
          { id, start: 0, length: PREVIEW_LENGTH },
          { id, start: PREVIEW_LENGTH - 10, length: 10 },
        ]
        const parts = await entries.textRanges(ada, EVERYTHING, cut)
        return [hits[0]?.text, shown?.text, ...parts.map((part) => part.text)]
      }
      const points = [...text]
      const at = (from: number, to: number) => points.slice(from, to).join('')
      const wanted = [at(0, SCORED_LENGTH), at(0, 300), at(0, PREVIEW_LENGTH), at(PREVIEW_LENGTH - 10, PREVIEW_LENGTH)]
      const isAsWanted = async () => (await read()).map((part, i) => part === wanted[i])
      expect(await isAsWanted()).toEqual(wanted.map(() => true))
      if (connection.dialect.preview === null) return
      const kept = async () =>
        (await connection.batch([sql`SELECT org FROM text_previews WHERE org = ${ada.org}`]))[0]?.length
      expect(await kept()).toBe(1)
      // The rest is not read, whatever its state.
      await connection.batch([sql`UPDATE long_texts SET text = 'other' WHERE org = ${ada.org}`])
      expect(await isAsWanted()).toEqual(wanted.map(() => true))
      await entries.erase(ada, { ids: [id] })
      expect(await kept()).toBe(0)
    })

    it('finds long texts that were stored and changed in one call, although each became searchable by itself', async () => {
      const { entries, connection, fullText, analyzer, clock } = make()
      const ada = freshPrincipal()
      const written: number[] = []
      const counted: SqlConnection = {
        ...connection,
        batch: (statements, lock) => {
          const indexing = statements.filter((statement) => /entries_fts/.test(textOf(statement)))
          written.push(indexing.length)
          return connection.batch(statements, lock)
        },
      }
      const store = createSqlEntryStore(counted, analyzer, clock, new Map())
      const texts = ['oak', 'elm', 'ash'].map((tree) => `${tree} ${repeated(`${tree}s hay `, WRITE_BUDGET * 0.8)}`)
      const drafts = await Promise.all(['short', ...texts].map((text) => entryOf(ada, { text })))
      const vectors = [{ model: 'm#1', chunk: 0, start: 0, length: 9, data: '1:AQ==' }]
      const saved = await store.save(
        ada,
        drafts.map((draft) => ({ ...draft, generated: { vectors, summary: '', queued: [] } })),
      )
      // The short one and the first long one with the commit, the others one by one.
      expect(written).toEqual([2, 0, 0, 1, 0, 1])
      const search = createSearchText({ fullText, analyzer })
      const found = async (query: string) =>
        (await search(ada, query, 'match', EVERYTHING)).ordering.map(({ id }) => id)
      for (const [i, tree] of ['short', 'oak', 'elm', 'ash'].entries())
        expect(await found(tree)).toEqual([saved[i]?.id])

      const [oak, elm] = saved.slice(1).map(({ id }) => id) as [number, number]
      const indexed = {
        threadId: 'thread',
        title: null,
        project: null,
        agent: null,
        reader: '',
        captured: false,
        layer: 2,
        metadata: null,
      } as const
      const long = `fir ${texts[0]}`
      await store.change(ada, [
        {
          ...{ id: oak, version: 1, steps: 1, text: { text: long, hash: 'h' }, indexed: { ...indexed, text: long } },
          generated: { vectors, summary: '', queued: [] },
        },
        // Its text was too long to be returned.
        { id: elm, version: 1, steps: 1, indexed: { ...indexed, title: 'x', text: null } },
      ])
      expect(await found('fir')).toEqual([oak])
      expect(await found('elm')).toEqual([elm])
      const [words, queue, kept] = await connection.batch([
        sql`SELECT id FROM entries WHERE org = ${ada.org} AND text_words < 1`,
        sql`SELECT topic FROM outbox WHERE org = ${ada.org} AND topic IN ('index', 'embed')`,
        sql`SELECT entry_id FROM entry_vectors WHERE org = ${ada.org} ORDER BY entry_id`,
      ])
      expect(words).toEqual([])
      expect(queue).toEqual([])
      expect(kept?.map(({ entry_id: id }) => Number(id))).toEqual(saved.map(({ id }) => id))
      expect(await entries.read(ada, [oak])).toMatchObject([{ version: 2 }])
    })

    it('makes long texts searchable by the same call, or by the schedule, when their writer died after its commit', async () => {
      const { connection, fullText, analyzer, clock } = make()
      const ada = freshPrincipal()
      let batches = 0
      const dying: SqlConnection = {
        ...connection,
        batch: async (statements, lock) => {
          if (++batches > 1) throw new Error('gone')
          return connection.batch(statements, lock)
        },
      }
      const search = createSearchText({ fullText, analyzer })
      const found = async (query: string) => (await search(ada, query, 'match', EVERYTHING)).ordering.length
      const queued = async () =>
        (await connection.batch([sql`SELECT topic FROM outbox WHERE org = ${ada.org} AND topic = 'index'`]))[0]?.length
      const draft = (name: string) => entryOf(ada, { threadId: name, text: `${name} ${LONG}` })
      const save = (by: SqlConnection, ...drafts: NewEntry[]) => {
        batches = 0
        return createSqlEntryStore(by, analyzer, clock, new Map()).save(ada, drafts)
      }
      // It is stored: a failure would invite the caller to store it again.
      const stored = await save(dying, await draft('first'), await draft('second'))
      expect(stored.map(({ isNew, searchable }) => [isNew, searchable])).toEqual([
        [true, false],
        [true, false],
      ])
      expect([await found('first'), await found('second'), await queued()]).toEqual([0, 0, 2])

      const [again] = await save(connection, await draft('first'))
      expect(again).toMatchObject({ isNew: false, version: 2, searchable: true })
      expect([await found('first'), await found('second'), await queued()]).toEqual([1, 0, 1])

      const index = createSqlIndexMaintenance(connection, analyzer)
      const workAt = (ms: number) =>
        createOutboxWork({
          ...{ outbox: createSqlOutbox(connection, new TestClock(ms)), index, images: {} as never, generation: null },
          ...{ deletes: createUnfinishedDeletes(connection), longTexts: createSqlLongTexts(connection) },
          ...{ syncOrg: async () => {}, log: () => {} },
        })(20)
      await workAt(clock.now())
      expect(await found('second')).toBe(0)
      await workAt(clock.now() + LEASE_MS)
      expect([await found('second'), await queued()]).toEqual([1, 0])
    })

    it('reads a megabyte of large metadata for a page, and for updates no long text and no more than fits into memory', async () => {
      const { entries, connection, clock, analyzer } = make()
      const ada = freshPrincipal()
      const note = 'm'.repeat(250_000)
      const draft = (text: string) => entryOf(ada, { text, threadId: text, metadata: { note } })
      const ids: number[] = []
      for (let i = 0; i < 4; i++) {
        const drafts = await Promise.all(Array.from({ length: 10 }, (_, n) => draft(`${i}.${n}`)))
        ids.unshift(...(await entries.save(ada, drafts)).map(({ id }) => id).reverse())
      }
      let read = 0
      const count = async (batch: Promise<Row[][]>) => {
        const rows = await batch
        for (const value of rows.flat(2).flatMap((row) => Object.values(row)))
          if (typeof value === 'string') read += value.length
        return rows
      }
      const counted: SqlConnection = {
        ...connection,
        batch: (...args) => count(connection.batch(...args)),
        read: (...args) => count(connection.read(...args)),
      }
      const store = createSqlEntryStore(counted, analyzer, clock, new Map())
      const { entries: page } = await store.page(ada, EVERYTHING, { limit: 100, offset: 0, previewLength: 10 })
      expect(page.map(({ id }) => id)).toEqual(ids)
      const bare = page.map((entry) => entry.bare === true)
      expect(bare).toEqual(ids.map((_, i) => i >= 3))
      expect(page[0]?.metadata).toEqual({ note })
      expect(read).toBeLessThan(PAGE_METADATA_BYTES + 2 * note.length)
      const shuffled = [...ids.slice(20), ...ids.slice(0, 20)]
      const previews = await store.previews(ada, EVERYTHING, shuffled, 10)
      expect(previews.filter((entry) => entry.bare).map(({ id }) => id)).toEqual(shuffled.slice(3))

      await expect(entries.readToChange(ada, ids)).rejects.toMatchObject({ code: 'limit_exceeded' })
      const [long] = await entries.save(ada, [await entryOf(ada, { text: LONG })])
      const toChange = await entries.readToChange(ada, [ids[0] as number, long?.id as number])
      expect(toChange.map(({ text, metadata }) => [text?.slice(0, 3) ?? null, metadata !== null])).toEqual([
        ['3.9', true],
        [null, false],
      ])
    })

    it('reads ranges by code points, of entries that match scope and filter', async () => {
      const { entries } = make()
      const ada = freshPrincipal()
      const drafts = [
        { text: '🌍bc🌍ef', threadId: 'a' },
        { text: 'other', threadId: 'b' },
      ]
      const saved = await entries.save(ada, await Promise.all(drafts.map((draft) => entryOf(ada, draft))))
      const wanted = saved.map(({ id }) => ({ id, start: 2, length: 3 }))
      const inA: Filter = { op: 'thread', is: 'a' }
      expect((await entries.textRanges(ada, EVERYTHING, wanted)).map(({ text }) => text).sort()).toEqual([
        'c🌍e',
        'her',
      ])
      expect(await entries.textRanges(ada, inA, wanted)).toEqual([{ id: saved[0]?.id, text: 'c🌍e' }])
      expect(await entries.textRanges(freshPrincipal(), EVERYTHING, wanted)).toEqual([])
    })

    it('reads the first 50,000 characters to highlight and to rerank, and of entries found by meaning only the chunk', async () => {
      const made = make()
      const ada = freshPrincipal()
      const text = `needle ${LONG}`
      await made.entries.save(ada, [await entryOf(ada, { text })])
      let read = 0
      const entries: EntryStore = {
        ...made.entries,
        textRanges: async (...args) => {
          const found = await made.entries.textRanges(...args)
          for (const { text } of found) read += [...text].length
          return found
        },
        previews: async (...args) => {
          const found = await made.entries.previews(...args)
          for (const { text } of found) read += [...text].length
          return found
        },
      }
      const passages: string[] = []
      const reranker = {
        provider: 'test',
        model: 'even',
        rerank: async (_: string, given: readonly string[]) => {
          passages.push(...given)
          return given.map(() => 0.5)
        },
      }
      const chunk = { id: 0, cosine: 1, distance: 0, start: 7, length: 1_500 }
      const searchSemantic = Object.assign(
        async () => ({ hits: [{ ...chunk, id: saved }], embeddingMs: 0 }),
        {} as Parameters<typeof createRankedSearches>[0]['searchSemantic'] & object,
      )
      const searchText = createSearchText({ ...made })
      const searches = createRankedSearches({
        ...{ entries, analyzer: made.analyzer, searchText, searchSemantic, reranker, overfetch: 2 },
        levels: async () => ({ nothing: 0, answer: 1 }),
      })
      const request = { query: 'needle', filter: EVERYTHING, limit: 5, offset: 0, previewLength: 301 }
      const found = await searches.byWords(ada, { ...request, mode: 'match', highlight: true })
      const saved = found.results[0]?.entry.id as number
      expect(found.results[0]?.highlighted).toMatch(/^<mark>needle<\/mark> hay/)
      expect(read).toBe(HIGHLIGHT_LIMIT + 1 + 301)
      read = 0
      await searches.byMeaning(ada, request)
      expect(read).toBe(1_500 + 301)
      expect(passages.map((passage) => [...passage].length)).toEqual([2_000, 1_500])
      expect(passages[1]).toBe(text.slice(7, 1_507))
    })
  })
}
