// Checks once in each isolate that the database has the schema of this Worker. The migration runner changes it.

import { sql } from 'drizzle-orm'
import { Problem, unavailable } from '../../domain/errors'
import { isPrerelease, PRERELEASE_STORE } from '../../domain/prerelease.mjs'
import type { EntryStore } from '../../ports/entry-store'
import { Batch, readOne, runOne } from '../sql/core/batch'
import type { SqlConnection } from '../sql/core/connection'
import { firstRow, strOrNull, textsOf } from '../sql/core/rows'
import { createPostgresSession, type PostgresOptions, quoted } from './connection'
import { MIGRATE } from './errors'
import { FIELDS } from './indexed-fields.mjs'

/** Schemas that this isolate has found up to date. */
const ready = new Map<string, Promise<readonly string[]>>()

async function check(options: PostgresOptions, names: readonly string[]): Promise<readonly string[]> {
  const connection = createPostgresSession(options)
  try {
    const applied = await readOne(
      connection,
      sql`SELECT name FROM ${sql.raw(quoted(options.schema))}.schema_migrations`,
      textsOf('name'),
    )
    if (isPrerelease(applied)) throw new Problem('unavailable', PRERELEASE_STORE, { retryable: false })
    const missing = names.filter((name) => !applied.includes(name))
    if (missing.length > 0)
      throw unavailable(`The PostgreSQL schema is behind this release (${missing.join(', ')}); run: ${MIGRATE}`)
    return [...applied].filter((name) => !names.includes(name) && !name.startsWith(FIELDS))
  } finally {
    await connection.close()
  }
}

/**
 * Checks the schema.
 *
 * @param names of the migrations that this release needs
 * @returns applied migrations that this release does not know: a newer release was here
 * @throws Problem unavailable that names the command to run, when the schema is missing, outdated, or from 1.0.0-rc.1
 */
export async function checkPostgresSchema(
  options: PostgresOptions,
  names: readonly string[],
): Promise<readonly string[]> {
  const key = `${options.connectionString}\n${options.schema}`
  let known = ready.get(key)
  if (known === undefined) {
    known = check(options, names)
    ready.set(key, known)
    known.catch(() => ready.delete(key))
  }
  return known
}

const TABLES = ['entries', 'entries_fts', 'entry_tags', 'entry_vectors', 'thread_counters']
/** Minimum number of stored entries for a check of the table sizes. */
const LARGE = 50

/**
 * Analyzes the tables that have more than doubled since the last time: often while a database is filled, never afterwards. The size of a
 * table is known immediately, unlike the statistics of autovacuum, which may also be turned off.
 */
async function analyzeGrown(connection: SqlConnection): Promise<void> {
  const grown = await runOne(
    connection,
    sql`SELECT string_agg(quote_ident(relname), ', ') AS grown FROM pg_class
      WHERE relnamespace = current_schema()::regnamespace AND relname = ANY (string_to_array(${TABLES.join(' ')}, ' '))
        AND pg_relation_size(oid) / current_setting('block_size')::integer > 2 * greatest(relpages, 0) + 8`,
    firstRow((row) => strOrNull(row, 'grown')),
  )
  if (grown) await new Batch(sql`ANALYZE ${sql.raw(grown)}`).run(connection)
}

/** Wraps a store to analyze grown tables after large batches, when the caller has its response. */
export const analyzingGrown = (
  store: EntryStore,
  connection: SqlConnection,
  afterwards: (work: Promise<unknown>) => void,
): EntryStore => ({
  ...store,
  save: async (...batch) => {
    const saved = await store.save(...batch)
    if (saved.length >= LARGE) afterwards(analyzeGrown(connection))
    return saved
  },
})
