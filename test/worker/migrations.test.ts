import { beforeAll, expect, it } from 'vitest'
import { migrateD1 } from '../../src/adapters/d1/migrate'
import { D1_MIGRATIONS } from '../../src/composition/migrations'
import { EVERYTHING } from '../../src/domain/search/filter'
import { WITHOUT_REST } from '../../src/domain/yielder'
import { createSearchText } from '../../src/services/searching/ranked/search-text'
import { bindings, config, d1Adapters, migrate } from '../support/bindings'
import { entryOf, freshPrincipal, TestClock } from '../support/scope'

/** A change as the ones that will follow the baseline: a column with what stood there, and an index. */
const LATER = {
  name: '9999_later.sql',
  sql: `-- How it is spelled aloud.
ALTER TABLE entries ADD COLUMN spoken TEXT;

UPDATE entries SET spoken = upper(title);

CREATE INDEX entries_by_sound ON entries (org, spoken);`,
}

beforeAll(migrate)

it('applies a later change to a store that holds entries, and a Worker that does not know the change goes on beside it', async () => {
  const ada = freshPrincipal()
  const made = d1Adapters(new TestClock())
  const [saved] = await made.entries.save(ada, [await entryOf(ada, { text: 'glacier', metadata: { title: 'ice' } })])
  const id = saved?.id as number
  const found = async () =>
    (await createSearchText({ ...made, yielder: WITHOUT_REST })(ada, 'glacier', 'match', EVERYTHING)).ordering.map(
      ({ id }) => id,
    )
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

it('makes the indexes of fields anew over those of the last release, whose Worker then finds its own row last and makes nothing', async () => {
  const journal = async () =>
    (
      await bindings.DB.prepare("SELECT name FROM d1_migrations WHERE name GLOB 'indexed fields: *' ORDER BY id").all<{
        name: string
      }>()
    ).results.map(({ name }) => name)
  const index = async () =>
    String(await bindings.DB.prepare("SELECT sql FROM sqlite_schema WHERE name = 'entries_meta_status'").first('sql'))
  const own = 'indexed fields: lower(json_extract(metadata, \'$."status"\'))'
  const old = `CREATE INDEX entries_meta_status ON entries (org, lower(json_extract(metadata, '$."status"')))
    WHERE listed = 1 AND lower(json_extract(metadata, '$."status"')) IS NOT NULL`
  await bindings.DB.batch(
    [
      "DELETE FROM d1_migrations WHERE name GLOB 'indexed fields: *'",
      'DROP INDEX entries_meta_status',
      old,
      `INSERT INTO d1_migrations (name) VALUES ('${own.replaceAll("'", "''")}')`,
    ].map((statement) => bindings.DB.prepare(statement)),
  )
  const fields = [{ name: 'status', type: 'string' }] as const
  await migrateD1(bindings.DB, D1_MIGRATIONS, fields)
  expect(await index()).toContain('created_second')
  expect(await journal()).toEqual(['indexed fields: newest first', own])
  // Nothing is left to do, for either of them.
  await migrateD1(bindings.DB, D1_MIGRATIONS, fields)
  expect(await journal()).toEqual(['indexed fields: newest first', own])
  await migrateD1(bindings.DB, D1_MIGRATIONS, config.indexedFields)
  expect(await journal()).toHaveLength(2)
})
