// Is the database at the schema this Worker was built with? Asked once per isolate; changing it is the migration runner's work.

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

/** Schemas that this isolate has seen up to date. */
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
 * @param names of the migrations this release needs
 * @returns migrations of the database that are not among these: a newer release was here
 * @throws Problem unavailable that names the command to run, when the schema is missing or behind, or for a store of 1.0.0-rc.1
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
/** Entries stored at once from which on it is worth a look. */
const LARGE = 50

/**
 * Has the tables analysed that have more than doubled since they last were: so often while a store is filled, and never
 * afterwards. The size of a table is known at once, unlike the counts by which autovacuum goes, which may also be off.
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

/** A store that takes stock after large batches, when its caller has the answer. */
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
