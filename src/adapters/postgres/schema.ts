// Is the database at the schema this Worker was built with? Asked once per isolate; changing it is the migration runner's work.

import { sql } from 'drizzle-orm'
import { Problem, unavailable } from '../../domain/errors'
import { isPrerelease, PRERELEASE_STORE } from '../../domain/prerelease.mjs'
import { readOne } from '../sql/core/batch'
import { textsOf } from '../sql/core/rows'
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
