// D1 and PostgreSQL find the same entries, in the same order, with the same scores: random texts, random queries, all modes.

import { beforeAll, expect, it } from 'vitest'
import { createPostgresFullText } from '../../src/adapters/postgres/full-text'
import type { CombinationBounds } from '../../src/adapters/postgres/word-combinations'
import type { SqlConnection } from '../../src/adapters/sql/core/connection'
import { MANY, type ManyMatch } from '../../src/adapters/sql/tables/search/candidates'
import { createD1FullText } from '../../src/adapters/sqlite/full-text'
import { indexedFieldTypes } from '../../src/adapters/sqlite/migrations'
import { SELECTION_WARNINGS } from '../../src/domain/search/candidate-selection'
import { EVERYTHING, type Filter } from '../../src/domain/search/filter'
import { highlight } from '../../src/domain/search/highlight'
import { parseQuery, SEARCH_MODES, type SearchMode } from '../../src/domain/search/query'
import { scoredTerms } from '../../src/domain/search/score'
import type { FullText, TextColumn, TextSearch } from '../../src/ports/full-text'
import { createRecallWords } from '../../src/services/searching/memories/recall-words'
import { createSearchText } from '../../src/services/searching/ranked/search-text'
import { config, d1Adapters, migrate } from '../support/bindings'
import { postgresAdapters } from '../support/bindings-postgres'
import { entryOf, freshPrincipal, TestClock } from '../support/scope'
import { seeded } from '../support/seeded'

/** As few as the words of a handful of entries: frequent matches are covered by the sample. */
const SOON: ManyMatch = {
  ...{ sampled: 10, entries: 0 },
  filtered: { classed: { sampled: 10, entries: 0 }, grouped: { sampled: 10, entries: 0 } },
}

/** Combinations of words are distinguished in a store of a thousand entries, and walked. */
const FREQUENT_SOON: CombinationBounds = { words: 3, sampled: 16, rare: 1 }

/** The index of PostgreSQL is exact for the second one only. */
const COLUMN_SETS: readonly (readonly TextColumn[])[] = [['body'], ['title', 'body', 'context']]

const SEED = Number(process.env.FILTER_SEED ?? 20261121)
const WORDS = [
  ...'the a of running runner ran café cafe CAFÉ naïve token tokens tokenized authenticate authority May 2026'.split(
    ' ',
  ),
  ...'full-text v1.2 foo.bar state-of-the-art x1 42 über straße ﬁne 今天天气很好 公园 สวัสดีครับ русский книга книги'.split(
    ' ',
  ),
  ...'error errors deploy deployment worker workers database planner O’Neil it’s'.split(' '),
]

/**
 * @param queries how many random ones are asked of both databases
 * @param all whether to test the selection in thousands too, and every query under a filter instead of a third
 */
export function sameAnswersContract(queries: number, all: boolean): void {
  const clock = new TestClock()
  const databases = [d1Adapters(clock), postgresAdapters(clock)] as const
  const ada = freshPrincipal()
  const random = seeded(SEED)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const phrase = (most: number) => Array.from({ length: 1 + Math.floor(random() * most) }, () => pick(WORDS)).join(' ')
  const positions: Map<number, number>[] = databases.map(() => new Map())

  beforeAll(async () => {
    await migrate()
    for (let from = 0; from < 500; from += 20) {
      clock.advance(3_600_000)
      const drafts = Array.from({ length: 20 }, (_, i) => ({
        text: phrase(25),
        threadId: `t${i % 5}`,
        source: pick(['user', 'agent'] as const),
        tags: [pick(['x', 'y'])],
        metadata: { agent_name: pick(['planner', 'café runner']), n: from + i },
      }))
      for (const [at, database] of databases.entries()) {
        const saved = await database.entries.save(ada, await Promise.all(drafts.map((draft) => entryOf(ada, draft))))
        for (const [i, { id }] of saved.entries()) positions[at]?.set(id, from + i)
      }
    }
  }, 60_000)

  const filters: Filter[] = [EVERYTHING, { op: 'thread', is: 't2' }, { op: 'tag', anyOf: ['x'] }]
  const booleans = [
    () => `${pick(WORDS)} AND ${pick(WORDS)}`,
    () => `${pick(WORDS)} OR NOT ${pick(WORDS)}`,
    () => `NOT (${pick(WORDS)} OR "${phrase(2)}")`,
    () =>
      `"${phrase(2)}" OR ${pick(WORDS)
        .slice(0, 3)
        .replaceAll(/[^\p{L}\p{N}]/gu, '')}* NOT ${pick(WORDS)}`,
  ]

  it(`gives the same answers to ${queries} queries`, async () => {
    let found = 0
    for (let i = 0; i < queries; i++) {
      const mode: SearchMode = pick(SEARCH_MODES)
      const query =
        mode === 'boolean'
          ? pick(booleans)()
          : random() < 0.3
            ? `"${phrase(2)}" ${phrase(2)}`
            : phrase(mode === 'match' ? 5 : 2)
      const filter = pick(filters)
      const answers = await Promise.all(
        databases.map(async (database, at) => {
          const result = await createSearchText({ ...database })(ada, query, mode, filter)
          const hits = result.ordering.map(({ id, score }) => [positions[at]?.get(id), score])
          return { hits, marked: highlight(`${query} ${WORDS.join(' ')}`, result.units, database.analyzer) }
        }),
      )
      expect([mode, query, answers[1]]).toEqual([mode, query, answers[0]])
      found += answers[0]?.hits.length ?? 0
    }
    expect(found).toBeGreaterThan(queries)
  })

  if (all)
    it('chooses alike from thousands, where D1 is led to the shortest and a sample is counted', async () => {
      const bob = freshPrincipal()
      const common = ['token', 'worker', 'database', 'deploy', 'planner']
      const few = ['zebra', 'heron']
      const drafts = Array.from({ length: 1_600 }, (_, i) => {
        const words = common.filter(() => random() < 0.85).join(' ')
        const rare = few.filter(() => random() < 0.02).join(' ')
        return {
          text: `${words} ${'filler '.repeat(Math.floor(random() ** 3 * 300))}${rare} n${i}`,
          threadId: `t${i % 3}`,
        }
      })
      const ids = await Promise.all(
        databases.map(async ({ entries }) => {
          const saved: number[] = []
          for (let at = 0; at < drafts.length; at += 200) {
            const part = await Promise.all(drafts.slice(at, at + 200).map((draft) => entryOf(bob, draft)))
            saved.push(...(await entries.save(bob, part)).map(({ id }) => id))
          }
          return saved
        }),
      )
      // The sample goes by ids.
      expect(ids[0]).toEqual(ids[1])
      const { connection, analyzer } = databases[1]
      const byCombinations = createPostgresFullText(connection, analyzer, clock, MANY, FREQUENT_SOON)
      const asked: [string, SearchMode][] = [
        ['token', 'match'],
        ['token workers', 'match'],
        ['token worker database', 'match'],
        ['token worker zebra', 'match'],
        ['token worker database deploy', 'match'],
        ['token "worker database" heron', 'match'],
        ['token worker', 'phrase'],
        ['filler', 'match'],
        ['token AND worker', 'boolean'],
      ]
      const choices = asked.flatMap(([text, mode]) =>
        filters.flatMap((filter) => COLUMN_SETS.map((columns) => ({ text, mode, filter, columns }))),
      )
      for (const { text, mode, filter, columns } of choices) {
        const query = parseQuery(text, mode, databases[0].analyzer)
        const depth = { candidates: 120, complete: 60 }
        const request = { query, terms: scoredTerms(query.units), filter, columns }
        const [ofD1, ofPostgres, ofCombinations] = await Promise.all(
          [...databases.map(({ fullText }) => fullText), byCombinations].map(async (fullText) => [
            await fullText.search(bob, { ...request, depth }),
            await fullText.searchByUnits(bob, { ...request, candidates: 120 }),
          ]),
        )
        const toldOf = (found: TextSearch, isOfUnits: number) => ({
          hits: found.hits
            .map(({ id, complete, held, place }) => [id, complete, ...(isOfUnits ? [held, place] : [])])
            .sort((a, b) => Number(a[0]) - Number(b[0])),
          statistics: found.hits.length > 0 ? found.statistics : null,
        })
        for (const other of [ofPostgres, ofCombinations])
          expect([text, filter.op, other?.map(toldOf)]).toEqual([text, filter.op, ofD1?.map(toldOf)])
      }
    }, 60_000)

  it('selects alike by the six most significant words if many match, and by further ones if these match too few', async () => {
    const cleo = freshPrincipal()
    const { connection, analyzer } = databases[0]
    const settings = { indexedFields: new Map(), many: SOON }
    const [d1, postgres] = [
      createD1FullText(connection, analyzer, clock, settings),
      createPostgresFullText(databases[1].connection, databases[1].analyzer, clock, SOON),
    ] as const
    const fullTexts = [d1, postgres] as const
    /** Words that each occur in fewer entries than the one before. */
    const falling = 'amber birch cedar delta ember fjord grove heath islet jetty knoll ledge marsh'.split(' ')
    const drafts = Array.from({ length: 600 }, (_, i) => ({
      text: `${falling.filter((_, at) => random() < 0.75 / (1 + at * at * 0.4)).join(' ')} ${'filler '.repeat(i % 40)}n${i}`,
    }))
    const saved = await Promise.all(
      databases.map(async ({ entries }) => {
        const part = await Promise.all(drafts.map((draft) => entryOf(cleo, draft)))
        return entries.save(cleo, part)
      }),
    )
    const textOf = new Map(saved[0]?.map(({ id }, i) => [id, drafts[i]?.text ?? '']))
    expect(saved[0]?.map(({ id }) => id)).toEqual(saved[1]?.map(({ id }) => id))
    const holdersOf = (words: readonly string[]) =>
      [...textOf].filter(([, text]) => text.split(' ').some((word) => words.includes(word))).map(([id]) => id)
    // Unknown words are not used to select, and of thirteen the most common is not.
    const cases: [words: string[], first: string[], every: string[]][] = [
      [falling.slice(0, 7), falling.slice(1, 7), falling.slice(0, 7)],
      [['nowhere', ...falling.slice(0, 7)], falling.slice(1, 7), falling.slice(0, 7)],
      [falling.slice(0, 12), falling.slice(6, 12), falling.slice(0, 12)],
      [falling, falling.slice(7), falling.slice(1)],
    ]
    for (const [words, first, every] of cases) {
      const query = parseQuery(words.join(' '), 'match', databases[0].analyzer)
      const terms = scoredTerms(query.units)
      const request = { query, terms, filter: EVERYTHING, columns: ['body', 'context'] as const }
      for (const candidates of [20, 600]) {
        const depth = { candidates, complete: 20 }
        const [ofD1, ofPostgres] = await Promise.all(
          [d1, postgres].map((one) => one.search(cleo, { ...request, depth })),
        )
        const told = ({ hits, statistics, chosenBy }: TextSearch) => ({
          hits: hits.map(({ id, complete }) => [id, complete]).sort((a, b) => Number(a[0]) - Number(b[0])),
          ...{ statistics, chosenBy },
        })
        expect(told(ofPostgres as TextSearch)).toEqual(told(ofD1 as TextSearch))
        expect([words, ofD1?.chosenBy, ofD1?.statistics.entriesWithTerm.length]).toEqual([
          words,
          'six rarest words',
          terms.length,
        ])
        // A search by units returns the same entries, with the number of selecting words in each.
        const byUnits = await Promise.all(
          [d1, postgres].map((one) => one.searchByUnits(cleo, { ...request, candidates })),
        )
        const placed = ({ hits }: TextSearch) => hits.map(({ id, held, place }) => [id, held, place])
        for (const other of byUnits) expect(placed(other)).toEqual(placed(byUnits[0] as TextSearch))
        expect(byUnits.map(({ chosenBy, statistics }) => [chosenBy, statistics])).toEqual(
          Array(2).fill(['six rarest words', ofD1?.statistics]),
        )
        const found = ({ hits }: TextSearch) => hits.map(({ id }) => id).sort()
        expect(found(byUnits[0] as TextSearch)).toEqual(
          found({ ...(ofD1 as TextSearch), hits: (ofD1 as TextSearch).hits.filter(({ complete }) => !complete) }),
        )
        const ids = ofD1?.hits.map(({ id }) => id) as number[]
        const [leading, holders] = [new Set(holdersOf(first)), holdersOf(every)]
        expect(leading.size).toBeGreaterThan(20)
        if (candidates === 20) expect(ids.filter((id) => !leading.has(id))).toEqual([])
        else expect(ids.sort()).toEqual(holders.sort())
      }
    }
    for (const [at, fullText] of fullTexts.entries()) {
      const parts = {
        fullText,
        analyzer: (databases[at] as (typeof databases)[number]).analyzer,
      }
      const [text, few] = [falling.join(' '), falling.slice(0, 6).join(' ')]
      const recall = createRecallWords(parts)
      const recalled = (query: string) => recall(cleo, { query, filter: EVERYTHING, kept: 20 })
      const search = (query: string) => createSearchText(parts)(cleo, query, 'match', EVERYTHING)
      for (const ask of [recalled, search])
        expect([(await ask(text)).warnings, (await ask(few)).warnings]).toEqual([
          SELECTION_WARNINGS['six rarest words'],
          [],
        ])
    }
    // Where fewer match, or something else is asked, each word leads.
    const isByFew = async (text: string, filter: Filter, fullText: FullText) => {
      const query = parseQuery(text, 'match', databases[0].analyzer)
      const request = { query, terms: scoredTerms(query.units), filter, columns: ['body'] as const }
      return (
        (await fullText.search(cleo, { ...request, depth: { candidates: 40, complete: 20 } })).chosenBy ===
        'six rarest words'
      )
    }
    for (const [at, fullText] of fullTexts.entries())
      for (const [text, filter, by] of [
        [falling.slice(0, 6).join(' '), EVERYTHING, fullText],
        [`nowhere elsewhere ${falling.slice(8).join(' ')}`, EVERYTHING, fullText],
        [`${falling.slice(0, 6).join(' ')} "grove heath"`, EVERYTHING, fullText],
        [falling.slice(0, 7).join(' '), { op: 'thread', is: 'thread' }, fullText],
        [falling.slice(0, 7).join(' '), { op: 'tag', anyOf: ['x'] }, fullText],
        [falling.slice(0, 7).join(' '), EVERYTHING, databases[at]?.fullText as FullText],
      ] as const)
        expect([text, filter.op, await isByFew(text, filter, by)]).toEqual([text, filter.op, false])
  }, 60_000)

  it('finds the same under a filter, whether the access path is the filter or the words', async () => {
    const dora = freshPrincipal()
    const indexedFields = indexedFieldTypes(config.indexedFields)
    const [own, other] = databases
    let trips = 0
    const connection: SqlConnection = {
      ...own.connection,
      read: (statements) => {
        trips++
        return own.connection.read(statements)
      },
    }
    const settings = { indexedFields }
    const d1 = createD1FullText(connection, own.analyzer, clock, { ...settings, many: SOON })
    const postgres = createPostgresFullText(other.connection, other.analyzer, clock, SOON)
    const common = 'amber birch cedar delta ember fjord grove heath'.split(' ')
    const begun = Math.floor(clock.now() / 1000)
    for (let at = 0; at < 600; at += 100) {
      clock.advance(60_000)
      const drafts = Array.from({ length: 100 }, (_, i) => ({
        text: `${common.filter(() => random() < 0.7).join(' ')} ${'filler '.repeat((i * 7) % 40)}n${at + i}`,
        tags: [i % 2 === 0 ? 'half' : 'other', ...(i === 57 ? ['scarce'] : [])],
        metadata: { status: i % 3 === 0 ? 'done' : 'todo', ticket: `T-${at + i}` },
      }))
      for (const { entries } of databases)
        await entries.save(dora, await Promise.all(drafts.map((draft) => entryOf(dora, draft))))
    }
    const equals = (name: string, value: string): Filter => {
      return { op: 'equals', path: [name], anyOf: [value], fold: true }
    }
    const tag = (name: string): Filter => ({ op: 'tag', anyOf: [name] })
    const lately: Filter = { op: 'created', from: begun + 90, to: null }
    // Number of queries to D1: one more if many match the filter, and one more if all entries have to be counted.
    const asked: [filter: Filter, trips: number][] = [
      [tag('half'), 2],
      [tag('scarce'), 2],
      [tag('nowhere'), 2],
      [equals('status', 'done'), 2],
      [equals('ticket', 'T-257'), 3],
      [{ op: 'and', of: [tag('half'), equals('ticket', 'T-258')] }, 2],
      [{ op: 'not', of: tag('scarce') }, 2],
      [lately, 2],
    ]
    const queries: [text: string, mode: SearchMode][] = [
      ['amber', 'match'],
      ['amber birch', 'match'],
      ['amber birch cedar delta', 'match'],
      [common.join(' '), 'match'],
      [common.join(' OR '), 'boolean'],
      ['amber AND birch', 'boolean'],
      ['amber NOT birch', 'boolean'],
    ]
    for (const [at, [filter, mostTrips]] of asked.entries())
      for (const [place, [text, mode]] of queries.entries()) {
        const query = parseQuery(text, mode, own.analyzer)
        const request = { query, terms: scoredTerms(query.units), filter, columns: ['body'] as const }
        if ((at + place) % 3 === 2 || (!all && (2 * at + place) % 7 > 1)) continue
        const candidates = (at + place) % 3 === 0 ? 20 : 400
        const depth = { candidates, complete: 20 }
        trips = 0
        const found = await d1.search(dora, { ...request, depth })
        const isByNot = text.includes('NOT')
        if (found.chosenBy === 'all words' && !isByNot) expect([text, filter, trips]).toEqual([text, filter, mostTrips])
        const byUnits = await d1.searchByUnits(dora, { ...request, candidates })
        const told = ({ hits, statistics, chosenBy }: TextSearch) => ({
          hits: hits.map(({ id, complete }) => [id, complete]).sort((a, b) => Number(a[0]) - Number(b[0])),
          ...{ statistics: hits.length > 0 ? statistics : null, chosenBy },
        })
        const placed = ({ hits, chosenBy }: TextSearch) => [
          chosenBy,
          hits.map(({ id, held, place }) => [id, held, place]),
        ]
        const alike = await postgres.search(dora, { ...request, depth })
        expect([text, filter, told(alike)]).toEqual([text, filter, told(found)])
        const units = await postgres.searchByUnits(dora, { ...request, candidates })
        expect([text, filter, placed(units)]).toEqual([text, filter, placed(byUnits)])
        const isByFew = common.every((word) => text.includes(word)) && found.hits.length > 10
        expect([text, filter, found.chosenBy === 'six rarest words']).toEqual([text, filter, isByFew])
        // As without it: of few words nothing but the way is another.
        if (!isByFew) {
          const usual = await own.fullText.search(dora, { ...request, depth })
          expect([text, filter, told(usual)]).toEqual([text, filter, told(found)])
        }
      }
  }, 60_000)
}
