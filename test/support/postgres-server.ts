// Selects the PostgreSQL of a test run: PG_URL if given; else a real one that the project installs; else, outside CI,
// PGlite, with a notice. A template database is migrated once; tests get copies of it (postgres.ts).
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { Client } from 'pg'
import type { TestProject } from 'vitest/node'
import { ROOT } from './build'

export interface PostgresForTests {
  /** PGlite is one session with C collation, so it cannot show locks, isolation or order. */
  readonly kind: 'real' | 'pglite'
  /** URL of the server's own database, which creates the others. */
  readonly url: string
  /** The same server through pgbouncer in transaction mode; null without one. */
  readonly pooledUrl: string | null
  /** A migrated database without connections; empty on PGlite, which has one database. */
  readonly template: string
}

declare module 'vitest' {
  interface ProvidedContext {
    /** Present in runs with a test that needs it. */
    postgres: PostgresForTests
  }
}

interface SpawnedServer {
  readonly url: string
  readonly pooledUrl?: string
  /** Of the process that holds the server. */
  readonly pid: number
  stop(): Promise<void>
}

/** Runs `scripts/postgres.mjs` as a child that always ends with this process. */
export async function spawnServer(...args: string[]): Promise<SpawnedServer> {
  const script = (await import(`${ROOT}scripts/postgres.mjs`)) as {
    spawnServer(...args: string[]): Promise<SpawnedServer>
  }
  return script.spawnServer(...args)
}

/** Applies the migrations of this checkout like a user. */
export async function migrateDatabase(url: string, schema = 'public'): Promise<void> {
  const args = [`${ROOT}src/cli/migrate-postgres.mjs`, url, '--schema', schema]
  const run = promisify(execFile)(process.execPath, args, { cwd: ROOT })
  await run.catch((error: { stderr: string }) => {
    throw new Error(`The migrations failed: ${error.stderr}`)
  })
}

export function withDatabase(url: string, database: string): string {
  const other = new URL(url)
  other.pathname = `/${database}`
  return other.href
}

/** Runs statements that cannot be in a transaction, such as CREATE DATABASE. */
export async function execute(url: string, ...statements: string[]): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

interface Running {
  readonly postgres: PostgresForTests
  stop(): Promise<void>
}

/** Deletes databases named after the template of a run, because some test processes end without deleting theirs. */
async function dropDatabases(url: string, template: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query('SELECT datname FROM pg_database WHERE starts_with(datname, $1)', [template])
  for (const { datname } of rows) await client.query(`DROP DATABASE IF EXISTS ${datname} WITH (FORCE)`)
  await client.end()
}

async function startReal(server: Omit<SpawnedServer, 'pid'>): Promise<Running> {
  const run = randomUUID().slice(0, 8)
  const template = `template_${run}`
  const stop = async () => {
    if (process.env.PG_URL) await dropDatabases(server.url, template)
    await server.stop()
  }
  try {
    await execute(server.url, `CREATE DATABASE ${template}`)
    await migrateDatabase(withDatabase(server.url, template))
  } catch (error) {
    await stop()
    throw error
  }
  return {
    postgres: {
      kind: 'real',
      url: server.url,
      pooledUrl: server.pooledUrl ?? null,
      template,
    },
    stop,
  }
}

async function startPglite(reason: string): Promise<Running> {
  const notice = [
    '⚠ No PostgreSQL could be started, so its tests played against PGlite;',
    '  those about locks, isolation, crashes and collation were SKIPPED.',
    `  ${reason}`,
    '  Set PG_URL to a server with pgvector 0.8 to run them all.',
  ].join('\n')
  console.warn(`\n${notice}\n`)
  // Repeated at the end by scripts/test.mjs, because the start of a long run is rarely read.
  const { COMMONPLACE_TEST_NOTES: notes } = process.env
  if (notes) writeFileSync(notes, `${notice}\n`)
  const server = await spawnServer('pglite')
  await migrateDatabase(server.url)
  return {
    postgres: { kind: 'pglite', url: server.url, pooledUrl: null, template: '' },
    stop: () => server.stop(),
  }
}

async function start(): Promise<Running> {
  const { PG_URL, PG_POOLED_URL, CI } = process.env
  if (PG_URL) {
    const pooled = PG_POOLED_URL ? { pooledUrl: PG_POOLED_URL } : {}
    return startReal({ url: PG_URL, ...pooled, stop: async () => {} })
  }
  let server: SpawnedServer
  try {
    server = await spawnServer('serve', '--pgbouncer')
  } catch (error) {
    if (CI) throw error
    return startPglite((error as Error).message.split('\n')[0] as string)
  }
  return startReal(server)
}

/** One server for all projects of a run, shared in the process, because each loads this module. */
const shared = globalThis as { commonplacePostgres?: { running: Promise<Running>; users: number } }

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  shared.commonplacePostgres ??= { running: start(), users: 0 }
  const use = shared.commonplacePostgres
  use.users++
  const { postgres, stop } = await use.running
  project.provide('postgres', postgres)
  return async () => {
    if (--use.users > 0) return
    delete shared.commonplacePostgres
    await stop()
  }
}
