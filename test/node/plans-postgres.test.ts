// Does any statement depend on what the planner happens to know? The same calls right after batches have filled the tables, of
// which it then knows nothing, and once it does: none walks a whole table, where the entries of all orgs stand.
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTeam, type Team } from '../support/access'
import { freshDatabase, isRealServer, type TestDatabase } from '../support/postgres'
import { execute } from '../support/postgres-server'
import { startServer } from '../support/server'

const TABLES = [
  'entries',
  'entries_fts',
  'entry_tags',
  'entry_vectors',
  'thread_counters',
  'changes',
  'links',
  'patterns',
  'layer_counters',
]
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
  ['grep_context', { pattern: 'number 17' }],
  ['grep_context', { pattern: 'number 1[79]', is_regex: true, tags: ['common'] }],
  ['read_context_range', { context_id: 5, start_line: 1 }],
]

describe.skipIf(!isRealServer())('statements of PostgreSQL', () => {
  let database: TestDatabase
  let team: Team
  let key: string

  /** Stores entries in batches, each org the same. */
  async function fill(key: string, project: object = {}): Promise<void> {
    for (let from = 0; from < ENTRIES; from += 100) {
      const entries = Array.from({ length: 100 }, (_, i) => ({
        thread_id: `thread ${(from + i) % 20}`,
        source: 'user',
        text: `turbine number ${from + i}`,
        tags: ['common'],
        metadata: { status: i % 2 ? 'todo' : 'done', ...project },
      }))
      await call(key, 'store_context_batch', { entries })
    }
  }
  async function call(key: string, tool: string, args: Record<string, unknown>): Promise<void> {
    const { data } = await team.call(key, tool, args)
    expect([tool, args, data?.error]).toEqual([tool, args, undefined])
  }

  beforeAll(async () => {
    database = await freshDatabase()
    for (const table of TABLES) await execute(database.url, `ALTER TABLE ${table} SET (autovacuum_enabled = false)`)
    team = await startTeam({}, (vars) => startServer(vars, database.url))
    ;({ key } = await team.key('ours'))
    await fill(key)
  }, 120_000)
  afterAll(async () => {
    await team.stop()
    await database.drop()
  })

  async function ask(text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
    const reader = new Client({ connectionString: database.url })
    await reader.connect()
    try {
      return (await reader.query(text, values)).rows
    } finally {
      await reader.end()
    }
  }

  /** What has been read of each table, as the server counts it once its sessions have ended. */
  async function reads(): Promise<{ walks: Record<string, number>; rows: number }> {
    const others = `SELECT 1 FROM pg_stat_activity WHERE application_name = 'commonplace' AND datname = current_database()`
    while ((await ask(others)).length > 0);
    const tables = await ask(
      `SELECT relname, seq_scan::integer, (seq_tup_read + coalesce(idx_tup_fetch, 0))::integer AS rows
        FROM pg_stat_user_tables WHERE relname = ANY ($1) ORDER BY relname`,
      [TABLES],
    )
    const indexes = await ask(
      `SELECT coalesce(sum(idx_tup_read), 0)::integer AS rows FROM pg_stat_user_indexes WHERE relname = ANY ($1)`,
      [TABLES],
    )
    return {
      walks: Object.fromEntries(tables.map(({ relname, seq_scan }) => [relname, Number(seq_scan)])),
      rows: [...tables, ...indexes].reduce((sum, { rows }) => sum + Number(rows), 0),
    }
  }

  /** What each call reads: rows of tables and of indexes. */
  async function readsOfCalls(calls = CALLS): Promise<number[]> {
    const all: number[] = []
    let before = await reads()
    for (const [tool, args] of calls) {
      await call(key, tool, args)
      const after = await reads()
      expect([tool, args, after.walks, after.rows > before.rows]).toEqual([tool, args, before.walks, true])
      all.push(after.rows - before.rows)
      before = after
    }
    return all
  }

  it('are planned with statistics of what batches have just stored', async () => {
    const rows = await ask(
      `SELECT relname FROM pg_class WHERE relname IN ('entries', 'entries_fts') AND reltuples < ${ENTRIES / 4}`,
    )
    expect(rows).toEqual([])
  })

  it('walk no table from end to end and read nothing of other orgs, whatever the planner knows of them', async () => {
    const states = { forgotten: FORGET, known: ['ANALYZE'] }
    const alone: Record<string, number[]> = {}
    for (const [state, prepare] of Object.entries(states)) {
      await execute(database.url, ...prepare)
      alone[state] = await readsOfCalls()
    }
    for (const org of ['older', 'newer']) await fill((await team.key(org)).key)
    for (const [state, prepare] of Object.entries(states)) {
      await execute(database.url, ...prepare)
      const beside = await readsOfCalls()
      const more = CALLS.map(([tool, args], i) => {
        const [before, after] = [alone[state]?.[i] as number, beside[i] as number]
        return { state, call: `${tool} ${JSON.stringify(args)}`, before, after }
      })
      expect(more.filter(({ before, after }) => after > 1.1 * before + 100)).toEqual([])
    }
  }, 240_000)

  it('read nothing of other projects where memories are listed, recalled by words or gathered for the moment in one', async () => {
    const calls: typeof CALLS = [
      ['context_list', { projectPath: 'ours', tags: ['common'] }],
      ['context_list', { projectPath: 'ours', type: 'code_pattern', tags: ['common'], offset: 40 }],
      ['context_list', { projectPath: 'ours', stats: true }],
      ['context_recall', { query: 'turbine', mode: 'keyword', filter: { projectPath: 'ours', tags: ['common'] } }],
      ['context_getCurrent', { projectPath: 'ours', currentFile: 'src/turbine.ts', currentCommand: 'npm test' }],
    ]
    await fill(key, { project: 'ours', kind: 'code_pattern' })
    await execute(database.url, 'ANALYZE')
    const before = await readsOfCalls(calls)
    for (let n = 0; n < 2; n++) await fill(key, { project: 'theirs', kind: 'code_pattern' })
    await execute(database.url, 'ANALYZE')
    const after = await readsOfCalls(calls)
    expect(after.filter((rows, i) => rows > 1.1 * (before[i] as number) + 100)).toEqual([])
    // What is listed by type or counted does not grow with its own project either.
    const lists: typeof CALLS = [
      ['context_list', { projectPath: 'ours', type: 'bug_fix', offset: 40 }],
      ['context_list', { projectPath: 'ours', stats: true }],
    ]
    const few = await readsOfCalls(lists)
    await fill(key, { project: 'ours', kind: 'decision' })
    expect((await readsOfCalls(lists)).filter((rows, i) => rows > (few[i] as number) + 20)).toEqual([])
  }, 240_000)
})
