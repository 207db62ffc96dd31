import { sql } from 'drizzle-orm'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createLocalEmbedder } from '../../src/adapters/local/embedder'
import { createSqlChangeFeed } from '../../src/adapters/sql/stores/history/change-feed'
import { createSqlDirectory } from '../../src/adapters/sql/stores/identity/directory'
import { createSqlVectorRows } from '../../src/adapters/sql/stores/search/vector-rows'
import { toQuery } from '../../src/adapters/sqlite/match'
import { composeServices } from '../../src/composition/worker'
import { NOTHING_GENERATED } from '../../src/domain/entry/entry'
import { UNFILTERED_FEED } from '../../src/domain/history/feed'
import { EVERYTHING, type Filter } from '../../src/domain/search/filter'
import type { ListedThread } from '../../src/domain/statistics'
import { createRankedSearches } from '../../src/services/searching/ranked/ranked-search'
import { createSearchText } from '../../src/services/searching/ranked/search-text'
import { createGenerate } from '../../src/services/writing/entries/generate'
import { bindings, type Costs, config, d1Adapters, migrate, resetCosts } from '../support/bindings'
import { Faults, faulty } from '../support/faults'
import { countingRows, openWorld } from '../support/isolation'
import { entryOf, freshPrincipal, TestClock } from '../support/scope'

/** Costs of calls: round trips, statements and rows read. Counts, never times. */
const clock = new TestClock()
const made = d1Adapters(clock)
const ada = freshPrincipal()
const PAGE = { limit: 30, offset: 0, previewLength: 301 }
const RARE = 40
/** Number of entries in the measured store: more than are counted, and than are checked one by one. */
const MANY = 50_000
const THREADS = 250
const GENERATE = { summarizer: null, chunking: null, onEmbeddingFailure: 'fail', minContentLength: 0 } as const

/**
 * Fills the org by SQL with this many plain entries, so that the tables are as large as in use; triggers keep counters
 * and tags as they do for stores.
 */
async function grow(from: number, to: number): Promise<void> {
  const start = Math.floor(Date.UTC(2020, 0, 1) / 1000)
  await bindings.DB.prepare(
    `WITH RECURSIVE n (i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
     INSERT INTO entries (org, thread_id, source, layer, created_at, updated_at, owner, created_by, text_hash, bytes,
       text_words, tags, metadata, text)
     SELECT ?3, 'thread ' || (i % ${THREADS}), 'user', 2, (?4 + i * 60) * 1000, ?4, 'ada', 'key-1', 'h' || i, 100, 10,
       CASE WHEN i % 5 = 0 THEN '["common"]' ELSE '[]' END,
       json_object('status', CASE i % 3 WHEN 0 THEN 'todo' WHEN 1 THEN 'doing' ELSE 'done' END, 'n', i), 'filler text number ' || i FROM n`,
  )
    .bind(from, to - 1, ada.org, start)
    .run()
}

async function cost(call: () => Promise<unknown>): Promise<Costs> {
  resetCosts(made.costs)
  await call()
  return { ...made.costs }
}

const rare: [string, Filter][] = [
  ['thread', { op: 'thread', is: 'rare thread' }],
  ['tag', { op: 'tag', anyOf: ['rare'] }],
  ['indexed metadata', { op: 'equals', path: ['report_type'], anyOf: ['Rare'], fold: true }],
  ['indexed metadata, with case', { op: 'equals', path: ['report_type'], anyOf: ['rare'], fold: false }],
  ['date', { op: 'created', from: Date.UTC(2019, 0, 1) / 1000, to: Date.UTC(2019, 11, 31) / 1000 }],
  [
    'indexed metadata and a wide date',
    {
      op: 'and',
      of: [
        { op: 'equals', path: ['report_type'], anyOf: ['rare'], fold: true },
        { op: 'created', from: 0, to: null },
      ],
    },
  ],
  ['content type', { op: 'contentType', is: 'multimodal' }],
  [
    'tag and metadata',
    {
      op: 'and',
      of: [
        { op: 'tag', anyOf: ['rare'] },
        { op: 'equals', path: ['status'], anyOf: ['done'], fold: true },
      ],
    },
  ],
]

describe('what calls cost in D1', () => {
  const small = new Map<string, number>()
  let last: unknown

  beforeAll(async () => {
    await migrate()
    clock.ms = Date.UTC(2019, 5, 1)
    const images = [{ hash: '0'.repeat(64), mimeType: 'image/png' as const, size: 1 }]
    const draft = { threadId: 'rare thread', tags: ['rare'], metadata: { report_type: 'rare', status: 'done' } }
    const drafts = await Promise.all(
      Array.from({ length: RARE }, (_, i) => entryOf(ada, { ...draft, text: `rare ${i}` })),
    )
    const generate = createGenerate({
      ...GENERATE,
      embedder: createLocalEmbedder(made.analyzer),
    })
    const generated = await generate(drafts.map(({ lifted, text, source }) => ({ title: lifted.title, text, source })))
    await made.entries.save(
      ada,
      drafts.map((draft, i) => ({ ...draft, images, generated: generated[i] ?? NOTHING_GENERATED })),
    )
    await grow(0, 1_000)
    for (const [name, filter] of rare)
      small.set(name, (await cost(() => made.entries.page(ada, filter, PAGE))).rowsRead)
    await grow(1_000, MANY)
    last = await bindings.DB.prepare('SELECT max(id) AS id FROM entries').first('id')
  })
  // So that what one test stores is in the counts of no other.
  afterEach(() => bindings.DB.prepare('DELETE FROM entries WHERE id > ?').bind(last).run())

  for (const [name, filter] of rare) {
    it(`reads as many rows for a page filtered by ${name} in 50,000 entries as in 1,000`, async () => {
      const { entries, total } = await made.entries.page(ada, filter, PAGE)
      expect([entries.length, total]).toEqual([30, RARE])
      const { rowsRead, roundTrips } = await cost(() => made.entries.page(ada, filter, PAGE))
      expect(roundTrips).toBe(1)
      expect(rowsRead).toBeLessThanOrEqual((small.get(name) as number) + 10)
      expect(rowsRead).toBeLessThan(RARE * 8)
    })
  }

  it('reads a page of one value of an indexed field, and its exact total, in its index alone', async () => {
    const done: Filter = { op: 'equals', path: ['status'], anyOf: ['Done'], fold: true }
    const { entries, total } = await made.entries.page(ada, done, PAGE)
    expect([entries.length, total]).toEqual([30, Math.floor(MANY / 3) + RARE])
    const { rowsRead, roundTrips } = await cost(() => made.entries.page(ada, done, PAGE))
    expect(roundTrips).toBe(1)
    expect(rowsRead).toBeLessThan(total + 5 * PAGE.limit)
  })

  it('scans once the entries with a value of an indexed field, ignoring case', async () => {
    const done: Filter = { op: 'equals', path: ['status'], anyOf: ['done'], fold: false }
    expect(await made.entries.page(ada, done, PAGE)).toMatchObject({ total: 1_000, totalIsExact: false })
    expect((await cost(() => made.entries.page(ada, done, PAGE))).rowsRead).toBeLessThan(10_000 + 10 * PAGE.limit)
    const other: Filter = { op: 'equals', path: ['report_type'], anyOf: ['RARE'], fold: false }
    expect(await made.entries.page(ada, other, PAGE)).toMatchObject({ entries: [], total: 0 })
  })

  it('goes through a field once for a page of its value and more, and stops counting behind a thousand', async () => {
    const rareOne: Filter = { op: 'equals', path: ['n'], anyOf: [5], fold: true }
    const done: Filter = { op: 'equals', path: ['status'], anyOf: ['done'], fold: true }
    const early: Filter = { op: 'compare', path: ['n'], by: 'gte', value: MANY - 30_000 }
    const { entries, total, totalIsExact } = await made.entries.page(ada, { op: 'and', of: [done, early] }, PAGE)
    // Of the newest thousand that are done all are as late as that.
    expect([entries.length, total, totalIsExact]).toEqual([30, 1_000, false])
    const { rowsRead, roundTrips } = await cost(() => made.entries.page(ada, { op: 'and', of: [done, early] }, PAGE))
    expect(roundTrips).toBe(1)
    expect(rowsRead).toBeLessThan(10_000 + 10 * PAGE.limit)
    const common: Filter = { op: 'tag', anyOf: ['common'] }
    const tagged = { op: 'and', of: [common, early] } as const
    expect(await made.entries.page(ada, tagged, PAGE)).toMatchObject({ total: 1_000, totalIsExact: false })
    expect((await cost(() => made.entries.page(ada, tagged, PAGE))).rowsRead).toBeLessThan(2 * 10_000 + 10 * PAGE.limit)
    // A key of few projects would go through everybody's entries at once.
    const narrowed = { ...ada, projects: ['p'] }
    const both = { op: 'and', of: [done, early] } as const
    expect((await cost(() => made.entries.page(narrowed, both, PAGE))).roundTrips).toBeGreaterThan(1)
    // Conditions that few of them match are checked in parts, as by any other filter, and found.
    expect(await made.entries.page(ada, { op: 'and', of: [done, rareOne] }, PAGE)).toMatchObject({ total: 1 })
  })

  it('reads a page of everything, and its exact total, without walking the entries', async () => {
    const { rowsRead } = await cost(() => made.entries.page(ada, EVERYTHING, PAGE))
    // 30 rows of the page, twice, and one counter a thread.
    expect(rowsRead).toBeLessThan((THREADS + 1) * 2 + 200)
  })

  it('reads statistics from one counter per access scope, thread and tag, and from the entries with images', async () => {
    const rows = createSqlVectorRows(made.connection, clock)
    const { entries, threads, uniqueTags, images } = await made.entries.statistics(ada)
    expect([entries, threads, images]).toEqual([MANY + RARE, THREADS + 1, RARE])
    const { rowsRead } = await cost(() => made.entries.statistics(ada))
    expect(rowsRead).toBeLessThan(6 * (threads + uniqueTags + RARE))
    expect((await cost(() => rows.counts(ada, 'local#512'))).rowsRead).toBeLessThan(10)
  })

  it('writes limits into statements, since SQLite would compile a cached statement with a bound one again at every call', () => {
    const page = toQuery(sql`SELECT id FROM entries WHERE id > ${7} ORDER BY id LIMIT ${7} OFFSET ${7}`)
    expect(page).toEqual({ sql: 'SELECT id FROM entries WHERE id > ?1 ORDER BY id LIMIT 7 OFFSET ?1', params: [7] })
    expect(toQuery(sql`SELECT 1 LIMIT ${'7'}`).params).toEqual(['7'])
  })

  it('lists threads from counters, not from entries', async () => {
    const { rowsRead, roundTrips } = await cost(() => made.entries.threads(ada, { limit: 100, offset: 0 }))
    expect(roundTrips).toBe(1)
    expect(rowsRead).toBeLessThan((THREADS + 1) * 6)
  })

  it('names threads and projects along an index, however many there are', async () => {
    const directory = createSqlDirectory(made.connection, clock)
    const first = await directory.threads(ada, null, 10)
    const after = first.at(-1) as ListedThread
    const asked: [() => Promise<readonly unknown[]>, number][] = [
      [() => directory.threads(ada, null, 10), 10],
      [() => directory.threads(ada, after, 10), 10],
      [() => directory.threadsBeginning(ada, '', 10), 10],
      [() => directory.threadsBeginning(ada, 'thread 12', 20), 11],
      [() => directory.projectsBeginning(ada, '', 20), 0],
      [() => directory.tagsBeginning(ada, '', 20), 2],
    ]
    for (const [ask, found] of asked) {
      expect(await ask()).toHaveLength(found)
      expect((await cost(ask)).rowsRead).toBeLessThanOrEqual(10 * found + 10)
    }
  })

  it('stores one entry, or a hundred, in one round trip of two statements each, one for the audit log, two that name the call, and of many two that count them', async () => {
    const one = [await entryOf(ada)]
    expect(await cost(() => made.entries.save(ada, one))).toMatchObject({ roundTrips: 1, statements: 5 })
    const many = await Promise.all(Array.from({ length: 100 }, () => entryOf(ada)))
    expect(await cost(() => made.entries.save(ada, many))).toMatchObject({ roundTrips: 1, statements: 205 })
  })

  it('writes a quarter fewer rows for each of a hundred entries of a thread that are stored together than for one alone', async () => {
    const draft = { threadId: 'thread 7', tags: ['a', 'b'] }
    const [first, ...others] = await Promise.all(Array.from({ length: 101 }, () => entryOf(ada, draft)))
    const { database, spentBy } = countingRows(bindings.DB)
    const { entries } = d1Adapters(clock, database)
    const alone = await spentBy(() => entries.save(ada, first === undefined ? [] : [first]))
    const together = await spentBy(() => entries.save(ada, others))
    expect(alone.written).toBeLessThanOrEqual(31)
    expect(together.written).toBeLessThanOrEqual(2_211)
  })

  it('stores an entry for a number of rows that does not grow with the table', async () => {
    const one = [await entryOf(ada, { threadId: 'thread 7', tags: ['a'] })]
    expect((await cost(() => made.entries.save(ada, one))).rowsRead).toBeLessThan(40)
  })

  it('writes no further row to compare metadata of equal length with the stored ones', async () => {
    const draft = { threadId: 'thread 7', metadata: { step: 'one', of: [{ a: 1, b: 2 }] } }
    const { database, spentBy } = countingRows(bindings.DB)
    const { entries } = d1Adapters(clock, database)
    const [saved] = await entries.save(ada, [await entryOf(ada, draft)])
    const id = saved?.id as number
    const compared = await spentBy(() => entries.patch(ada, id, { step: 'two' }))
    const longer = await spentBy(() => entries.patch(ada, id, { step: 'three' }))
    expect(compared.written).toBeLessThanOrEqual(8)
    expect(compared.read - longer.read).toBeLessThan(200)
  })

  it('compares a list in metadata with the stored one by as many rows as it is long, whichever call writes it', async () => {
    const { database, rowsOf } = countingRows(bindings.DB)
    const world = openWorld({ HISTORY_DAYS: '30' }, database)
    const org = await world.makeOrg('lists')
    const stored = { thread_id: 't', source: 'agent', text: 'a long list' }
    const metadata = (salt: number) => ({ list: Array.from({ length: 500 }, (_, i) => i), salt })
    const { context_id: id } = await world.ok(org, 'store_context', { ...stored, metadata: metadata(1) })
    const calls: [string, object][] = [
      ['update_context', { context_id: id, metadata: metadata(2) }],
      ['update_context', { context_id: id, metadata_patch: { salt: 3 } }],
      ['store_context', { ...stored, metadata: metadata(4) }],
      ['restore_context', { context_ids: [id], version: 1 }],
    ]
    for (const [tool, args] of calls) expect(await rowsOf(() => world.ok(org, tool, { ...args }))).toBeLessThan(8_000)
  })

  it('replaces a hundred named entries by rows that grow with their number', async () => {
    const { database, spentBy } = countingRows(bindings.DB)
    const world = openWorld({}, database)
    const org = await world.makeOrg('links')
    const targets = (from: number) =>
      Array.from({ length: 100 }, (_, i) => ({ thread_id: 't', source: 'agent', text: `target ${from + i}` }))
    const ids: number[] = []
    for (const from of [0, 100]) {
      const { results } = await world.ok(org, 'store_context_batch', { entries: targets(from) })
      ids.push(...results.map((one: { context_id: number }) => one.context_id))
    }
    const { context_id: id } = await world.ok(org, 'store_context', {
      ...{ thread_id: 'links', source: 'agent', text: 'links', metadata: { supersedes: ids.slice(0, 100) } },
    })
    const naming = (supersedes: number[]) => () =>
      world.ok(org, 'update_context', { context_id: id, metadata: { supersedes, further: supersedes.length } })
    expect((await spentBy(naming([...ids.slice(0, 99), ids[100] ?? 0]))).written).toBeLessThan(40)
    expect((await spentBy(naming(ids.slice(101)))).read).toBeLessThan(1_500)
  })

  it('reads by ids in one round trip and as many rows as ids', async () => {
    const { entries } = await made.entries.page(ada, EVERYTHING, PAGE)
    const ids = entries.map(({ id }) => id)
    const { rowsRead, roundTrips } = await cost(() => made.entries.read(ada, ids))
    expect(roundTrips).toBe(1)
    expect(rowsRead).toBeLessThanOrEqual(ids.length * 3)
  })

  const counter = new Faults()
  const services = composeServices({ ...bindings, DB: faulty(bindings.DB, ['batch'], counter) }, config, {
    log: () => {},
    waitUntil: () => {},
    clock,
  })
  const request = { query: 'rare words', limit: 5, offset: 0, filter: EVERYTHING, previewLength: 301 }
  const roundTrips = async (call: () => Promise<unknown>): Promise<number> => {
    counter.clear()
    await call()
    return counter.calls
  }

  it('searches words in two round trips, also to highlight', async () => {
    const search = { ...request, mode: 'match' as const, highlight: true }
    expect(await roundTrips(() => services.rankedSearches.byWords(ada, search))).toBe(2)
  })

  it('searches in two round trips with a reranker too, which reads the ordering once', async () => {
    const reranked = createRankedSearches({
      levels: async () => ({ nothing: 0, answer: 1 }),
      entries: made.entries,
      analyzer: made.analyzer,
      searchText: createSearchText({ ...made }),
      searchSemantic: null,
      reranker: { provider: 'test', model: 'even', rerank: async (_, passages) => passages.map((_, i) => i / 100) },
      overfetch: 2,
    })
    const search = { ...request, mode: 'match' as const, highlight: false }
    const run = async () => expect((await reranked.byWords(ada, search)).results[0]?.rerankScore).toBeGreaterThan(0)
    expect((await cost(run)).roundTrips).toBe(2)
  })

  it('searches meaning in two round trips, with and without a filter', async () => {
    for (const filter of [EVERYTHING, ...rare.map(([, filter]) => filter)])
      expect(await roundTrips(() => services.rankedSearches.byMeaning(ada, { ...request, filter }))).toBe(2)
  })

  it('searches words and meaning at once in three round trips: the retrievers, the vectors of their hits, the page', async () => {
    const legs = { fts: true, semantic: true }
    expect(
      await roundTrips(() => services.rankedSearches.byBoth(ada, { ...request, method: 'scores', k: 60, legs })),
    ).toBe(3)
  })

  it('gives out a cursor of now for a handful of rows read, whatever the log of changes holds', async () => {
    const grace = freshPrincipal()
    await bindings.DB.prepare(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
       INSERT INTO changes (org, seq, entry_id, action, version, at)
         SELECT ?1, i + (SELECT coalesce(max(seq), 0) FROM changes WHERE org = ?1), i, 'store', 1, 0 FROM n`,
    )
      .bind(grace.org)
      .run()
    const feed = createSqlChangeFeed(made.connection, clock)
    const costs = await cost(async () =>
      expect((await feed.page(grace, UNFILTERED_FEED, 'now', 50)).changes).toEqual([]),
    )
    expect(costs).toMatchObject({ roundTrips: 1, statements: 1 })
    expect(costs.rowsRead).toBeLessThan(10)
  })

  it('patches in one round trip, changes in one, deletes in one', async () => {
    const [saved] = await made.entries.save(ada, [await entryOf(ada)])
    const id = saved?.id as number
    expect((await cost(() => made.entries.patch(ada, id, { a: 1 }))).roundTrips).toBe(1)
    expect((await cost(() => made.entries.change(ada, [{ id, version: 2, steps: 1, tags: [] }]))).roundTrips).toBe(1)
    expect((await cost(() => made.entries.delete(ada, { ids: [id] }))).roundTrips).toBe(1)
  })

  it('deletes the first or last entries of a thread for as many rows with 1,000 entries of other projects in it as with 50', async () => {
    const grace = freshPrincipal()
    const insert = async (project: string, from: number, entries: number) => {
      const { results } = await bindings.DB.prepare(
        `WITH RECURSIVE n (i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?1 + ?2)
         INSERT INTO entries (org, thread_id, source, layer, created_at, updated_at, project, owner, created_by, text_hash, bytes,
           text_words, text)
         SELECT ?3, 'shared', 'user', 2, i * 1000, 0, ?4, 'ada', 'key-1', 'h' || i, 100, 10, 'text' FROM n RETURNING id`,
      )
        .bind(from, entries, grace.org, project)
        .all<{ id: number }>()
      return results.map(({ id }) => id)
    }
    /** Cost of deleting all but the one before, or after, the entries of others. */
    const leave = async (project: string, left: number) => {
      const own = { ...grace, projects: [project] }
      const ids = await insert(project, 2_000, 100)
      const { rowsRead } = await cost(() => made.entries.delete(own, { ids }))
      const { threads } = await made.entries.threads(own, { limit: 1, offset: 0 })
      expect(threads).toMatchObject([{ entries: 1, firstSecond: left, lastSecond: left }])
      return rowsRead
    }
    const both = async () => [await leave('early', 1), await leave('late', 3_000)]
    await insert('early', 1, 1)
    await insert('others', 2, 50)
    await insert('late', 3_000, 1)
    await both()
    const few = await both()
    await insert('others', 52, 950)
    expect(await both()).toEqual(few)
  })

  it('deletes a thread of thousands of entries with four statements, a guard of their number, and two that name the call', async () => {
    const costs = await cost(() => made.entries.delete(ada, { threadIds: ['thread 1', 'thread 2'] }))
    expect(costs).toMatchObject({ roundTrips: 1, statements: 7 })
  })
})
