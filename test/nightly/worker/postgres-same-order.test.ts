// D1 and PostgreSQL rank alike in a large store: thousands of entries with common words in most of them, where counts
// stop and candidates are cut, and both must stop and cut at the same place. Another org has the same words.

import { afterAll, beforeAll, expect, it } from 'vitest'
import { createLocalEmbedder } from '../../../src/adapters/local/embedder'
import { createPostgresVectorIndex } from '../../../src/adapters/postgres/vector-index'
import { createSqlCurrentMemories } from '../../../src/adapters/sql/stores/memories/current'
import { createSqlMemories } from '../../../src/adapters/sql/stores/memories/memories'
import { createSqlVectorRows } from '../../../src/adapters/sql/stores/search/vector-rows'
import { createObjectVectorIndex } from '../../../src/adapters/vector-object'
import type { Generated, Layer } from '../../../src/domain/entry/entry'
import { modelKey } from '../../../src/domain/meaning/vector'
import { type RecallFilter, recallFilter } from '../../../src/domain/recall/recall-filter'
import { RETRIEVER_LIMIT } from '../../../src/domain/recall/similarity'
import { EVERYTHING, type Filter } from '../../../src/domain/search/filter'
import type { SearchMode } from '../../../src/domain/search/query'
import type { VectorIndex } from '../../../src/ports/vector-index'
import { createSyncVectors } from '../../../src/services/maintenance/sync-vectors'
import { createGetCurrent } from '../../../src/services/searching/memories/current'
import { createRecallWords } from '../../../src/services/searching/memories/recall-words'
import { createSearchSemantic } from '../../../src/services/searching/ranked/search-semantic'
import { createSearchText } from '../../../src/services/searching/ranked/search-text'
import { createGenerate } from '../../../src/services/writing/entries/generate'
import { bindings, d1Adapters, migrate } from '../../support/bindings'
import { postgresAdapters } from '../../support/bindings-postgres'
import { entryOf, freshPrincipal, TestClock } from '../../support/scope'
import { seeded } from '../../support/seeded'

const SEED = Number(process.env.FILTER_SEED ?? 20261122)
const ENTRIES = 8_200
const BATCH = 100
const VOCABULARY = 2_000
const QUERIES = 80

const clock = new TestClock()
const databases = [d1Adapters(clock), postgresAdapters(clock)] as const
const ada = freshPrincipal()
const other = freshPrincipal()
const random = seeded(SEED)
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T

const SYLLABLES = 'ka lo mi ren tas vu pel dor shi nam eb or ist ul gra'.split(' ')
const ENDINGS = ['', '', 'ing', 's', 'ed', 'ation', 'y', 'ly']
const words = Array.from(
  { length: VOCABULARY },
  () => `${pick(SYLLABLES)}${pick(SYLLABLES)}${pick(SYLLABLES)}${pick(ENDINGS)}`,
)
/** The n-th word half as often as the n/2-th, as in natural language. */
const word = () => words[Math.floor(VOCABULARY ** random()) - 1] as string
const common = () => words[Math.floor(random() * 12)] as string
const text = (length: number) => Array.from({ length }, word).join(' ')

/** The place in which an entry was stored, by its id in each database. */
const places: Map<number, number>[] = databases.map(() => new Map())

const KINDS = ['decision', 'bug_fix', 'code_pattern', 'convention', 'relationship']
const fileOf = (n: number): string => `src/${SYLLABLES[n % 7]}/${SYLLABLES[n % 13]}.${['ts', 'py', 'go'][n % 3]}`
const layerOf = (n: number): Layer => (n % 41 === 7 ? 1 : n % 10 === 0 ? 3 : 2)
/** A kind, a weight, sometimes a file, a session and code. */
const besideText = (n: number) => ({
  ...{ kind: KINDS[n % 5] as string, weight: 1 + (n % 5) },
  ...(n % 4 === 0 ? { fileContext: { path: fileOf(n) } } : {}),
  ...(n % 6 === 0 ? { sessionId: `s${n % 3}` } : {}),
  ...(n % 8 === 2
    ? { codeBlock: { code: `run(${n})`, language: n % 3 === 0 ? 'TypeScript' : 'py', filePath: fileOf(n) } }
    : {}),
})
const embedder = createLocalEmbedder(databases[0].analyzer, 64)
const generate = createGenerate({
  ...{ embedder, summarizer: null, chunking: { size: 120, overlap: 20 }, onEmbeddingFailure: 'fail' as const },
  minContentLength: 0,
})

beforeAll(async () => {
  await migrate()
  for (let from = 0; from < ENTRIES; from += BATCH) {
    clock.advance(60_000)
    const drafts = Array.from({ length: BATCH }, (_, i) => ({
      text: text(5 + Math.floor(40 * random() ** 2)),
      threadId: `t${(from + i) % 90}`,
      source: pick(['user', 'agent'] as const),
      tags: (from + i) % 50 === 0 ? ['rare'] : [],
      metadata: { project: 'pqr'[(from + i) % 3] as string, ...besideText(from + i) },
      memory: { layer: layerOf(from + i), life: { pinned: false, lasts: null } },
    }))
    // Vectors that a call with a work context checks.
    const generated = await generate(drafts.map((draft) => ({ ...draft, title: null })))
    const vectorsOf = (i: number) =>
      (from + i) % 3 === 0 || layerOf(from + i) === 3 ? { generated: generated[i] as Generated } : {}
    await Promise.all(
      databases.map(async ({ entries }, at) => {
        const made = await Promise.all(drafts.map((draft) => entryOf(ada, draft)))
        const saved = await entries.save(
          ada,
          made.map((entry, i) => ({ ...entry, ...vectorsOf(i) })),
        )
        for (const [i, { id }] of saved.entries()) places[at]?.set(id, from + i)
        if (from % (10 * BATCH) === 0)
          await entries.save(other, await Promise.all(drafts.map((draft) => entryOf(other, draft))))
      }),
    )
  }
}, 600_000)

afterAll(() => databases[1].connection.close())

const RARE: Filter = { op: 'tag', anyOf: ['rare'] }
const kinds: readonly (() => { mode: SearchMode; query: string; filter?: Filter })[] = [
  () => ({ mode: 'match', query: `${common()} ${common()}` }),
  () => ({ mode: 'match', query: `${common()} ${word()} ${word()} ${word()} ${word()} ${word()}` }),
  () => ({ mode: 'match', query: `"${common()} ${common()}" ${word()}` }),
  () => ({ mode: 'match', query: `${common()} ${common()} ${word()}`, filter: RARE }),
  // A thread weighs words by a count that stops at 1,000, so these are rarer.
  () => ({ mode: 'match', query: `${pick(words)} ${pick(words)}`, filter: { op: 'thread', is: 't7' } }),
  () => ({ mode: 'prefix', query: common().slice(0, 3) }),
  () => ({ mode: 'phrase', query: `${common()} ${common()}` }),
  () => ({ mode: 'boolean', query: `${common()} AND (${word()} OR ${common().slice(0, 4)}*) NOT ${common()}` }),
  () => ({ mode: 'boolean', query: `NOT ${common()}` }),
]

it(`ranks ${ENTRIES} entries alike for ${QUERIES} queries`, { timeout: 600_000 }, async () => {
  let found = 0
  for (let i = 0; i < QUERIES; i++) {
    const { mode, query, filter = EVERYTHING } = (kinds[i % kinds.length] as (typeof kinds)[number])()
    const answers = await Promise.all(
      databases.map(async (database, at) => {
        const { ordering } = await createSearchText({ ...database })(ada, query, mode, filter)
        return ordering.map(({ id, score }) => [places[at]?.get(id), score])
      }),
    )
    expect([mode, query, answers[1]]).toEqual([mode, query, answers[0]])
    found += answers[0]?.length ?? 0
  }
  expect(found).toBeGreaterThan(QUERIES * 50)
})

const recalls: readonly (() => { query: string; threshold: number; filter: Partial<RecallFilter> })[] = [
  () => ({ query: `${common()} ${word()} ${word()}`, threshold: 0, filter: {} }),
  () => ({ query: `${common()} ${common()} ${word()} ${word()} ${word()}`, threshold: 0.7, filter: {} }),
  () => ({ query: `${common()} "${common()} ${word()}" ${word()}`, threshold: 0, filter: { project: 'p' } }),
  () => ({ query: `${common()} ${common()}-${common()}`, threshold: 0, filter: { project: 'q', layers: [3] } }),
  () => ({ query: `${common()} ${word()}`, threshold: 0.5, filter: { project: 'r', tags: ['rare'] } }),
]

it(`recalls of ${ENTRIES} memories the same, with the same scores`, { timeout: 600_000 }, async () => {
  let found = 0
  for (let i = 0; i < QUERIES / 2; i++) {
    const { query, threshold, filter } = (recalls[i % recalls.length] as (typeof recalls)[number])()
    const request = {
      ...{ query, threshold, kept: RETRIEVER_LIMIT, first: i % 2 === 0 ? ('most' as const) : ('rarest' as const) },
      filter: recallFilter({ kinds: [], layers: [], tags: [], project: null, ...filter }),
    }
    const answers = await Promise.all(
      databases.map(async (database, at) => {
        const { hits, cut } = await createRecallWords({ ...database })(ada, request)
        return [cut, hits.map(({ id, similarity }) => [places[at]?.get(id), similarity])] as const
      }),
    )
    expect([request, answers[1]]).toEqual([request, answers[0]])
    found += answers[0]?.[1].length ?? 0
  }
  expect(found).toBeGreaterThan(QUERIES * 10)
})

it(`gathers for ${QUERIES / 2} moments the same of ${ENTRIES} memories`, { timeout: 600_000 }, async () => {
  const notes: Promise<void>[] = []
  const noted = () => Promise.all(notes.splice(0))
  const world = (database: (typeof databases)[number], index: VectorIndex) => {
    const { connection } = database
    const rows = createSqlVectorRows(connection, clock)
    const sync = createSyncVectors({ index, rows })
    return createGetCurrent({
      ...{
        memories: createSqlMemories(connection, clock),
        clock,
        levels: async () => ({ nothing: 0, answer: 1 }),
      },
      current: createSqlCurrentMemories(connection, clock, index.nearby !== null),
      words: createRecallWords({ ...database }),
      semantic: createSearchSemantic({ embedder, index, rows, sync, now: () => clock.now() }),
      afterwards: (work) => void notes.push(work()),
    })
  }
  const postgres = world(databases[1], createPostgresVectorIndex(databases[1].connection))
  const worlds = [world(databases[0], createObjectVectorIndex(bindings.VECTORS)), postgres]
  let shown = 0
  const momentAt = (i: number) => ({
    ...{ project: i % 8 === 7 ? null : 'p', sessionId: i % 3 === 0 ? `s${i % 3}` : null },
    ...{
      currentFile: i % 4 === 3 ? null : fileOf(i),
      currentCommand: i % 5 === 4 ? null : `make ${word()} ${common()} ${word()}`,
    },
    ...{ language: i % 6 === 5 ? 'typescript' : null, filePath: i % 7 === 6 ? fileOf(i + 1) : null },
  })
  for (let i = 0; i < QUERIES / 2; i++) {
    const moment = momentAt(i)
    clock.advance(1_000)
    const answers = await Promise.all(
      worlds.map(async (getCurrent, at) => {
        const placeOf = (id: number) => places[at]?.get(id)
        const { working, relevant, patterns, suggestions, ghostMessages } = await getCurrent(ada, moment)
        return {
          working: working.map(({ id, accessCount }) => [placeOf(id), accessCount]),
          relevant: relevant.map(({ id, accessCount }) => [placeOf(id), accessCount]),
          patterns: patterns.map(({ id, name: _, ...rest }) => [placeOf(id), rest]),
          suggestions: suggestions.map(({ type, confidence, sources }) => [type, confidence, sources.map(placeOf)]),
          ghostMessages: ghostMessages.map(({ content, at, trigger }) => [content, at, trigger]),
        }
      }),
    )
    await noted()
    expect([moment, answers[1]]).toEqual([moment, answers[0]])
    shown += (answers[0]?.relevant.length ?? 0) + (answers[0]?.working.length ?? 0) + (answers[0]?.patterns.length ?? 0)
  }
  expect(shown).toBeGreaterThan(QUERIES * 8)
  // PostgreSQL leaves its vectors to a Durable Object, which is updated after the first answer.
  const objects = { getByName: (name: string) => bindings.VECTORS.getByName(`postgres ${name}`) }
  const object = createObjectVectorIndex(objects as typeof bindings.VECTORS)
  const combined = world(databases[1], createPostgresVectorIndex(databases[1].connection, { auxiliary: object }))
  await combined(ada, momentAt(0))
  await noted()
  expect((await object.state({ org: ada.org, model: modelKey(embedder), dimensions: 64 })).addedUpTo).toBeGreaterThan(
    ENTRIES / 3,
  )
  for (let i = 0; i < 8; i++) {
    const moment = momentAt(i)
    const [one, other] = [await postgres(ada, moment), await combined(ada, moment)]
    await noted()
    for (const list of ['working', 'relevant'] as const)
      expect(other[list].map(({ id }) => id)).toEqual(one[list].map(({ id }) => id))
  }
})
