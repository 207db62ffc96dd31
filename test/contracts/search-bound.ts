import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import type { SqlConnection } from '../../src/adapters/sql/core/connection'
import { SEARCH_BOUND, type SearchBound } from '../../src/adapters/sqlite/cost'
import { createD1FullText } from '../../src/adapters/sqlite/full-text'
import type { JsonObject } from '../../src/domain/entry/metadata'
import type { Caller } from '../../src/domain/identity/scope'
import type { Analyzer } from '../../src/domain/search/analysis'
import { SELECTION_WARNINGS } from '../../src/domain/search/candidate-selection'
import { EVERYTHING, type Filter } from '../../src/domain/search/filter'
import { parseQuery, type SearchMode } from '../../src/domain/search/query'
import { scoredTerms } from '../../src/domain/search/score'
import type { EntryStore } from '../../src/ports/entry-store'
import { TEXT_COLUMNS, type TextSearch } from '../../src/ports/full-text'
import { createSearchText } from '../../src/services/searching/ranked/search-text'
import type { Costs } from '../support/bindings'
import { entryOf, freshPrincipal, type TestClock } from '../support/scope'

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

/**
 * The bound on what a search of D1 reads, since D1 serves no other request meanwhile (platform contract §6).
 *
 * @param entries that hold six words in common, before there are twice as many
 */
export function searchBoundCases(make: () => Made, entries: number): void {
  const searching = ({ connection, analyzer, clock }: Made, bound: Partial<SearchBound> = {}) => {
    const cost = { trips: 0 }
    const counted: SqlConnection = {
      ...connection,
      read: (statements) => {
        cost.trips++
        return connection.read(statements)
      },
    }
    const settings = { indexedFields: new Map(), bound: { ...SEARCH_BOUND, ...bound } }
    return { cost, fullText: createD1FullText(counted, analyzer, clock, settings) }
  }
  const requestOf = ({ analyzer }: Made, text: string, mode: SearchMode = 'match', filter: Filter = EVERYTHING) => {
    const query = parseQuery(text, mode, analyzer)
    return {
      query,
      terms: scoredTerms(query.units),
      filter,
      columns: TEXT_COLUMNS,
      depth: { candidates: 50, complete: 50 },
    }
  }
  const idsOf = ({ hits }: TextSearch): number[] => hits.map(({ id }) => id).sort((a, b) => a - b)
  /** Postings of a word are measured by the segments of the index, of which other tests leave several. */
  const optimize = ({ connection }: Made) =>
    connection.batch([sql`INSERT INTO entries_fts (entries_fts) VALUES ('optimize')`], 'all')
  const save = async (made: Made, who: Caller, texts: readonly string[], metadata: JsonObject = {}) => {
    const ids: number[] = []
    for (let at = 0; at < texts.length; at += 80) {
      const drafts = texts.slice(at, at + 80).map((text) => entryOf(who, { text, metadata }))
      ids.push(...(await made.entries.save(who, await Promise.all(drafts))).map(({ id }) => id))
    }
    await optimize(made)
    return ids
  }

  it('chooses by the rarest words within the bound, warns of it, and weighs the others as words of every entry', async () => {
    const made = make()
    const ada = freshPrincipal()
    const common = await save(
      made,
      ada,
      Array.from({ length: 12 }, (_, i) => `${'pebble gravel '.repeat(2_000)}${i}`),
    )
    const rare = await save(made, ada, ['a boulder by the river', 'a pebble by the boulder'])
    // Of 12 texts with 2,000 of each word; the postings of the rarest word fill a part of one page of the index.
    const { cost, fullText } = searching(made, { once: 100_000 })
    const request = requestOf(made, 'pebble gravel boulder')
    const whole = await searching(made).fullText.search(ada, request)
    expect([whole.chosenBy, idsOf(whole)]).toEqual(['all words', [...common, ...rare]])
    const found = await fullText.search(ada, request)
    expect([found.chosenBy, idsOf(found), cost.trips]).toEqual(['rarest words', rare, 3])
    expect(found.statistics.entriesWithTerm).toEqual([14, 14, 2])
    const byUnits = await fullText.searchByUnits(ada, { ...request, candidates: 50 })
    expect([byUnits.chosenBy, idsOf(byUnits)]).toEqual(['rarest words', rare])
    expect(byUnits.hits.map(({ held }) => held)).toEqual([1, 1])
    const rareOnes = { ...request, rare: 10, candidates: 7, moment: NOWHERE }
    expect(idsOf(await fullText.searchByRareWords(ada, rareOnes))).toEqual(rare)
    // A phrase next to them selects no entries.
    const beside = await fullText.search(ada, requestOf(made, '"pebble gravel" boulder'))
    expect([beside.chosenBy, idsOf(beside)]).toEqual(['rarest words', rare])
    const { warnings } = await createSearchText({ fullText, analyzer: made.analyzer })(
      ada,
      'pebble gravel boulder',
      'match',
      EVERYTHING,
    )
    expect(warnings).toEqual(SELECTION_WARNINGS['rarest words'])
  })

  it('refuses a query without a rarer word, and suggests another query', async () => {
    const made = make()
    const ada = freshPrincipal()
    await save(
      made,
      ada,
      Array.from({ length: 12 }, (_, i) => `${'pebble gravel '.repeat(2_000)}${i}`),
    )
    const { fullText } = searching(made, { once: 100_000 })
    const refused: readonly [string, SearchMode][] = [
      ['pebble gravel', 'phrase'],
      ['peb', 'prefix'],
      ['pebble AND gravel', 'boolean'],
      ['gravel OR NOT pebble', 'boolean'],
      ['pebble gravel', 'match'],
    ]
    for (const [text, mode] of refused)
      await expect(fullText.search(ada, requestOf(made, text, mode))).rejects.toMatchObject({
        code: 'limit_exceeded',
        message: expect.stringContaining('rarer words'),
      })
    expect(idsOf(await fullText.search(ada, requestOf(made, 'zebra')))).toEqual([])
  })

  it('reckons what a filter asks of the metadata of entries with a word', async () => {
    const made = make()
    const ada = freshPrincipal()
    const texts = Array.from({ length: 20 }, (_, i) => `${i} ${'alpha '.repeat(3_000)}`)
    await save(made, ada, texts, { n: 0, pad: 'a'.repeat(20_000) })
    const even: Filter = { op: 'equals', path: ['n'], anyOf: [0], fold: false }
    const { fullText } = searching(made, { once: 330_000 })
    expect(idsOf(await fullText.search(ada, requestOf(made, 'alpha')))).toHaveLength(20)
    await expect(fullText.search(ada, requestOf(made, 'alpha', 'match', even))).rejects.toMatchObject({
      code: 'limit_exceeded',
    })
  })

  it('chooses by all words where others hold them ten times as often, as where no other entry does', async () => {
    const made = make()
    const [ada, bob] = [freshPrincipal(), freshPrincipal()]
    const fill = (who: Caller, times: number) =>
      save(
        made,
        who,
        Array.from({ length: 300 }, (_, i) => `${'pebble gravel boulder '.repeat(times)}${i}`),
      )
    const found = async (once: number) => {
      const { cost, fullText } = searching(made, { once })
      const request = requestOf(made, 'pebble gravel boulder')
      const answers = [
        await fullText.search(ada, request),
        await fullText.searchByUnits(ada, { ...request, candidates: 50 }),
      ]
      return { trips: cost.trips, ids: answers.map(idsOf), chosenBy: answers.map(({ chosenBy }) => chosenBy) }
    }
    await fill(ada, 1)
    const alone = await found(400_000)
    expect([alone.trips, alone.chosenBy]).toEqual([2, ['all words', 'all words']])
    await fill(bob, 40)
    expect(await found(400_000)).toEqual(alone)
    // FTS5 reads what others hold too, so it counts.
    await expect(found(100_000)).rejects.toMatchObject({ code: 'limit_exceeded' })
  })

  it('finds the same of words of many entries that occur together in few, whether it checks that first or not', async () => {
    const made = make()
    const ada = freshPrincipal()
    const texts = Array.from({ length: 640 }, (_, i) => {
      const words = i % 37 === 0 ? 'summer winter' : i % 2 === 0 ? 'summer' : 'winter'
      return `${words} ${i % 3 === 0 ? 'rain' : 'snow'} ${'filler '.repeat((i * 7) % 60)}${i}`
    })
    await save(made, ada, texts)
    // As where the index is long, so that the search first checks which words occur together.
    const [once, asking] = [searching(made), searching(made, { short: 0 })]
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
      const expected = await once.fullText.search(ada, request)
      expect(await asking.fullText.search(ada, request)).toEqual(expected)
      expect(expected.hits.filter(({ complete }) => complete).length).toBeGreaterThanOrEqual(whole)
      const byUnits = { ...request, candidates: 40 }
      const ranked = await once.fullText.searchByUnits(ada, byUnits)
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
      const { hits } = await searching(made).fullText.search(ada, request)
      expect(hits.length).toBeGreaterThanOrEqual(50)
      return made.costs.rowsRead
    }
    await save(0, entries)
    const before = await rowsOf()
    await save(entries, 2 * entries)
    expect(await rowsOf()).toBeLessThan(before * 1.4)
  })
}
