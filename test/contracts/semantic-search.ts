import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { createLocalEmbedder } from '../../src/adapters/local/embedder'
import { Batch } from '../../src/adapters/sql/core/batch'
import type { SqlConnection } from '../../src/adapters/sql/core/connection'
import { createSqlVectorRows } from '../../src/adapters/sql/stores/search/vector-rows'
import type { Entry } from '../../src/domain/entry/entry'
import type { Caller, Scope } from '../../src/domain/identity/scope'
import { cosine, distance, fromBase64, modelKey, quantize, toBase64 } from '../../src/domain/meaning/vector'
import type { Analyzer } from '../../src/domain/search/analysis'
import { EVERYTHING, type Filter, matches } from '../../src/domain/search/filter'
import type { EntryStore } from '../../src/ports/entry-store'
import type { VectorIndex } from '../../src/ports/vector-index'
import { createSyncVectors } from '../../src/services/maintenance/sync-vectors'
import { createSearchSemantic } from '../../src/services/searching/ranked/search-semantic'
import { createGenerate } from '../../src/services/writing/entries/generate'
import { type Costs, d1Adapters, migrate, resetCosts } from '../support/bindings'
import { notePauses } from '../support/pauses'
import { entryOf, freshPrincipal, TestClock } from '../support/scope'
import { seeded } from '../support/seeded'

interface Made {
  readonly index: VectorIndex
  /** Advances the index: its updates may become visible, or get lost. */
  readonly elapse: () => void
  /** Number of other entries that any filter must handle: more than a search compares one by one, which is reduced accordingly. */
  readonly crowd?: number
}

/** Entries that are more than a search compares one by one in production. */
const CROWD = 6_000
const COMPARED = 4_000

/** Where entries and their vectors are. */
export interface Database {
  readonly adapters: (clock: TestClock) => {
    readonly analyzer: Analyzer
    readonly connection: SqlConnection
    readonly costs: Costs
    readonly entries: EntryStore
  }
  readonly prepare: () => Promise<void>
}

const WORDS =
  'river stone lamp winter engine paper garden signal copper thread mirror harbor falcon ember violet'.split(' ')
const SEED = 20261120

/**
 * Promises of semantic search with every index: everything committed, nothing deleted, exact filters.
 *
 * @param portions whether to look up thousands of hits too, as one index of each database does in the required tests
 */
export function semanticSearchContract(
  name: string,
  make: (clock: TestClock, connection: SqlConnection) => Made,
  database: Database = { adapters: d1Adapters, prepare: migrate },
  portions = true,
): void {
  describe(`${name} serves semantic search`, () => {
    const clock = new TestClock()
    const made = database.adapters(clock)
    const embedder = createLocalEmbedder(made.analyzer, 64)
    const rows = createSqlVectorRows(made.connection, clock)
    const generate = createGenerate({
      embedder,
      summarizer: null,
      chunking: { size: 120, overlap: 20 },
      onEmbeddingFailure: 'fail',
      minContentLength: 0,
    })
    beforeAll(database.prepare)

    const setUp = () => {
      const { index, elapse, crowd = CROWD } = make(clock, made.connection)
      const sync = createSyncVectors({ index, rows })
      const exact = (COMPARED * crowd) / CROWD
      const search = createSearchSemantic({
        ...{ embedder, index, rows, sync, now: () => clock.now(), exact },
      })
      return { search, index, sync, elapse, crowd }
    }
    const save = async (
      ada: Caller,
      drafts: { text: string; threadId?: string; metadata?: Record<string, number> }[],
    ) => {
      const entries = await Promise.all(drafts.map((draft) => entryOf(ada, draft)))
      const generated = await generate(
        entries.map(({ lifted, text, source }) => ({ title: lifted.title, text, source })),
      )
      const saved = await made.entries.save(
        ada,
        entries.map((entry, i) => ({ ...entry, generated: generated[i] as (typeof generated)[number] })),
      )
      return saved.map(({ id }) => id)
    }
    const rewrite = async (ada: Caller, entry: Entry, text: string) => {
      const [generated] = await generate([{ title: null, text, source: 'user' }])
      await made.entries
        .change(ada, [
          {
            id: entry.id,
            version: entry.version,
            steps: 1,
            text: { text, hash: text },
            ...(generated ? { generated } : {}),
          },
        ])
        .catch(() => [])
    }
    const everything = async (ada: Caller): Promise<Entry[]> => {
      const ids = (
        await made.entries.page(ada, EVERYTHING, { limit: 10_000, offset: 0, previewLength: 1 })
      ).entries.map(({ id }) => id)
      return made.entries.read(ada, ids)
    }
    /** The truth: every entry, every chunk, compared one by one. */
    const bruteForce = async (entries: readonly Entry[], query: string, filter: Filter, depth: number) => {
      const [q] = await embedder.embed([query], 'query')
      const wanted = quantize(q as Float32Array).values
      const admitted = entries.filter((entry) => matches(filter, entry))
      const vectors = await generate.embedTexts(admitted)
      return admitted
        .map((entry, i) => ({
          id: entry.id,
          distance: distance(
            Math.max(...(vectors[i] ?? []).map(({ data }) => cosine(wanted, fromBase64(data).values))),
          ),
        }))
        .sort((a, b) => a.distance - b.distance || a.id - b.id)
        .slice(0, depth)
    }
    const seen = (ranking: { hits: readonly { id: number; distance: number }[] }) =>
      ranking.hits.map(({ id, distance: d }) => ({ id, distance: d }))

    it('finds exactly the most similar entries under concurrent stores, updates, deletes and searches', async () => {
      const random = seeded(SEED)
      const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
      const sentence = (n: number) => Array.from({ length: n }, () => pick(WORDS)).join(' ')
      const ada = freshPrincipal()
      const { search, sync, elapse } = setUp()
      const space = { org: ada.org, model: modelKey(embedder), dimensions: embedder.dimensions }
      for (let round = 0; round < 15; round++) {
        const known = await everything(ada)
        await Promise.all([
          save(
            ada,
            Array.from({ length: 6 }, () => ({
              text: sentence(4 + Math.floor(random() * 40)),
              threadId: `t${Math.floor(random() * 3)}`,
            })),
          ),
          ...(known.length > 6
            ? [rewrite(ada, pick(known), sentence(9)), made.entries.delete(ada, { ids: [pick(known).id] })]
            : []),
          ...(round % 3 === 1 ? [sync(space)] : []),
          search(ada, sentence(3), EVERYTHING, 10),
        ])
        if (round % 2 === 0) elapse()
        const truth = await everything(ada)
        for (const filter of [EVERYTHING, { op: 'thread', is: 't1' } as const]) {
          const query = sentence(3)
          const expected = await bruteForce(truth, query, filter, 10)
          expect([round, seen(await search(ada, query, filter, 10))]).toEqual([round, expected])
        }
      }
    })

    it('never starves a page: any filter over many entries gives what comparing one by one gives', async () => {
      const random = seeded(SEED + 1)
      const ada = freshPrincipal()
      const { search, index, sync, elapse, crowd } = setUp()
      const space = { org: ada.org, model: modelKey(embedder), dimensions: embedder.dimensions }
      const texts = Array.from({ length: crowd }, (_, i) => ({
        text: `${WORDS[i % 5]} ${WORDS[Math.floor(random() * WORDS.length)]} number ${i}`,
        threadId: `t${i % 7}`,
        metadata: { n: i },
      }))
      for (let i = 0; i < texts.length; i += 100) await save(ada, texts.slice(i, i + 100))
      for (let i = 0; i < 3; i++) {
        await sync(space)
        elapse()
      }
      const truth = await everything(ada)
      const compare = (by: 'lt' | 'gte', value: number): Filter => ({ op: 'compare', path: ['n'], by, value })
      const filters: Filter[] = [
        EVERYTHING,
        compare('gte', Math.round(crowd * 0.248)),
        compare('lt', Math.round(crowd * 0.233)),
        compare('gte', Math.round(crowd * 0.033)),
        { op: 'thread', is: 't3' },
      ]
      for (const filter of filters) {
        const expected = await bruteForce(truth, 'river stone', filter, 100)
        resetCosts(made.costs)
        expect(seen(await search(ada, 'river stone', filter, 100))).toEqual(expected)
        // A few rows for each of the entries, never each vector against each entry.
        expect(made.costs.rowsRead).toBeLessThan(truth.length * 12)
      }
      // Where no index leads to what a filter admits, it is asked of all entries sooner than of all that is near.
      const scarce = compare('lt', 3)
      let asked = 0
      const counting: typeof rows = {
        ...rows,
        fewAdmitted: (...given) => {
          asked++
          return rows.fewAdmitted(...given)
        },
      }
      const withoutLook = createSearchSemantic({
        ...{ embedder, index, rows: counting, sync, now: () => clock.now(), exact: 0 },
      })
      const expected = await bruteForce(truth, 'river stone', scarce, 10)
      expect(seen(await withoutLook(ada, 'river stone', scarce, 10))).toEqual(expected)
      expect([expected.length, asked]).toEqual([3, 1])
    })

    it('returns the most similar chunk of any entries that match scope and filter, also of dissimilar ones', async () => {
      const ada = freshPrincipal()
      const { search } = setUp()
      const [near, far, long, closed] = await save(ada, [
        { text: 'river stone' },
        { text: 'violet ember falcon' },
        { text: `${'winter lamp paper '.repeat(12)}. river stone ${'. winter lamp paper'.repeat(12)}` },
        { text: 'river stone elsewhere', threadId: 'closed' },
      ])
      const ids = [near, far, long, closed].map((id) => id as number)
      const asked = await search.find(ada, await search.embed('river stone'), 1, EVERYTHING)
      const filter: Filter = { op: 'thread', is: 'thread' }
      const besideOf = async (scope: Scope, filter: Filter, beside: readonly number[]) =>
        (await search.answer(scope, asked, filter, 1, beside)).known
      const found = await besideOf(ada, filter, ids)
      expect([...found.keys()].sort()).toEqual([near, far, long].sort())
      const truth = await bruteForce(await everything(ada), 'river stone', filter, 10)
      for (const { id, distance: d } of truth) expect(found.get(id)?.distance).toBe(d)
      expect(found.get(long as number)?.start).toBeGreaterThan(0)
      expect(await besideOf(freshPrincipal(), EVERYTHING, ids)).toEqual(new Map())
      expect((await besideOf(ada, filter, [])).has(near as number)).toBe(true)
    })

    it('returns it for entries of which the index found all, some or none, and for later writes', async () => {
      const ada = freshPrincipal()
      const { index, sync } = setUp()
      const compared: (readonly number[])[] = []
      const telling: typeof rows = {
        ...rows,
        ofEntries(...given) {
          compared.push(given[3])
          return rows.ofEntries(...given)
        },
      }
      const search = createSearchSemantic({
        ...{ embedder, index, rows: telling, sync, now: () => clock.now() },
      })
      const texts = ['river stone', 'river lamp', 'river', 'stone lamp', 'stone engine', 'paper', 'violet ember']
      const ids = (await save(
        ada,
        [...texts, ...texts].map((text, i) => ({ text: `${text} ${i}` })),
      )) as number[]
      await search.catchUp(ada)
      const asked = await search.find(ada, await search.embed('river stone'), 2, EVERYTHING)
      const [rewritten, gone] = ids as [number, number]
      const before = await everything(ada)
      await rewrite(ada, before.find(({ id }) => id === rewritten) as Entry, 'paper engine')
      await made.entries.delete(ada, { ids: [gone] })
      const { known } = await search.answer(ada, asked, EVERYTHING, 2, ids)
      const truth = await bruteForce(await everything(ada), 'river stone', EVERYTHING, ids.length)
      expect(truth.map(({ id }) => ({ id, distance: known.get(id)?.distance }))).toEqual(truth)
      expect([known.size, known.has(gone)]).toEqual([ids.length - 1, false])
      // Vectors are read for entries that the index did not return, and for later writes.
      const told = asked.found.hits.map(({ entryId }) => entryId)
      expect(compared[0]).toEqual(ids.filter((id) => !told.includes(id)))
      for (const id of compared.slice(1).flat()) expect([rewritten, gone]).toContain(id)
    })

    it('skips a stored vector that cannot be read, and queues its entry to be embedded again', async () => {
      const ada = freshPrincipal()
      const { search, index, elapse } = setUp()
      const [good, broken] = await save(ada, [{ text: 'river stone' }, { text: 'river water' }])
      await new Batch(
        sql`UPDATE entry_vectors SET data = ${`NaN:${btoa('\0'.repeat(64))}`} WHERE entry_id = ${broken}`,
        sql`DELETE FROM outbox WHERE org = ${ada.org}`,
      ).run(made.connection)
      // PostgreSQL compares the numbers itself, which are there and all zero.
      const found = async () => seen(await search(ada, 'river stone', EVERYTHING, 10)).map(({ id }) => id)
      expect((await found())[0]).toBe(good)
      const space = { org: ada.org, model: modelKey(embedder), dimensions: embedder.dimensions }
      const told: unknown[] = []
      const log = (event: string, fields: Record<string, unknown>) => told.push([event, fields.count])
      await createSyncVectors({ index, rows, log })(space)
      elapse()
      expect(told).toHaveLength(made.connection.dialect.bounded === null ? told.length : 1)
      if (told.length > 0) {
        expect(told).toEqual([['unreadable_vectors', 1]])
        const queued = sql`SELECT o.key FROM outbox o WHERE o.org = ${ada.org} AND o.topic = 'embed'`
        expect((await made.connection.read([queued]))[0]).toEqual([{ key: String(broken) }])
      }
      if (told.length > 0) expect(await found()).toEqual([good])
    })

    const lookUpThousands = async () => {
      const random = seeded(SEED + 2)
      const ada = freshPrincipal()
      const { index, elapse } = make(clock, made.connection)
      const words = (count: number) =>
        Array.from({ length: count }, () => WORDS[Math.floor(random() * WORDS.length)]).join(' ')
      for (let i = 0; i < 6; i++) await save(ada, [{ text: words(12_000) }])
      let most = 0
      let rests = 0
      notePauses(() => rests++)
      const counted = createSearchSemantic({
        ...{ embedder, index, sync: createSyncVectors({ index, rows }), now: () => clock.now() },
        rows: {
          ...rows,
          lookUp: (scope, lookup) => {
            most = Math.max(most, lookup.hits.length)
            return rows.lookUp(scope, lookup)
          },
        },
      })
      const space = { org: ada.org, model: modelKey(embedder), dimensions: embedder.dimensions }
      for (let i = 0; i < 3; i++) {
        await createSyncVectors({ index, rows })(space)
        elapse()
      }
      const expected = await bruteForce(await everything(ada), 'river stone', EVERYTHING, 10)
      expect(seen(await counted(ada, 'river stone', EVERYTHING, 10))).toEqual(expected)
      expect(most).toBeLessThanOrEqual(4_000)
      expect(rests).toBeGreaterThan(0)
    }
    if (portions)
      it('looks up thousands of hits of a few long entries in portions, with rests between them', lookUpThousands)

    it('searches an index of the complete organization no deeper because of a filter, which finds its matches itself', async () => {
      const ada = freshPrincipal()
      const { search } = setUp()
      const embedded = await search.embed('river')
      const limitOf = async (filter: Filter) => (await search.find(ada, embedded, 10, filter)).limit
      expect(await limitOf({ op: 'thread', is: 'one of many' })).toBe(await limitOf(EVERYTHING))
    })

    it('finds nothing where a filter admits nothing, or nothing was stored', async () => {
      const ada = freshPrincipal()
      const { search } = setUp()
      const nowhere: Filter = { op: 'thread', is: 'nowhere' }
      expect((await search(ada, 'river stone', nowhere, 10)).hits).toEqual([])
      expect((await search(ada, 'river stone', EVERYTHING, 10)).hits).toEqual([])
      await save(ada, [{ text: 'river stone' }])
      expect((await search(ada, 'river stone', nowhere, 10)).hits).toEqual([])
    })

    it('sees nothing of another org, of closed projects or of private readers', async () => {
      const ada = freshPrincipal()
      const { search, sync, elapse } = setUp()
      const space = { org: ada.org, model: modelKey(embedder), dimensions: embedder.dimensions }
      const [open] = await save(ada, [{ text: 'river stone' }])
      const entries = [
        await entryOf(ada, { text: 'river stone closed', metadata: { project: 'b' } }),
        await entryOf(ada, { text: 'river stone private', metadata: { audience: 'private' } }),
      ]
      const generated = await generate(
        entries.map(({ lifted, text, source }) => ({ title: lifted.title, text, source })),
      )
      await made.entries.save(
        ada,
        entries.map((entry, i) => ({ ...entry, generated: generated[i] as (typeof generated)[number] })),
      )
      for (let i = 0; i < 2; i++) {
        const narrowed = freshPrincipal({ org: ada.org, owner: 'eve', projects: ['a'] })
        expect(seen(await search(narrowed, 'river stone', EVERYTHING, 10)).map(({ id }) => id)).toEqual([open])
        expect((await search(freshPrincipal(), 'river stone', EVERYTHING, 10)).hits).toEqual([])
        expect((await search(ada, 'river stone', EVERYTHING, 10)).hits).toHaveLength(3)
        await sync(space)
        elapse()
        await sync(space)
      }
    })
  })
}

/** Keeps packing honest wherever the suite runs. */
export const roundTrips = (): void => {
  it('packs vectors as text and back without loss', () => {
    fc.assert(
      fc.property(
        fc.array(fc.float({ noNaN: true, noDefaultInfinity: true, min: -1, max: 1 }), { minLength: 1 }),
        (numbers) => {
          const packed = quantize(Float32Array.from(numbers))
          expect(fromBase64(toBase64(packed))).toEqual(packed)
        },
      ),
    )
  })
}
