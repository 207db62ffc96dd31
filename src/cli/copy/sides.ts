// Opens each database for a copy with the adapters of the Worker, so that rows are written the same way.
import { type SQL, sql } from 'drizzle-orm'
import { createD1Connection } from '../../adapters/d1/connection'
import { migrateD1 } from '../../adapters/d1/migrate'
import { createPostgresConnection } from '../../adapters/postgres/connection'
import { createPostgresDialect } from '../../adapters/postgres/dialect'
import { createD1Dialect } from '../../adapters/sqlite/dialect'
import { entryIds, highestEntryId } from '../../adapters/sqlite/entry-ids'
import { D1_MIGRATIONS } from '../../composition/migrations'
import { type Environment, parseConfig } from '../../config'
import { createAnalyzer } from '../../domain/search/analysis'
import type { Side } from './side'

/** Opens D1; also migrates the database to this release, as the Worker does with its first request. */
export async function openD1(db: D1Database, env: Environment, close: () => Promise<void>): Promise<Side> {
  const config = parseConfig(env)
  await migrateD1(db, D1_MIGRATIONS, config.indexedFields)
  return {
    backend: 'd1',
    connection: createD1Connection(db, createD1Dialect(createAnalyzer(config.fts.language))),
    columnsOf: (table) => sql`SELECT name FROM pragma_table_xinfo(${table}) WHERE hidden = 0`,
    highestId: highestEntryId,
    advanceIds: (id) => entryIds.entryIds.raise(id)[0] as SQL,
    tagRows: (ids) => sql`SELECT t.entry_id, t.tag FROM entries e CROSS JOIN json_each(e.tags) named
      CROSS JOIN entry_tags t ON t.org = e.org AND t.tag = named.value AND t.layer = e.layer
        AND t.project = coalesce(e.project, '') AND t.entry_id = e.id
      WHERE e.id IN ${ids}`,
    indexedIds: (ids) => sql`SELECT rowid AS id FROM entries_fts WHERE rowid IN ${ids}`,
    close,
  }
}

/** Opens PostgreSQL. Only `npm run migrate:postgres` migrates it; the first statement reports missing parts. */
export async function openPostgres(connectionString: string, schema: string, env: Environment): Promise<Side> {
  const { fts } = parseConfig(env)
  const dialect = createPostgresDialect(createAnalyzer(fts.language))
  const connection = createPostgresConnection({ connectionString, schema }, dialect)
  return {
    backend: 'postgresql',
    connection,
    // A trigger sets `is_indexed` according to the target.
    columnsOf: (table) =>
      sql`SELECT column_name AS name
        FROM information_schema.columns
        WHERE table_schema = current_schema() AND table_name = ${table} AND is_generated = 'NEVER'
        AND column_name <> 'is_indexed'`,
    highestId: sql`SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS id FROM entries_id_seq`,
    advanceIds: (id) =>
      sql`SELECT setval('entries_id_seq', greatest(${id}::bigint, CASE WHEN is_called THEN last_value ELSE 1 END)) FROM entries_id_seq`,
    tagRows: (ids) => sql`SELECT entry_id, tag FROM entry_tags WHERE entry_id IN ${ids}`,
    indexedIds: (ids) => sql`SELECT entry_id AS id FROM entries_fts WHERE entry_id IN ${ids}`,
    close: () => connection.close(),
  }
}
