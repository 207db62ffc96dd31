// Migrates a PostgreSQL database to the schema of this release. Numbered files, each in one transaction together with its
// row in the journal. Every transaction takes the same lock first, and the session holds no state, so several
// runners can run at once, also through a pooler.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isPrerelease, PRERELEASE_STORE } from '../../domain/prerelease.mjs'
import { explain, Failure } from './connect.mjs'

/** Two numbers that identify this program's advisory locks in a database; the second is the schema. */
const LOCK = 0x63_6f_6d_6d

const MINIMUM = { server: 150_000, vector: [0, 8] }

/**
 * @typedef {object} Migration
 * @property {string} name
 * @property {string} sql
 * @property {string} [replaces] journal names with this prefix belong to older versions of the same migration
 *
 * @typedef {object} Options
 * @property {string} schema
 * @property {Record<string, string>} [settings] values that the files read with current_setting('commonplace.…')
 * @property {boolean} [dryRun]
 * @property {number} [patience] milliseconds to wait for another runner
 * @property {(line: string) => void} say
 */

const sha256 = (text) => createHash('sha256').update(text).digest('hex')
const quoted = (name) => `"${name.replaceAll('"', '""')}"`
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** Returns the numbered files of a folder, in order. @returns {Migration[]} */
export const readMigrations = (folder) =>
  readdirSync(folder)
    .filter((name) => /^\d{4}_\w+\.sql$/.test(name))
    .sort()
    .map((name) => ({ name, sql: readFileSync(join(folder, name), 'utf8') }))

/** Checks the server and its extension. @returns its properties, or throws why it cannot be used */
async function inspect(client) {
  const { rows } = await client.query(`
    SELECT current_setting('server_version') AS server, current_setting('server_version_num')::int AS number,
      (SELECT default_version FROM pg_available_extensions WHERE name = 'vector') AS available,
      (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS installed,
      (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace WHERE extname = 'vector') AS home,
      EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = 'extensions') AS has_extensions`)
  const [found] = rows
  if (found.number < MINIMUM.server)
    throw new Failure(`This is PostgreSQL ${found.server}; Commonplace needs 15 or newer.`)
  const old = (version) => {
    const [major, minor] = version.split('.').map(Number)
    return major === MINIMUM.vector[0] && minor < MINIMUM.vector[1]
  }
  const advice = 'Commonplace needs 0.8 or newer; install it on the server (github.com/pgvector/pgvector).'
  if (found.installed === null && found.available === null)
    throw new Failure(`The server has no extension "vector" (pgvector). ${advice}`)
  if (found.installed !== null && old(found.installed))
    throw new Failure(
      old(found.available ?? '0.0')
        ? `The extension "vector" is ${found.installed}. ${advice}`
        : `The extension "vector" is ${found.installed}; run ALTER EXTENSION vector UPDATE in this database.`,
    )
  if (found.installed === null && old(found.available))
    throw new Failure(`The extension "vector" is ${found.available}. ${advice}`)
  return found
}

/** Runs work in a transaction, alone among runners of the schema. Polls for the lock, since a waiting query holds a snapshot. */
async function exclusively(client, { schema, patience = 60_000, say }, work) {
  const deadline = Date.now() + patience
  for (let waited = false; ; waited = true) {
    await client.query('BEGIN')
    try {
      const { rows } = await client.query('SELECT pg_try_advisory_xact_lock($1, hashtext($2)) AS mine', [LOCK, schema])
      if (rows[0].mine) {
        const result = await work()
        await client.query('COMMIT')
        return result
      }
      await client.query('ROLLBACK')
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {})
      throw error
    }
    if (Date.now() > deadline)
      throw new Failure('Another migration of this schema is still running; try again when it has ended.')
    if (!waited) say('  another migration is running; waiting for it …')
    await pause(100)
  }
}

async function readJournal(client, schema) {
  const { rows } = await client.query(
    `SELECT array_agg(attname::text) AS columns FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0`,
    [`${quoted(schema)}.schema_migrations`],
  )
  const columns = rows[0].columns
  if (columns === null) return new Map()
  if (!columns.includes('sha256'))
    throw new Failure(
      `${schema}.schema_migrations belongs to another program; choose another schema with POSTGRESQL_SCHEMA.`,
    )
  const journal = await client.query(`SELECT name, sha256 FROM ${quoted(schema)}.schema_migrations`)
  return new Map(journal.rows.map(({ name, sha256 }) => [name, sha256]))
}

/** Creates the schema, the extension and the journal, which the files need. */
async function prepare(client, { home, has_extensions }, { schema }) {
  if (home === null)
    await client.query(`CREATE EXTENSION IF NOT EXISTS vector SCHEMA ${has_extensions ? 'extensions' : 'public'}`)
  const { rowCount } = await client.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema])
  if (rowCount === 0) await client.query(`CREATE SCHEMA ${quoted(schema)}`)
  await client.query(
    `CREATE TABLE IF NOT EXISTS ${quoted(schema)}.schema_migrations (name text PRIMARY KEY, sha256 text NOT NULL, ms ` +
      'int NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())',
  )
}

/** Returns whether a file was applied; a changed file is refused, one that replaces an older version is applied again. */
/** @param {Map<string, string>} journal @param {Migration} migration */
function isApplied(journal, { name, sql, replaces }) {
  const recorded = journal.get(name)
  if (recorded === undefined || recorded === sha256(sql)) return recorded !== undefined
  if (replaces === undefined)
    throw new Failure(`${name} was edited after it was applied; restore it, and make the change in a new file.`)
  return false
}

/**
 * @param {import('pg').Client} client
 * @param {{ home: string }} extension
 * @param {Options} options
 * @param {Migration} migration
 */
async function apply(client, { home }, options, { name, sql, replaces }) {
  const { schema, settings } = options
  const started = performance.now()
  const path = [quoted(schema), home, 'public'].filter((part, i, all) => part && all.indexOf(part) === i)
  const local = { search_path: path.join(', '), lock_timeout: '10s', statement_timeout: '0', ...settings }
  for (const [setting, value] of Object.entries(local))
    await client.query('SELECT set_config($1, $2, true)', [setting, value])
  try {
    if (sql.trim() !== '') await client.query(sql)
  } catch (error) {
    const place = error.position ? ` (line ${sql.slice(0, Number(error.position)).split('\n').length})` : ''
    throw new Failure(`${name}${place}: ${error.message}. The file was not applied.`, { cause: error })
  }
  const journal = `${quoted(schema)}.schema_migrations`
  if (replaces) await client.query(`DELETE FROM ${journal} WHERE starts_with(name, $1)`, [replaces])
  const ms = Math.round(performance.now() - started)
  await client.query(`INSERT INTO ${journal} (name, sha256, ms) VALUES ($1, $2, $3)`, [name, sha256(sql), ms])
  return ms
}

/** Updates the planner's statistics, since a new column or index has none. */
async function analyze(client, schema) {
  const { rows } = await client.query(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
     WHERE schemaname = $1 AND pg_has_role(tableowner, 'USAGE')`,
    [schema],
  )
  if (rows.length > 0) await client.query(`ANALYZE ${rows.map(({ name }) => name).join(', ')}`)
}

/**
 * Migrates the schema to this release.
 *
 * @param {import('pg').Client} client
 * @param {readonly Migration[]} migrations
 * @param {Options} options
 * @returns {Promise<{ applied: string[], before: number, unknown: string[] }>}
 */
export async function migrate(client, migrations, options) {
  const { schema, dryRun = false, say } = options
  const found = await inspect(client)
  say(`PostgreSQL ${found.server}, vector ${found.installed ?? `${found.available} (to be created)`}, schema ${schema}`)
  const journal = await readJournal(client, schema)
  if (isPrerelease(journal.keys())) throw new Failure(`${PRERELEASE_STORE}.`)
  const unknown = [...journal.keys()].filter(
    (name) => /^\d/.test(name) && !migrations.some((known) => known.name === name),
  )
  if (unknown.length > 0) say(`  applied by another release, not changed: ${unknown.join(', ')}`)
  const missing = migrations.filter((migration) => !isApplied(journal, migration))
  const applied = []
  if (!dryRun && missing.length > 0) {
    // The extension belongs to the database, so runners of all schemas wait for each other here.
    await exclusively(client, { ...options, schema: '' }, () => prepare(client, found, options)).catch((error) => {
      throw explain(error, `Preparing the schema ${schema}`)
    })
    const { home } = await inspect(client)
    for (const migration of missing)
      await exclusively(client, options, async () => {
        // Another runner may have been faster.
        if (isApplied(await readJournal(client, schema), migration)) return
        const ms = await apply(client, { home }, options, migration)
        applied.push(migration.name)
        say(`  applied ${migration.name}  ${ms} ms`)
      })
    if (applied.length > 0) await analyze(client, schema)
  }
  if (dryRun) for (const { name } of missing) say(`  would apply ${name}`)
  return {
    applied: dryRun ? missing.map(({ name }) => name) : applied,
    before: migrations.length - missing.length,
    unknown,
  }
}
