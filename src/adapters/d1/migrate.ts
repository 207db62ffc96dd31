import { Problem } from '../../domain/errors'
import { isPrerelease, PRERELEASE_STORE } from '../../domain/prerelease.mjs'
import { FIELDS, fieldIndexes, type IndexedField, type Migration, splitStatements } from '../sqlite/migrations'
import { LocalFault, translate } from './errors'

/**
 * Migrates a D1 database to the schema of this Worker. The journal is wrangler's (`d1_migrations`), so that `wrangler d1 migrations apply`
 * and this function agree on the applied migrations.
 */
const JOURNAL = `CREATE TABLE IF NOT EXISTS d1_migrations (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT UNIQUE,
    applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
  )`

/** Finds tables of another program in a database without a journal. */
const OTHERS = `SELECT name FROM sqlite_schema
  WHERE type = 'table' AND name <> 'd1_migrations' AND name NOT GLOB '_cf_*' AND name NOT GLOB 'sqlite_*' LIMIT 1`

/** Translates D1 failures as for every call. The caller's own work has not begun. */
async function answered<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    throw translate(error, false)
  }
}

/** @param isNew is called for a database without tables, and may refuse it */
async function applied(db: D1Database, isNew: () => Promise<void> = async () => {}): Promise<Set<string>> {
  try {
    const [rows] = await db.batch<{ name: string }>([db.prepare('SELECT name FROM d1_migrations ORDER BY id')])
    return new Set(rows?.results.map(({ name }) => name))
  } catch (error) {
    if (!/no such table/i.test(String(error))) throw translate(error, false)
  }
  const [others] = await answered(db.batch([db.prepare(OTHERS)]))
  if (others?.results.length !== 0) throw new LocalFault('foreign')
  await isNew()
  await answered(db.batch([db.prepare(JOURNAL)]))
  return new Set()
}

/** Applies a migration and its journal row in one transaction; another runner that was faster is not an error. */
async function apply(db: D1Database, { name, sql }: Migration, before: readonly string[] = []): Promise<void> {
  try {
    await db.batch(
      [...before, ...splitStatements(sql)]
        .map((statement) => db.prepare(statement))
        .concat(db.prepare('INSERT INTO d1_migrations (name) VALUES (?)').bind(name)),
    )
  } catch (error) {
    if ((await applied(db)).has(name)) return
    const problem = translate(error, false)
    throw problem instanceof Problem ? problem : new Error(`migration ${name} failed`, { cause: error })
  }
}

async function applyFieldIndexes(db: D1Database, fields: readonly IndexedField[], done: Set<string>): Promise<void> {
  const migration = fieldIndexes(fields)
  const latest = [...done].filter((name) => name.startsWith(FIELDS)).at(-1)
  if (latest === migration.name) return
  const { results } = await answered(
    db
      .prepare(`SELECT name FROM sqlite_schema WHERE type = 'index' AND name GLOB 'entries_meta_*'`)
      .all<{ name: string }>(),
  )
  const drops = results.map(({ name }) => `DROP INDEX IF EXISTS ${name}`)
  await apply(db, migration, [...drops, `DELETE FROM d1_migrations WHERE name GLOB '${FIELDS}*'`])
}

/**
 * Applies pending migrations; idempotent, and safe to call concurrently. The first call of every isolate: one query when nothing is
 * pending.
 *
 * @param isNew is called for a database without tables before any is created, and may throw
 * @returns applied migrations that this release does not know: a newer release was here
 * @throws Problem unavailable for a database of 1.0.0-rc.1; as every call of the database
 */
export async function migrateD1(
  db: D1Database,
  migrations: readonly Migration[],
  fields: readonly IndexedField[],
  isNew?: () => Promise<void>,
): Promise<readonly string[]> {
  const done = await applied(db, isNew)
  if (isPrerelease(done)) throw new Problem('unavailable', PRERELEASE_STORE, { retryable: false })
  const known = new Set(migrations.map(({ name }) => name))
  for (const migration of migrations) if (!done.has(migration.name)) await apply(db, migration)
  await applyFieldIndexes(db, fields, done)
  return [...done].filter((name) => !known.has(name) && !name.startsWith(FIELDS))
}
