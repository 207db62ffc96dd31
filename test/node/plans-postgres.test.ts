// Does any statement depend on what the planner happens to know? The same calls right after batches have filled the tables, of
// which it then knows nothing, and once it does: none walks a whole table, where the entries of all orgs stand.
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CLIENTS, type TestClient } from '../support/clients'
import { freshDatabase, isRealServer, type TestDatabase } from '../support/postgres'
import { execute } from '../support/postgres-server'
import { type RunningServer, startServer } from '../support/server'

const connect = CLIENTS['SDK v2, revision 2025'] as NonNullable<(typeof CLIENTS)[string]>
const TABLES = ['entries', 'entries_fts', 'entry_tags', 'entry_vectors', 'thread_counters', 'changes', 'links']
const ENTRIES = 1_000

/** As if nobody had ever analysed a table. */
const FORGET = [
  `DELETE FROM pg_statistic WHERE starelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace)`,
  `UPDATE pg_class SET reltuples = -1, relpages = 0 WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'i')`,
]

const CALLS: readonly [tool: string, args: Record<string, unknown>][] = [
  ['search_context', {}],
  ['search_context', { thread_id: 'thread 3' }],
  ['search_context', { tags: ['common'] }],
  ['search_context', { metadata: { status: 'todo' } }],
  ['fts_search_context', { query: 'turbine number' }],
  ['fts_search_context', { query: 'turbine number', thread_id: 'thread 3' }],
  ['fts_search_context', { query: 'turbine number', tags: ['common'] }],
  ['fts_search_context', { query: 'turb numb', mode: 'prefix' }],
  ['fts_search_context', { query: 'turbine number', mode: 'phrase' }],
  ['fts_search_context', { query: 'NOT glacier', mode: 'boolean' }],
  ['semantic_search_context', { query: 'turbine' }],
  ['semantic_search_context', { query: 'turbine', tags: ['common'] }],
  ['hybrid_search_context', { query: 'turbine number' }],
  ['get_context_by_ids', { context_ids: [1, 2, 3] }],
  ['list_threads', {}],
]

describe.skipIf(!isRealServer())('statements of PostgreSQL', () => {
  let database: TestDatabase
  let server: RunningServer
  let client: TestClient

  beforeAll(async () => {
    database = await freshDatabase()
    for (const table of TABLES) await execute(database.url, `ALTER TABLE ${table} SET (autovacuum_enabled = false)`)
    server = await startServer({}, database.url)
    client = await connect(server.url)
    for (let from = 0; from < ENTRIES; from += 100) {
      const entries = Array.from({ length: 100 }, (_, i) => ({
        thread_id: `thread ${(from + i) % 20}`,
        source: 'user',
        text: `turbine number ${from + i}`,
        tags: ['common'],
        metadata: { status: i % 2 ? 'todo' : 'done' },
      }))
      await client.call('store_context_batch', { entries })
    }
  }, 120_000)
  afterAll(async () => {
    await client.close()
    await server.stop()
    await database.drop()
  })

  /** How often each table has been walked from end to end, as the server counts it once its sessions have ended. */
  async function walks(): Promise<Record<string, number>> {
    const reader = new Client({ connectionString: database.url })
    await reader.connect()
    try {
      const others = `SELECT count(*)::integer AS open FROM pg_stat_activity WHERE application_name = 'commonplace' AND datname = current_database()`
      while ((await reader.query(others)).rows[0].open > 0);
      const { rows } = await reader.query(
        'SELECT relname, seq_scan::integer FROM pg_stat_user_tables WHERE relname = ANY ($1) ORDER BY relname',
        [TABLES],
      )
      return Object.fromEntries(rows.map(({ relname, seq_scan }) => [relname, seq_scan]))
    } finally {
      await reader.end()
    }
  }

  it('are planned with statistics of what batches have just stored', async () => {
    const client = new Client({ connectionString: database.url })
    await client.connect()
    try {
      const { rows } = await client.query(
        `SELECT relname FROM pg_class WHERE relname IN ('entries', 'entries_fts') AND reltuples < ${ENTRIES / 4}`,
      )
      expect(rows).toEqual([])
    } finally {
      await client.end()
    }
  })

  it.each([
    ['knows nothing of the tables', FORGET],
    ['knows them', ['ANALYZE']],
  ])('walk no table from end to end when the planner %s', { timeout: 120_000 }, async (_, prepare) => {
    await execute(database.url, ...prepare)
    const before = await walks()
    for (const [tool, args] of CALLS) {
      const result = await client.call(tool, args)
      expect([tool, args, result.isError ?? false]).toEqual([tool, args, false])
    }
    expect(await walks()).toEqual(before)
  })
})
