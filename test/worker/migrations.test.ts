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
