// Measures the PostgreSQL cost of calls: trips, statements, buffers of our tables and indexes, rows, time. See README.md.
//   node bench/rows-postgres.mjs [--size 10000] [--only REGEX] [--calls 5] [--ref COMMIT] [--write]
import { parseArgs } from 'node:util'
import pg from 'pg'
import { casesFor } from './rows/cases.mjs'
import { entryAt } from './rows/corpus.mjs'
import { createClient } from './support/mcp.mjs'
import { markdownTable, percentile, short, thousands } from './support/numbers.mjs'
import { progress } from './support/progress.mjs'
import { circumstances, writeSection } from './support/results.mjs'
import { startServer } from './support/server.mjs'
import { createWorkspace } from './support/workspace.mjs'

const { values } = parseArgs({
  options: {
    size: { type: 'string', default: '10000' },
    only: { type: 'string', default: '' },
    calls: { type: 'string', default: '5' },
    port: { type: 'string', default: '18890' },
    ref: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
})
const [size, calls] = [Number(values.size), Number(values.calls)]
const wanted = new RegExp(values.only)
const BATCH = 100
/** Work after an answer counts for its call. */
const AFTERWARDS_MS = 100

/** A session reports its statistics when it ends, if not before, so those of the pooler are ended. */
const TELL = `SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`
/** Of our tables and indexes, so that what a session reads of the catalogue is not in it. */
const SO_FAR = `SELECT
    (SELECT sum(heap_blks_read + heap_blks_hit + coalesce(idx_blks_read + idx_blks_hit, 0)
        + coalesce(toast_blks_read + toast_blks_hit, 0) + coalesce(tidx_blks_read + tidx_blks_hit, 0)) FROM pg_statio_user_tables) AS buffers,
    (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes) AS entries,
    (SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) FROM pg_stat_user_tables) AS rows,
    (SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_user_tables) AS written`
const COUNTED = /** @type {const} */ (['buffers', 'entries', 'rows', 'written'])

const where = circumstances(values.ref)
const workspace = createWorkspace(values.ref)
const server = await startServer('pooled', {
  ...{ workspace, state: workspace.folder('state'), port: Number(values.port) },
  vars: { LOG_LEVEL: 'DEBUG', RATE_LIMIT_PER_MINUTE: '0' },
})
const client = createClient(server.origin)
const database = new pg.Client({ connectionString: server.database })
/** @type {Record<string, unknown>[]} */
let batches = []
server.onLog((event) => event.event === 'sql' && batches.push(event))

async function soFar() {
  await database.query(TELL)
  const { rows } = await database.query(SO_FAR)
  return COUNTED.map((name) => Number(rows[0][name]))
}

try {
  await database.connect()
  await database.query('ALTER SYSTEM SET autovacuum = off')
  await database.query('SELECT pg_reload_conf()')
  const bar = progress(`${thousands(size)} entries`, size)
  const ids = []
  for (let from = 0; from < size; from += BATCH) {
    const entries = Array.from({ length: BATCH }, (_, i) => entryAt(from + i, size))
    const { content } = await client.call('store_context_batch', { entries })
    ids.push(...content.results.map(({ context_id }) => context_id))
    bar.tick(BATCH)
  }
  bar.finish()
  for (let n = 0; n < 5; n++) await server.schedule?.()
  await database.query('VACUUM ANALYZE')
  const rows = []
  for (const { name, tool, args } of casesFor(size, ids).filter((one) => wanted.test(`${one.tool} ${one.name}`))) {
    // Twice, so that what an isolate asks only once is not counted.
    for (let n = 0; n < 2; n++) await client.call(tool, args(n))
    await new Promise((done) => setTimeout(done, AFTERWARDS_MS))
    const before = await soFar()
    batches = []
    const times = []
    // The first call opens a new session of the pooler, so it is not timed.
    for (let n = 0; n <= calls; n++) {
      const { ms } = await client.call(tool, args(10 + n))
      if (n > 0) times.push(ms)
    }
    await new Promise((done) => setTimeout(done, AFTERWARDS_MS))
    const after = await soFar()
    const statements = batches.reduce((sum, event) => sum + Number(event.statements), 0)
    rows.push([
      name,
      ...[batches.length, statements].map((count) => short(count / (calls + 1))),
      ...COUNTED.map((_, i) => thousands((Number(after[i]) - Number(before[i])) / (calls + 1))),
      short(percentile(times, 0.5)),
    ])
  }
  const report = `## Statements and buffers on PostgreSQL

${where}; through PgBouncer in transaction mode, one connection; ${thousands(size)} entries of 45 common words with two tags, a project and a status, after VACUUM
ANALYZE; the mean of ${calls + 1} calls, with what they do behind their answers. Buffers are pages of 8 KB of our tables and indexes that were touched, each time
that one was; rows those of tables, and entries those of indexes.

${markdownTable(['call', 'trips', 'statements', 'buffers', 'entries of indexes', 'rows read', 'rows written', 'p50 ms'], rows)}
`
  console.log(report)
  if (values.write) writeSection('rows-postgres', report)
} finally {
  client.close()
  await database.end()
  await server.stop()
  workspace.remove()
}
