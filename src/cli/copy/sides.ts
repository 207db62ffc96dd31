import { type SQL, sql } from 'drizzle-orm'
import { createD1Connection } from '../../adapters/d1/connection'
import { migrateD1 } from '../../adapters/d1/migrate'
import { createPostgresConnection } from '../../adapters/postgres/connection'
import { createPostgresDialect } from '../../adapters/postgres/dialect'
import type { SqlConnection } from '../../adapters/sql/core/connection'
import { createD1Dialect } from '../../adapters/sqlite/dialect'
import { highestEntryId } from '../../adapters/sqlite/entry-ids'
import { D1_MIGRATIONS } from '../../composition/migrations'
import { type Environment, parseConfig } from '../../config'
import { createAnalyzer, loadStemmer } from '../../domain/search/analysis'

/** A database that takes part in a copy, opened by the Worker's own adapters. */
export interface Side {
  readonly connection: SqlConnection
  /** The highest ID that an entry ever had, as `id`. */
  readonly highestId: SQL
  /** Statements that refresh the planner's statistics. */
  readonly analyze: readonly SQL[]
  close(): Promise<void>
}

/** Opens a D1 database and applies missing migrations, as the Worker does with its first request. */
export async function openD1(db: D1Database, env: Environment, close: () => Promise<void>): Promise<Side> {
  const config = parseConfig(env)
  await loadStemmer(config.fts.language)
  await migrateD1(db, D1_MIGRATIONS, config.indexedFields)
  return {
    connection: createD1Connection(db, createD1Dialect(createAnalyzer(config.fts.language))),
    highestId: highestEntryId,
    analyze: [],
    close,
  }
}

/** Opens a PostgreSQL database. `npm run migrate:postgres` updates its schema; the first statement fails where it did not run. */
export async function openPostgres(connectionString: string, schema: string, env: Environment): Promise<Side> {
  const { language } = parseConfig(env).fts
  await loadStemmer(language)
  const dialect = createPostgresDialect(createAnalyzer(language))
  const connection = createPostgresConnection({ connectionString, schema }, dialect)
  return {
    connection,
    highestId: sql`SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS id FROM entries_id_seq`,
    analyze: [sql`ANALYZE entries, entries_fts, entry_tags, entry_vectors, entry_versions, thread_counters`],
    close: () => connection.close(),
  }
}
