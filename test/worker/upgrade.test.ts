import { beforeEach, expect, it } from 'vitest'
import { migrateD1 } from '../../src/adapters/d1/migrate'
import { createSqlIndexMaintenance } from '../../src/adapters/sql/search/index-maintenance'
import { composeServices } from '../../src/compose'
import { EVERYTHING } from '../../src/domain/search/filter'
import { D1_MIGRATIONS } from '../../src/migrations'
import { createSearchText } from '../../src/services/search-text'
import { bindings, config, d1Adapters } from '../support/bindings'
import { freshPrincipal, TestClock } from '../support/scope'

/** A database of an earlier release, with entries in it, brought to this one. */
const SCHEMA = `SELECT type, name FROM sqlite_schema WHERE name NOT GLOB 'sqlite_*' AND name NOT GLOB '_cf_*'`

beforeEach(async () => {
  const { results } = await bindings.DB.prepare(SCHEMA).all<{ type: string; name: string }>()
  const order = ['view', 'trigger', 'table']
  const parts = results.filter(({ type, name }) => order.includes(type) && !/^entries_fts_/.test(name))
  parts.sort((a, b) => order.indexOf(a.type) - order.indexOf(b.type))
  for (const { type, name } of parts) await bindings.DB.prepare(`DROP ${type} IF EXISTS ${name}`).run()
})

it('finds private entries of before the upgrade by their words once the index is written anew', async () => {
  await migrateD1(bindings.DB, D1_MIGRATIONS.slice(0, 4), config.indexedFields)
  const ada = freshPrincipal()
  await bindings.DB.prepare(
    `INSERT INTO entries (org, thread_id, source, layer, created_at, updated_at, owner, created_by, audience, text_hash,
      bytes, text_words, text)
       VALUES (?1, 't', 'user', 2, 0, 0, 'ada', 'key-1', 'private', 'h', 5, 1, 'glacier')`,
  )
    .bind(ada.org)
    .run()
  await migrateD1(bindings.DB, D1_MIGRATIONS, config.indexedFields)

  const made = d1Adapters(new TestClock())
  const index = createSqlIndexMaintenance(made.connection, made.analyzer)
  expect(await index.isCurrent()).toBe(false)
  await index.rebuild(100)
  expect(await index.isCurrent()).toBe(true)
  const { ordering } = await createSearchText(made)(ada, 'glacier', 'match', EVERYTHING)
  expect(ordering).toHaveLength(1)
})

it('brings back what the word "archived" hid, and tells apart what metadata said of the life of an entry', async () => {
  await migrateD1(bindings.DB, D1_MIGRATIONS.slice(0, 5), config.indexedFields)
  const ada = freshPrincipal()
  const old = (metadata: object, columns: string, values: string) =>
    bindings.DB.prepare(
      `INSERT INTO entries (org, thread_id, source, layer, created_at, updated_at, owner, created_by, text_hash, bytes,
        text_words, text, metadata, ${columns})
       VALUES (?1, 't', 'user', 2, 0, 0, 'ada', 'key-1', 'h', 5, 1, 'glacier', ?2, ${values})`,
    )
      .bind(ada.org, JSON.stringify(metadata))
      .run()
  await old({ status: 'archived' }, 'status, archived', `'archived', 1`)
  await old({ weight: 5, pinned: true, expires_at: '2099-01-01' }, 'weight, pinned, expires_at', '5, 1, 4070908800000')
  await old({ weight: 9 }, 'links', `'[["REFERENCES",1],["supersedes",2]]'`)
  await migrateD1(bindings.DB, D1_MIGRATIONS, config.indexedFields)

  const { entries } = d1Adapters(new TestClock())
  const { entries: found, total } = await entries.page(ada, EVERYTHING, { limit: 10, offset: 0, previewLength: 9 })
  expect([found.map(({ id }) => id).sort(), total]).toEqual([[1, 2, 3], 3])
  expect((await entries.threads(ada, { limit: 10, offset: 0 })).threads[0]?.entries).toBe(3)
  const rows = async (statement: string) => (await bindings.DB.prepare(statement).all()).results
  expect(await rows('SELECT id, weight, named_weight, given_weight, pinned, expires_at FROM entries')).toEqual([
    { id: 1, weight: 3, named_weight: null, given_weight: 3, pinned: 0, expires_at: null },
    { id: 2, weight: 5, named_weight: 5, given_weight: 3, pinned: 1, expires_at: 4_070_908_800_000 },
    { id: 3, weight: 3, named_weight: null, given_weight: 3, pinned: 0, expires_at: null },
  ])
  expect(await rows('SELECT part, items, bytes FROM org_usage')).toEqual([{ part: 'entries', items: 3, bytes: 15 }])
  expect(await rows('SELECT from_id, relation, to_id, origin FROM links')).toEqual([
    { from_id: 3, relation: 'references', to_id: 1, origin: 'metadata' },
    { from_id: 3, relation: 'supersedes', to_id: 2, origin: 'metadata' },
  ])
})

it('rewrites what searches go by with each request, says so meanwhile, and finds old entries by words and meaning', async () => {
  await migrateD1(bindings.DB, D1_MIGRATIONS.slice(0, 5), config.indexedFields)
  const ada = freshPrincipal()
  await bindings.DB.prepare(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 230)
       INSERT INTO entries (org, thread_id, source, layer, created_at, updated_at, owner, created_by, text_hash, bytes, text_words, text)
       SELECT ?1, 't', 'user', 2, 1000 * i, 0, 'ada', 'key-1', 'h' || i, 20, 2, 'glacier running ' || i FROM n`,
  )
    .bind(ada.org)
    .run()
  await migrateD1(bindings.DB, D1_MIGRATIONS, config.indexedFields)

  const { catchUp, rankedSearches } = composeServices(bindings, config, { log: () => {}, waitUntil: () => {} })
  const page = {
    query: 'glacier run 7',
    filter: EVERYTHING,
    previewLength: 20,
    limit: 100,
    offset: 0,
    mode: 'match',
    highlight: false,
  } as const
  const total = async () => {
    const [words, meaning] = [await rankedSearches.byWords(ada, page), await rankedSearches.byMeaning(ada, page)]
    return [words.total, words.warnings.length, meaning.total, meaning.warnings.length]
  }
  await catchUp.begin()
  expect(catchUp.missed()).toEqual(['words', 'vectors'])
  expect(await total()).toEqual([100, 1, 0, 1])
  await catchUp.begin()
  expect(catchUp.missed()).toEqual(['words', 'vectors'])
  for (let requests = 0; requests < 10 && catchUp.missed().length > 0; requests++) await catchUp.further()
  expect(catchUp.missed()).toEqual([])
  expect(await total()).toEqual([100, 0, 100, 0])
})
