// A separate PostgreSQL database for a test in Node, migrated or empty, which is deleted afterwards.
import { randomUUID } from 'node:crypto'
import { inject } from 'vitest'
import { execute, migrateDatabase, spawnServer, withDatabase } from './postgres-server'

export interface TestDatabase {
  /** Direct. */
  readonly url: string
  /** Through pgbouncer in transaction mode; null without one (PGlite, or PG_URL without PG_POOLED_URL). */
  readonly pooledUrl: string | null
  drop(): Promise<void>
}

/** Whether locks, isolation, collation and several databases can be tested: `describe.skipIf(!isRealServer())`. */
export const isRealServer = (): boolean => inject('postgres').kind === 'real'

/** Of the server's own database. */
export const postgresUrl = (): string => inject('postgres').url

async function create(template: string | null): Promise<TestDatabase> {
  const { url, pooledUrl, template: ofRun } = inject('postgres')
  const name = `${ofRun}_${randomUUID().replaceAll('-', '')}`
  await execute(url, `CREATE DATABASE ${name}${template === null ? '' : ` TEMPLATE ${template}`}`)
  return {
    url: withDatabase(url, name),
    pooledUrl: pooledUrl === null ? null : withDatabase(pooledUrl, name),
    drop: () => execute(url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  }
}

/** PGlite has one database, so each test gets its own PGlite. */
async function createPglite(migrated: boolean): Promise<TestDatabase> {
  const server = await spawnServer('pglite')
  if (migrated) await migrateDatabase(server.url)
  return { url: server.url, pooledUrl: null, drop: () => server.stop() }
}

/** A database with the schema of this checkout and no rows. */
export const freshDatabase = (): Promise<TestDatabase> =>
  isRealServer() ? create(inject('postgres').template) : createPglite(true)

const nameOf = ({ url }: TestDatabase): string => new URL(url).pathname.slice(1)

/**
 * Ends open connections of the pooler, because the server cannot copy a database with sessions, and waits for their
 * end.
 */
export const endSessions = (of: TestDatabase): Promise<void> =>
  execute(postgresUrl(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${nameOf(of)}'`)

/** Copies a database with its planner statistics; it must have no connections. Real servers only. */
export const copyDatabase = (of: TestDatabase): Promise<TestDatabase> => create(nameOf(of))

/** Restores a database from a copy. */
export async function restoreDatabase(database: TestDatabase, from: TestDatabase): Promise<void> {
  await database.drop()
  await execute(postgresUrl(), `CREATE DATABASE ${nameOf(database)} TEMPLATE ${nameOf(from)}`)
}

/** An empty database. */
export const emptyDatabase = (): Promise<TestDatabase> => (isRealServer() ? create(null) : createPglite(false))
