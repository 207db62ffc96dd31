// Do D1 and PostgreSQL find the same entries, in the same order, with the same scores? Random texts, random queries, all modes.

import { beforeAll, expect, it } from 'vitest'
import { EVERYTHING, type Filter } from '../../src/domain/search/filter'
import { highlight } from '../../src/domain/search/highlight'
import { parseQuery, SEARCH_MODES, type SearchMode } from '../../src/domain/search/query'
import { scoredTerms } from '../../src/domain/search/score'
import { WITHOUT_REST } from '../../src/domain/yielder'
import type { TextSearch } from '../../src/ports/full-text'
import { createSearchText } from '../../src/services/searching/ranked/search-text'
import { d1Adapters, migrate } from '../support/bindings'
import { postgresAdapters } from '../support/bindings-postgres'
import { entryOf, freshPrincipal, TestClock } from '../support/scope'
import { seeded } from '../support/seeded'

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

/** @param queries how many random ones are asked of both databases */
export function sameAnswersContract(queries: number): void {
  const clock = new TestClock()
  const databases = [d1Adapters(clock), postgresAdapters(clock)] as const
  const ada = freshPrincipal()
  const random = seeded(SEED)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const phrase = (most: number) => Array.from({ length: 1 + Math.floor(random() * most) }, () => pick(WORDS)).join(' ')
  const positions: Map<number, number>[] = databases.map(() => new Map())

  beforeAll(async () => {
    await migrate()
    for (let i = 0; i < 500; i++) {
      clock.advance(3_600_000)
      const draft = {
        text: phrase(25),
        threadId: `t${i % 5}`,
        source: pick(['user', 'agent'] as const),
        tags: [pick(['x', 'y'])],
        metadata: { agent_name: pick(['planner', 'café runner']), n: i },
      }
      for (const [at, database] of databases.entries()) {
        const [saved] = await database.entries.save(ada, [await entryOf(ada, draft)])
        positions[at]?.set(saved?.id as number, i)
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
          const result = await createSearchText({ ...database, yielder: WITHOUT_REST })(ada, query, mode, filter)
          const hits = result.ordering.map(({ id, score }) => [positions[at]?.get(id), score])
          return { hits, marked: highlight(`${query} ${WORDS.join(' ')}`, result.units, database.analyzer) }
        }),
      )
      expect([mode, query, answers[1]]).toEqual([mode, query, answers[0]])
      found += answers[0]?.hits.length ?? 0
    }
    expect(found).toBeGreaterThan(queries)
  })

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
    for (const [text, mode] of asked)
      for (const filter of filters) {
        const query = parseQuery(text, mode, databases[0].analyzer)
        const depth = { candidates: 120, complete: 60 }
        const request = { query, terms: scoredTerms(query.units), filter, columns: ['body'] as const }
        const [ofD1, ofPostgres] = await Promise.all(
          databases.map(async ({ fullText }) => [
            await fullText.search(bob, { ...request, depth }),
            await fullText.searchByUnits(bob, { ...request, atLeast: 1, candidates: 120 }),
          ]),
        )
        const toldOf = (found: TextSearch, isOfUnits: number) => ({
          hits: found.hits
            .map(({ id, complete, held, place }) => [id, complete, ...(isOfUnits ? [held, place] : [])])
            .sort((a, b) => Number(a[0]) - Number(b[0])),
          statistics: found.hits.length > 0 ? found.statistics : null,
        })
        expect([text, filter.op, ofPostgres?.map(toldOf)]).toEqual([text, filter.op, ofD1?.map(toldOf)])
      }
  }, 60_000)
}
