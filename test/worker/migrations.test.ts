import { beforeAll, expect, it } from 'vitest'
import { migrateD1 } from '../../src/adapters/d1/migrate'
import { D1_MIGRATIONS } from '../../src/composition/migrations'
import { EVERYTHING } from '../../src/domain/search/filter'
import { createSearchText } from '../../src/services/searching/ranked/search-text'
import { bindings, config, d1Adapters, migrate } from '../support/bindings'
import { entryOf, freshPrincipal, TestClock } from '../support/scope'

/** A later migration: a column that is filled from another one, and an index. */
const LATER = {
  name: '9999_later.sql',
  sql: `-- The spoken form of the title.
ALTER TABLE entries ADD COLUMN spoken TEXT;

UPDATE entries SET spoken = upper(title);

CREATE INDEX entries_spoken_idx ON entries (org, spoken);`,
}

beforeAll(migrate)

it('applies a later migration to a store with entries, and a Worker without that migration continues to run', async () => {
  const ada = freshPrincipal()
  const made = d1Adapters(new TestClock())
  const [saved] = await made.entries.save(ada, [await entryOf(ada, { text: 'glacier', metadata: { title: 'ice' } })])
  const id = saved?.id as number
  const found = async () =>
    (await createSearchText({ ...made })(ada, 'glacier', 'match', EVERYTHING)).ordering.map(({ id }) => id)
  const journal = async () =>
    (await bindings.DB.prepare('SELECT name FROM d1_migrations').all<{ name: string }>()).results.map(
      ({ name }) => name,
    )

  await migrateD1(bindings.DB, [...D1_MIGRATIONS, LATER], config.indexedFields)
  expect(await bindings.DB.prepare('SELECT id, spoken FROM entries').all()).toMatchObject({
    results: [{ id, spoken: 'ICE' }],
  })
  expect(await found()).toEqual([id])

  // The Worker of before starts on it once more.
  const applied = await journal()
  expect(applied).toContain(LATER.name)
  expect(await migrateD1(bindings.DB, D1_MIGRATIONS, config.indexedFields)).toEqual([LATER.name])
  expect(await journal()).toEqual(applied)
  const [next] = await made.entries.save(ada, [await entryOf(ada, { text: 'glacier' })])
  expect(new Set(await found())).toEqual(new Set([id, next?.id]))
})

it('rebuilds the indexes of METADATA_INDEXED_FIELDS when its value changes, and only then', async () => {
  const indexes = async () => {
    const { results } = await bindings.DB.prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'index' AND name GLOB 'entries_meta_*' ORDER BY name",
    ).all<{ name: string }>()
    return results.map(({ name }) => name)
  }
  const journal = async () =>
    (await bindings.DB.prepare("SELECT id FROM d1_migrations WHERE name GLOB 'indexed fields: *'").all()).results
  const before = await indexes()
  await migrateD1(bindings.DB, D1_MIGRATIONS, [{ name: 'team', type: 'string' }])
  expect(await indexes()).toEqual(['entries_meta_team'])
  const applied = await journal()
  await migrateD1(bindings.DB, D1_MIGRATIONS, [{ name: 'team', type: 'string' }])
  expect([await journal(), applied.length]).toEqual([applied, 1])
  await migrateD1(bindings.DB, D1_MIGRATIONS, config.indexedFields)
  expect(await indexes()).toEqual(before)
})

it('refuses a store of 1.0.0-rc.1, names export and import, and changes nothing', async () => {
  const journal = async () => (await bindings.DB.prepare('SELECT name FROM d1_migrations ORDER BY id').all()).results
  await bindings.DB.prepare("UPDATE d1_migrations SET name = '0001_entries.sql' WHERE name = '0001_initial.sql'").run()
  const before = await journal()
  await expect(migrateD1(bindings.DB, D1_MIGRATIONS, config.indexedFields)).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/1\.0\.0-rc\.1.*`commonplace export`.*`commonplace import`/),
    retryable: false,
  })
  expect(await journal()).toEqual(before)
})
