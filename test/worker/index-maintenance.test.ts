import { beforeAll, expect, it } from 'vitest'
import { createD1Connection } from '../../src/adapters/d1/connection'
import { createSqlEntryStore } from '../../src/adapters/sql/stores/entries/entry-store'
import { createSqlOutbox } from '../../src/adapters/sql/stores/maintenance/outbox'
import { createSqlIndexMaintenance } from '../../src/adapters/sql/stores/search/index-maintenance'
import { stepOf } from '../../src/adapters/sql/tables/search/candidates'
import { entryScopeTerms, lengthTerm } from '../../src/adapters/sql/tables/search/scope-terms'
import { createD1Dialect, MERGED, type Merged } from '../../src/adapters/sqlite/dialect'
import { createD1FullText } from '../../src/adapters/sqlite/full-text'
import { createAnalyzer } from '../../src/domain/search/analysis'
import { EVERYTHING } from '../../src/domain/search/filter'
import { createSearchText } from '../../src/services/searching/ranked/search-text'
import { bindings, migrate } from '../support/bindings'
import { entryOf, freshPrincipal, TestClock } from '../support/scope'
import '../support/languages'

const clock = new TestClock()
function speaking(language: string, merged?: Merged) {
  const analyzer = createAnalyzer(language)
  const connection = createD1Connection(bindings.DB, createD1Dialect(analyzer, merged))
  const entries = createSqlEntryStore(connection, analyzer, clock, new Map())
  const fullText = createD1FullText(connection, analyzer, clock, { indexedFields: new Map() })
  return {
    entries,
    search: createSearchText({ fullText, analyzer }),
    index: createSqlIndexMaintenance(connection, analyzer),
  }
}

beforeAll(migrate)

it('rewrites the index step by step when the language changes, and only then', async () => {
  const ada = freshPrincipal()
  const english = speaking('english')
  const simple = speaking('simple')
  const drafts = await Promise.all(['running', 'the runs', 'walking'].map((text) => entryOf(ada, { text })))
  await english.index.rebuild(2)
  await english.entries.save(ada, drafts)
  const found = async ({ search }: typeof simple, query: string) =>
    (await search(ada, query, 'match', EVERYTHING)).ordering.length

  expect(await english.index.isCurrent()).toBe(true)
  expect(await english.index.rebuild(2)).toEqual({ written: 0, more: false })
  expect(await found(english, 'run')).toBe(2)

  expect(await simple.index.isCurrent()).toBe(false)
  expect(await simple.index.rebuild(2)).toEqual({ written: 2, more: true })
  expect(await simple.index.isCurrent()).toBe(false)
  expect(await simple.index.rebuild(2)).toEqual({ written: 1, more: false })
  expect(await simple.index.isCurrent()).toBe(true)
  expect(await found(simple, 'run')).toBe(0)
  expect(await found(simple, 'running')).toBe(1)

  expect(await english.index.isCurrent()).toBe(false)
})

it('rewrites what was counted by no list of stop words where its language has one now, and nothing in English', async () => {
  const [german, english, basic] = [speaking('german'), speaking('english'), speaking('simple')]
  const written = (analysis: string) =>
    bindings.DB.prepare(`INSERT OR REPLACE INTO settings (name, value) VALUES ('full_text', ?)`)
      .bind(JSON.stringify({ analysis, upTo: null }))
      .run()
  await german.entries.save(freshPrincipal(), [await entryOf(freshPrincipal(), { text: 'die Wartung der Küche' })])
  await written('german/7.1')
  expect(await german.index.isCurrent()).toBe(false)
  while ((await german.index.rebuild(100)).more);
  expect(await german.index.isCurrent()).toBe(true)
  await written('english/7.1')
  expect(await english.index.isCurrent()).toBe(true)
  await written('simple/7.1')
  expect(await basic.index.isCurrent()).toBe(true)
  await written('english/7.1')
})

it('finds entries written before lengths were in the index, and adds these', async () => {
  const ada = freshPrincipal()
  const { entries, search, index } = speaking('english')
  const drafts = await Promise.all(['a turbine', 'turbine '.repeat(60)].map((text) => entryOf(ada, { text })))
  const ids = (await entries.save(ada, drafts)).map(({ id }) => id)
  const scope = entryScopeTerms(ada.org, {
    ...{ reader: '', project: null, threadId: 't', layer: 2, captured: false },
    ...{ title: null, agent: null, text: '', metadata: {} },
  }).join(' ')
  const others = `WITH RECURSIVE n (id) AS (SELECT 5000000 UNION ALL SELECT id + 1 FROM n WHERE id < 5001200) SELECT id FROM n`
  await bindings.DB.batch([
    bindings.DB.prepare(`INSERT OR REPLACE INTO entries_fts (rowid, scope, body)
      SELECT id, ?, 'turbin' FROM (${others}) UNION ALL SELECT value, ?, 'turbin' FROM json_each(?)`).bind(
      ...[scope, scope, JSON.stringify(ids)],
    ),
    bindings.DB.prepare(`UPDATE settings SET value = '{"analysis":"english/5","upTo":null}' WHERE name = 'full_text'`),
  ])
  const found = async () => (await search(ada, 'turbine', 'match', EVERYTHING)).ordering.map(({ id }) => id).sort()
  expect(await found()).toEqual(ids.sort())
  expect(await index.isCurrent()).toBe(false)
  while ((await index.rebuild(100)).more);
  expect(await index.isCurrent()).toBe(true)
  expect(await found()).toEqual(ids.sort())
  const short = await bindings.DB.prepare('SELECT rowid AS id FROM entries_fts WHERE entries_fts MATCH ?')
    .bind(`scope : "${lengthTerm(ada.org, stepOf(1))}"`)
    .all()
  expect(short.results).toEqual([{ id: Math.min(...ids) }])
  await bindings.DB.prepare('DELETE FROM entries_fts WHERE rowid >= 5000000').run()
})

it('merges the index of words until two parts of a size are left nowhere, and finds the same', async () => {
  const ada = freshPrincipal()
  const { entries, search, index } = speaking('english')
  const parts = async (): Promise<number> => {
    const row = await bindings.DB.prepare('SELECT count(DISTINCT segid) AS parts FROM entries_fts_idx').first()
    return Number(row?.parts)
  }
  const stored: number[] = []
  for (let n = 0; n < 24; n++)
    stored.push(...(await entries.save(ada, [await entryOf(ada, { text: `turbine ${n}` })])).map(({ id }) => id))
  const found = async () => (await search(ada, 'turbine', 'match', EVERYTHING)).ordering.map(({ id }) => id).sort()
  const before = await parts()
  expect(before).toBeGreaterThan(4)

  // Pages on which no word begins are of one that a merge would go through to its end.
  for (const small of [{ all: 1 }, { spanned: -1 }])
    expect(await speaking('english', { ...MERGED, ...small }).index.merge()).toBe(false)
  expect(await parts()).toBe(before)

  while (await index.merge());
  expect(await parts()).toBeLessThan(4)
  expect(await found()).toEqual(stored.sort())
  const state = await bindings.DB.prepare('SELECT hex(block) AS state FROM entries_fts_data WHERE id = 10').first()
  expect(await index.merge()).toBe(false)
  expect(await bindings.DB.prepare('SELECT hex(block) AS state FROM entries_fts_data WHERE id = 10').first()).toEqual(
    state,
  )
})

it('removes the words of erased entries from the index without other writes', async () => {
  const ada = freshPrincipal()
  const { entries, search, index } = speaking('english')
  // Its ending is not one that a stemmer removes.
  const word = `zq${crypto
    .randomUUID()
    .replaceAll('-', '')
    .replace(/[0-9]/g, (digit) => 'ghijklmnop'[Number(digit)] as string)}zq`
  const stays: number[] = []
  for (let n = 0; n < 12; n++)
    stays.push(...(await entries.save(ada, [await entryOf(ada, { text: `quiet ${n}` })])).map(({ id }) => id))
  const [secret] = await entries.save(ada, [await entryOf(ada, { text: `quiet ${word}` })])
  while (await index.merge());
  const raw = async (): Promise<boolean> => {
    const { results } = await bindings.DB.prepare('SELECT hex(block) AS block FROM entries_fts_data').all<{
      block: string
    }>()
    // A word may share its beginning with the one before it on a page.
    const hex = [...word.slice(6)].map((letter) => letter.charCodeAt(0).toString(16).toUpperCase()).join('')
    return results.some(({ block }) => block.includes(hex))
  }
  expect(await raw()).toBe(true)
  await entries.delete(ada, { ids: [secret?.id as number] })
  expect(await entries.erase(ada, { ids: [secret?.id as number] })).toMatchObject({ before: 1 })
  const outbox = createSqlOutbox(createD1Connection(bindings.DB, createD1Dialect(createAnalyzer('english'))), clock)
  const due = () => outbox.claim([{ topic: 'words', limit: 5 }])
  expect(await due()).toEqual([])
  clock.advance(60_000)
  const items = await due()
  expect(items).toMatchObject([{ org: ada.org, key: 'erased' }])
  for (const { org, key } of items) await index.forget(org, key)
  await outbox.finish(items)
  expect(await raw()).toBe(false)
  const found = (await search(ada, 'quiet', 'match', EVERYTHING)).ordering.map(({ id }) => id).sort((a, b) => a - b)
  expect(found).toEqual(stays.sort((a, b) => a - b))
  await index.forget(ada.org, 'erased')
  expect(await due()).toEqual([])
})
