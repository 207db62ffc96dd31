import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import type { SqlConnection } from '../../src/adapters/sql/core/connection'
import { SHARES, type Shares } from '../../src/adapters/sqlite/bounded/cost'
import { createD1FullText } from '../../src/adapters/sqlite/full-text'
import type { Analyzer } from '../../src/domain/search/analysis'
import { EVERYTHING, type Filter } from '../../src/domain/search/filter'
import { parseQuery, type SearchMode } from '../../src/domain/search/query'
import { scoredTerms } from '../../src/domain/search/score'
import { createYielder } from '../../src/domain/yielder'
import type { EntryStore } from '../../src/ports/entry-store'
import { type FullText, TEXT_COLUMNS, type TextRequest, type TextSearch } from '../../src/ports/full-text'
import type { Costs } from '../support/bindings'
import { narrowed } from '../support/bounded'
import { entryOf, freshPrincipal, type TestClock } from '../support/scope'

/** Everything in small parts: five entries at once, and words for beginnings. */
const IN_PARTS: Shares = {
  ...SHARES,
  ...{ once: -1, part: 1_000_000, entries: 5, phrase: Number.MAX_SAFE_INTEGER, beginning: -1 },
}

interface Made {
  readonly entries: EntryStore
  readonly connection: SqlConnection
  readonly analyzer: Analyzer
  readonly clock: TestClock
  readonly costs: Costs
}

const NOWHERE = {
  ...{ project: null, sessionId: null, currentFile: null },
  ...{ currentCommand: null, language: null, filePath: null },
}

const WORDS = 'alpha alpine beta betas gamma running run delta the door red'.split(' ')

/** Numbers of a seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return (state >>> 8) % below
  }
}

/**
 * Searches of D1 in parts where one statement would block other requests (platform contract §6).
 *
 * @param entries that hold six words in common, before there are twice as many
 */
export function searchInPartsCases(make: () => Made, entries: number): void {
  const searching = ({ connection, analyzer, clock }: Made, shares: Shares) => {
    const cost = { trips: 0, rests: 0 }
    const yielder = createYielder(async () => void cost.rests++)
    const counted: SqlConnection = {
      ...connection,
      read: (statements) => {
        cost.trips++
        return connection.read(statements)
      },
    }
    return { cost, fullText: createD1FullText(counted, analyzer, clock, { yielder, indexedFields: new Map(), shares }) }
  }

  it('finds in parts what it finds at once: the same entries in the same order with the same counts', async () => {
    const made = make()
    const ada = freshPrincipal()
    const draw = numbers(5)
    const words = (many: number) =>
      Array.from({ length: many }, () => WORDS[Math.min(draw(WORDS.length), draw(WORDS.length))]).join(' ')
    const drafts = Array.from({ length: 24 }, (_, i) => ({
      text: `${words(1 + draw(40))} ${i}`,
      threadId: `t${draw(3)}`,
    }))
    await made.entries.save(ada, await Promise.all(drafts.map((draft) => entryOf(ada, draft))))
    const [once, parts] = [searching(made, SHARES), searching(made, IN_PARTS)]
    const shownOf = ({ hits, statistics }: TextSearch) => ({ hits, statistics: hits.length > 0 ? statistics : null })
    const queries: [string, SearchMode][] = [
      ['running doors', 'match'],
      ['alpha "red door" betas nothing', 'match'],
      ['the red', 'phrase'],
      ['alpha AND (NOT beta OR "red alpha")', 'boolean'],
      ['al be', 'prefix'],
      ['red do', 'prefix'],
    ]
    const ways: ((fullText: FullText, request: TextRequest) => Promise<TextSearch>)[] = [
      (fullText, request) => fullText.search(ada, request),
      (fullText, request) => fullText.searchByUnits(ada, { ...request, atLeast: 1, candidates: 7 }),
      (fullText, request) => fullText.searchByUnits(ada, { ...request, atLeast: 2, candidates: 7 }),
      (fullText, request) => fullText.searchByRareWords(ada, { ...request, rare: 10, candidates: 7, moment: NOWHERE }),
    ]
    const filters: Filter[] = [EVERYTHING, { op: 'thread', is: 't1' }]
    const found: number[] = []
    for (const [i, [text, mode]] of queries.entries())
      for (const [j, way] of ways.entries()) {
        const filter = filters[(i + j) % 2] as Filter
        const query = parseQuery(text, mode, made.analyzer)
        const depth = { candidates: 7, complete: 4 }
        const request = { query, terms: scoredTerms(query.units), filter, columns: TEXT_COLUMNS, depth }
        const expected = shownOf(await way(once.fullText, request))
        expect(shownOf(await way(parts.fullText, request))).toEqual(expected)
        found.push(expected.hits.length)
      }
    expect(once.cost).toEqual({ trips: found.length, rests: 0 })
    expect(found.filter((hits) => hits > 0).length).toBeGreaterThan(queries.length * 2)
    // Some entries at a time, and a rest before each round trip but the first and the last of a search.
    expect(parts.cost.trips).toBeGreaterThan(found.length * 6)
    expect(parts.cost.rests).toBe(parts.cost.trips - 2 * found.length)
  })

  it('asks a share of the metadata of entries with a word at a time', async () => {
    const made = make()
    const ada = freshPrincipal()
    const text = (i: number) => `${i} ${'alpha '.repeat(3_000)}`
    const drafts = Array.from({ length: 20 }, (_, i) => ({
      text: text(i),
      metadata: { n: i % 2, pad: 'a'.repeat(900) },
    }))
    await made.entries.save(ada, await Promise.all(drafts.map((draft) => entryOf(ada, draft))))
    // The cost of postings is measured by the segments of the index, and other tests leave several.
    await made.connection.batch([sql`INSERT INTO entries_fts (entries_fts) VALUES ('optimize')`], 'all')
    // Two entries of 8 kB, which is the most that is asked of a statement.
    const dialect = narrowed(made.connection.dialect, { metadata: 2 * 8_192 })
    const run = async (filter: Filter, shares: Partial<Shares>) => {
      const limited = { ...made, connection: { ...made.connection, dialect } }
      const { cost, fullText } = searching(limited, { ...SHARES, ...shares, entries: 100 })
      const query = parseQuery('alpha', 'match', made.analyzer)
      const depth = { candidates: 50, complete: 50 }
      const terms = scoredTerms(query.units)
      const { hits } = await fullText.search(ada, { query, terms, filter, columns: ['body'], depth })
      return { ids: hits.map(({ id }) => id), trips: cost.trips }
    }
    const even: Filter = { op: 'equals', path: ['n'], anyOf: [0], fold: false }
    const once = await run(even, { once: 1e9 })
    expect([once.ids.length, once.trips]).toEqual([10, 1])
    // A probe, the postings of the word, a part, ten checks of two entries each, and the answer.
    expect(await run(even, { once: 1_000 })).toEqual({ ids: once.ids, trips: 1 + 2 + 10 + 1 })
    // The cost of metadata is added to that of postings.
    const shares = { once: 330_000 }
    expect([(await run(EVERYTHING, shares)).trips, (await run(even, shares)).trips]).toEqual([1, 14])
  })

  it('searches at once for words that others have ten times as often, as without others', async () => {
    const made = make()
    const [ada, bob] = [freshPrincipal(), freshPrincipal()]
    const save = async (who: typeof ada, many: number, times: number) => {
      const drafts = Array.from({ length: many }, (_, i) => ({ text: `${'pebble gravel boulder '.repeat(times)}${i}` }))
      await made.entries.save(who, await Promise.all(drafts.map((draft) => entryOf(who, draft))))
      await made.connection.batch([sql`INSERT INTO entries_fts (entries_fts) VALUES ('optimize')`], 'all')
    }
    const cost = async (once: number) => {
      const { cost, fullText } = searching(made, { ...SHARES, once })
      const query = parseQuery('pebble gravel boulder', 'match', made.analyzer)
      const depth = { candidates: 50, complete: 50 }
      const request = { query, terms: scoredTerms(query.units), filter: EVERYTHING, columns: TEXT_COLUMNS, depth }
      const found = await fullText.search(ada, request)
      const byUnits = await fullText.searchByUnits(ada, { ...request, atLeast: 1, candidates: 50 })
      return { trips: cost.trips, ids: [found, byUnits].map(({ hits }) => hits.map(({ id }) => id)) }
    }
    await save(ada, 300, 1)
    const alone = await cost(400_000)
    expect(alone.trips).toBe(2)
    await save(bob, 300, 40)
    expect(await cost(400_000)).toEqual(alone)
    // Entries of others are scanned with one's own, so they count.
    const parts = await cost(100_000)
    expect(parts.trips).toBeGreaterThan(2)
    expect(parts.ids).toEqual(alone.ids)
  })

  it('finds in parts the same as at once for frequent words that occur together in few entries', async () => {
    const made = make()
    const ada = freshPrincipal()
    const texts = Array.from({ length: 640 }, (_, i) => {
      const words = i % 37 === 0 ? 'summer winter' : i % 2 === 0 ? 'summer' : 'winter'
      return `${words} ${i % 3 === 0 ? 'rain' : 'snow'} ${'filler '.repeat((i * 7) % 60)}${i}`
    })
    for (let i = 0; i < texts.length; i += 80) {
      const entries = texts.slice(i, i + 80).map((text) => entryOf(ada, { text }))
      await made.entries.save(ada, await Promise.all(entries))
    }
    const [once, parts] = [searching(made, SHARES), searching(made, { ...IN_PARTS, entries: 100 })]
    // As with a long index, so that the combination of words is checked first.
    const asking = searching(made, { ...SHARES, short: 0 })
    const least = {
      ...{ 'summer winter': 6, 'summer winter rain': 6, 'winter snow': 30 },
      ...{
        'summer winter rain filler': 5,
        'rain snow filler summer winter': 0,
        'winter filler snow rain summer 37': 0,
      },
    }
    for (const [text, whole] of Object.entries(least)) {
      const query = parseQuery(text, 'match', made.analyzer)
      const depth = { candidates: 40, complete: 30 }
      const request = { query, terms: scoredTerms(query.units), filter: EVERYTHING, columns: TEXT_COLUMNS, depth }
      const [expected, found] = [await once.fullText.search(ada, request), await parts.fullText.search(ada, request)]
      expect(found).toEqual(expected)
      expect(await asking.fullText.search(ada, request)).toEqual(expected)
      expect(expected.hits.filter(({ complete }) => complete).length).toBeGreaterThanOrEqual(whole)
      const byUnits = { ...request, atLeast: 1, candidates: 40 }
      const ranked = await once.fullText.searchByUnits(ada, byUnits)
      expect(await parts.fullText.searchByUnits(ada, byUnits)).toEqual(ranked)
      expect(await asking.fullText.searchByUnits(ada, byUnits)).toEqual(ranked)
    }
  })

  it('reads as many rows for six words that most entries hold, or all but one of them, when there are twice as many', async () => {
    const made = make()
    const ada = freshPrincipal()
    const words = ['oak', 'pine', 'larch', 'birch', 'maple', 'willow']
    const save = async (from: number, to: number) => {
      for (let at = from; at < to; at += 64) {
        const texts = Array.from({ length: 64 }, (_, i) => words.filter((_, place) => (at + i) % 4 !== place))
        const entries = texts.map((held, i) => entryOf(ada, { text: `${held.join(' ')} ${'filler '.repeat(i % 40)}` }))
        await made.entries.save(ada, await Promise.all(entries))
      }
    }
    const rowsOf = async () => {
      const query = parseQuery(words.join(' '), 'match', made.analyzer)
      const depth = { candidates: 50, complete: 10 }
      const request = { query, terms: scoredTerms(query.units), filter: EVERYTHING, columns: TEXT_COLUMNS, depth }
      made.costs.rowsRead = 0
      const { hits } = await searching(made, SHARES).fullText.search(ada, request)
      expect(hits.length).toBeGreaterThanOrEqual(50)
      return made.costs.rowsRead
    }
    await save(0, entries)
    const before = await rowsOf()
    await save(entries, 2 * entries)
    expect(await rowsOf()).toBeLessThan(before * 1.4)
  })

  it('scans a chunk of dense texts at a time, however many there are, and through others at once', async () => {
    const made = make()
    const ada = freshPrincipal()
    const dense = (i: number) => `${i} ${'ab '.repeat(10_000)}`
    const store = async (from: number, to: number) => {
      for (let i = from; i < to; i++) await made.entries.save(ada, [await entryOf(ada, { text: dense(i) })])
    }
    const cost = async (text: string, mode: SearchMode = 'match', once = 250_000) => {
      const { cost, fullText } = searching(made, { ...SHARES, once, part: 60_000, phrase: 1_000_000 })
      const query = parseQuery(text, mode, made.analyzer)
      const depth = { candidates: 50, complete: 50 }
      const terms = scoredTerms(query.units)
      const { hits } = await fullText.search(ada, { query, terms, filter: EVERYTHING, columns: ['body'], depth })
      return { ...cost, hits: hits.length }
    }
    await store(0, 8)
    const few = await cost('ab')
    await store(8, 16)
    const many = await cost('ab')
    expect([few.hits, many.hits]).toEqual([8, 16])
    // Two texts of 30,000 bytes begin within 60,000: two round trips for each such part.
    expect(few.trips).toBe(1 + 1 + 2 * 4 + 1)
    expect(many.trips).toBe(1 + 1 + 2 * 8 + 1)
    expect(many.rests).toBe(many.trips - 2)
    expect(await cost('zebra', 'match', 1_000_000)).toEqual({ trips: 1, rests: 0, hits: 0 })
    await expect(cost('ab ab ab ab', 'phrase')).rejects.toMatchObject({ code: 'limit_exceeded' })
  })
}
