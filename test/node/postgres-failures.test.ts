// Answers to callers when PostgreSQL is behind or slow, without loss. Wrong settings: test/worker/ready-postgres.
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { PRERELEASE_STORE } from '../../src/domain/prerelease.mjs'
import { CLIENTS, type TestClient } from '../support/clients'
import { type Furnishing, startPlace } from '../support/places'
import { emptyDatabase, freshDatabase, isRealServer, type TestDatabase } from '../support/postgres'
import { execute, migrateDatabase } from '../support/postgres-server'
import type { RunningServer } from '../support/server'

const connect = CLIENTS['SDK v2, revision 2025'] as NonNullable<(typeof CLIENTS)[string]>
const COMMAND = 'npm run migrate:postgres -- <url>'

/** Undone in the opposite order after each test. */
const undo: (() => Promise<unknown>)[] = []
afterEach(async () => {
  while (undo.length > 0) await undo.pop()?.()
})

async function database(make: () => Promise<TestDatabase>): Promise<TestDatabase> {
  const made = await make()
  undo.push(() => made.drop())
  return made
}

async function serve(
  url: string,
  vars: Record<string, string> = {},
  furnishing: Furnishing = {},
): Promise<RunningServer> {
  const server = await startPlace(vars, { ...furnishing, hyperdrive: url, fails: true })
  undo.push(() => server.stop())
  return server
}

async function client(server: RunningServer): Promise<TestClient> {
  const connected = await connect(server.url)
  undo.push(() => connected.close())
  return connected
}

/** The answer to any request while the server is not ready. */
async function heard(server: RunningServer): Promise<string> {
  const response = await fetch(new URL('/ready', server.url))
  const { error } = (await response.json()) as { error: { code: string; message: string; retryable: boolean } }
  expect([response.status, error?.code, error?.retryable]).toEqual([503, 'unavailable', true])
  expect(error.message).not.toMatch(/127\.0\.0\.1|localhost|select |:\d{4,5}/i)
  return error.message
}

const store = (by: TestClient, text: string) => by.call('store_context', { thread_id: 't', source: 'user', text })
const count = async (by: TestClient) => (await by.call('search_context')).data.total

describe('a server without its database names the setting to check', () => {
  it('when the schema is missing or behind, with the command to run', async () => {
    const { url } = await database(emptyDatabase)
    const server = await serve(url)
    expect(await heard(server)).toContain(COMMAND)
    await migrateDatabase(url)
    await execute(url, `DELETE FROM schema_migrations WHERE name LIKE '0001%'`)
    expect(await heard(server)).toMatch(
      /behind this release \(0001_initial\.sql\); run: npm run migrate:postgres -- <url>/,
    )
    await execute(url, `INSERT INTO schema_migrations (name, sha256, ms) VALUES ('0001_initial.sql', 'x', 0)`)
    expect((await fetch(new URL('/ready', server.url))).status).toBe(200)
  })

  it('when 1.0.0-rc.1 made the store, with the way to move it', async () => {
    const { url } = await database(freshDatabase)
    await execute(url, `UPDATE schema_migrations SET name = '0001_entries.sql' WHERE name = '0001_initial.sql'`)
    const response = await fetch(new URL('/ready', (await serve(url)).url))
    const { error } = (await response.json()) as { error: unknown }
    expect([response.status, error]).toEqual([
      503,
      { code: 'unavailable', message: PRERELEASE_STORE, retryable: false },
    ])
  })

  it('names as ahead the migrations of a newer release alone, no indexes of metadata', async () => {
    const ahead = async ({ url }: TestDatabase) => {
      const response = await fetch(new URL('/ready', (await serve(url)).url))
      return [response.status, ((await response.json()) as { ahead?: string[] }).ahead]
    }
    expect(await ahead(await database(freshDatabase))).toEqual([200, undefined])
    const newer = await database(freshDatabase)
    await execute(newer.url, `INSERT INTO schema_migrations (name, sha256, ms) VALUES ('0099_later.sql', 'x', 0)`)
    expect(await ahead(newer)).toEqual([200, ['0099_later.sql']])
  })

  it('when the extension is missing, unless an external index has the vectors', async () => {
    const { url } = await database(freshDatabase)
    const beside = await client(await serve(url))
    const alone = await client(await serve(url, {}, { vectors: false }))
    const ask = async (by: TestClient) => (await by.call('semantic_search_context', { query: 'before' })).data
    await store(beside, 'before')
    expect([(await ask(beside)).count, (await ask(alone)).count]).toEqual([1, 1])
    await execute(url, 'DROP EXTENSION vector CASCADE')
    expect((await ask(beside)).count).toBe(1)
    expect((await ask(alone)).error).toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/extension vector is missing/),
    })
    expect(await count(alone)).toBe(1)
  })
})

describe('a database that answers otherwise loses nothing', () => {
  let there: TestDatabase
  let server: RunningServer
  let by: TestClient
  beforeAll(async () => {
    there = await freshDatabase()
    server = await startPlace({}, { hyperdrive: there.url, fails: true })
    by = await connect(server.url)
  })
  afterAll(async () => {
    await by?.close()
    await server?.stop()
    await there?.drop()
  })

  it('when it is read-only or forbids the tables', async () => {
    const { url } = there
    const name = new URL(url).pathname.slice(1)
    await execute(url, `ALTER DATABASE ${name} SET default_transaction_read_only = on`)
    expect((await store(by, 'x')).data.error).toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/read-only/),
    })
    await execute(
      url,
      'SET default_transaction_read_only = off',
      `ALTER DATABASE ${name} RESET default_transaction_read_only`,
    )
    const before = await count(by)
    expect((await store(by, 'x')).isError).toBe(false)
    expect(await count(by)).toBe(before + 1)
  })

  it.skipIf(!isRealServer())('when a statement takes too long, or the session is ended under it', async () => {
    const { url } = there
    await store(by, 'before')
    const before = await count(by)
    const name = new URL(url).pathname.slice(1)
    await execute(url, `ALTER DATABASE ${name} SET statement_timeout = '300ms'`)
    const [blocker, killer] = [new Client({ connectionString: url }), new Client({ connectionString: url })]
    for (const one of [blocker, killer]) {
      await one.connect()
      undo.push(() => one.end())
    }
    await blocker.query('BEGIN; LOCK TABLE entries IN EXCLUSIVE MODE')
    const slow = await store(by, 'after')
    expect(slow.data.error).toMatchObject({
      code: 'unavailable',
      retryable: true,
      message: expect.stringMatching(/statement_timeout/),
    })
    await execute(url, `ALTER DATABASE ${name} RESET statement_timeout`)
    const waiting = store(by, 'after')
    for (;;) {
      // Outside of a transaction, which would see one state of the sessions only.
      const { rows } = await killer.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      )
      if (rows.length > 0) break
    }
    expect((await waiting).data.error).toMatchObject({ code: 'unavailable', retryable: true })
    await blocker.query('ROLLBACK')
    expect(await count(by)).toBe(before)
    expect((await store(by, 'after')).isError).toBe(false)
    expect(await count(by)).toBe(before + 1)
  })
})

describe('POSTGRESQL_SCHEMA', () => {
  it('keeps everything in that schema, apart from another in the same database', async () => {
    const { url } = await database(freshDatabase)
    await migrateDatabase(url, 'second')
    const first = await client(await serve(url))
    const second = await client(await serve(url, { POSTGRESQL_SCHEMA: 'second' }))
    await store(first, 'apples in the first')
    for (const text of ['apples in the second', 'pears in the second']) await store(second, text)
    const found = async (by: TestClient, tool: string) =>
      (await by.call(tool, { query: 'apples' })).data.results.map((hit: { text_content: string }) => hit.text_content)
    for (const tool of ['fts_search_context', 'hybrid_search_context'])
      expect([(await found(first, tool))[0], (await found(second, tool))[0]]).toEqual([
        'apples in the first',
        'apples in the second',
      ])
    expect([await count(first), await count(second)]).toEqual([1, 2])
    // Statements that compare vectors find the extension, which is in the schema of the first.
    const narrow = { query: 'apples', metadata: { of: 'nothing' } }
    expect((await second.call('semantic_search_context', narrow)).data.total).toBe(0)
    expect((await second.call('context_getCurrent', { currentFile: 'apples.ts' })).isError).toBe(false)
    await second.call('delete_context', { thread_id: 't' })
    expect([await count(first), await count(second)]).toEqual([1, 0])
  })
})
