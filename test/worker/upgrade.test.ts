import { expect, it } from 'vitest'
import { migrateD1 } from '../../src/adapters/d1/migrate'
import { createSqlIndexMaintenance } from '../../src/adapters/sql/index-maintenance'
import { EVERYTHING } from '../../src/domain/filter'
import { D1_MIGRATIONS } from '../../src/migrations'
import { createSearchText } from '../../src/services/search-text'
import { bindings, config, d1Adapters } from '../support/bindings'
import { freshPrincipal, TestClock } from '../support/scope'

/** A database of an earlier release, with entries in it, brought to this one. */
it('finds private entries of before the upgrade by their words once the index is written anew', async () => {
  await migrateD1(bindings.DB, D1_MIGRATIONS.slice(0, 4), config.indexedFields)
  const ada = freshPrincipal()
  await bindings.DB.prepare(
    `INSERT INTO entries (org, thread_id, source, layer, created_at, updated_at, owner, created_by, audience, text_hash, bytes, text_words, text)
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
