// `npm run bench -- history`: measures the cost of versions, receipts and the feed for a write, in milliseconds and
// bytes, side by side with HISTORY_DAYS=0: two servers that differ only in that, called in alternation. See README.md.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { entryAt } from './load/corpus.mjs'
import { createClient } from './support/mcp.mjs'
import { markdownTable, percentile, short, thousands } from './support/numbers.mjs'
import { circumstances, writeSection } from './support/results.mjs'
import { startServer } from './support/server.mjs'
import { createWorkspace } from './support/workspace.mjs'

const { values } = parseArgs({
  options: {
    targets: { type: 'string', default: 'workerd,pooled' },
    size: { type: 'string', default: '2000' },
    calls: { type: 'string', default: '150' },
    port: { type: 'string', default: '18820' },
    write: { type: 'boolean', default: false },
  },
})
const size = Number(values.size)
const calls = Number(values.calls)
/** Three ports per server. */
const PORTS = 3
const BATCH = 100
/** Tables of the history, and tables that every write fills. */
const TABLES = ['entry_versions', 'long_texts', 'receipts', 'changes', 'entries']

const spread = (times) => `${short(percentile(times, 0.5))} / ${short(percentile(times, 0.95))}`

/** The measured writes, by entry. @type {[name: string, tool: string, args: (i: number) => Record<string, unknown>][]} */
const WRITES = [
  ['store_context', 'store_context', (i) => entryAt(size + i, size)],
  ['update_context: text', 'update_context', (i) => ({ context_id: i + 1, text: entryAt(2 * size + i, size).text })],
  ['update_context: metadata_patch', 'update_context', (i) => ({ context_id: i + 1, metadata_patch: { n: i } })],
  ['update_context: tags', 'update_context', (i) => ({ context_id: i + 1, tags: [`t${i}`] })],
  ['delete_context', 'delete_context', (i) => ({ context_ids: [calls * 2 + i + 1] })],
]

/** Bytes and rows of a table with its indexes. */
async function sizesOf(target, state, database) {
  if (target === 'workerd') {
    const [file] = readdirSync(join(state, 'd1'), { recursive: true })
      .map(String)
      .filter((name) => name.endsWith('.sqlite') && !name.includes('metadata'))
    const db = new DatabaseSync(join(state, 'd1', String(file)), { readOnly: true })
    const owned = db.prepare(
      `SELECT coalesce(sum(s.pgsize), 0) AS bytes FROM dbstat s JOIN sqlite_schema m ON m.name = s.name WHERE m.tbl_name = ?`,
    )
    const sizes = TABLES.map((table) => [
      table,
      {
        bytes: Number(owned.get(table)?.bytes),
        rows: Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n),
      },
    ])
    db.close()
    return Object.fromEntries(sizes)
  }
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  const one = async (text) => Number(Object.values((await client.query(text)).rows[0] ?? {})[0])
  const sizes = []
  for (const table of TABLES) {
    const bytes = await one(`SELECT pg_total_relation_size('${table}')`)
    sizes.push([table, { bytes, rows: await one(`SELECT count(*) FROM ${table}`) }])
  }
  await client.end()
  return Object.fromEntries(sizes)
}

const where = circumstances()
const workspace = createWorkspace()

async function measure(target, port) {
  const states = ['on', 'off'].map((name) => workspace.folder(`${target}-${name}`))
  const servers = []
  for (const [i, state] of states.entries()) {
    const vars = { LOG_LEVEL: 'ERROR', RATE_LIMIT_PER_MINUTE: '0', HISTORY_DAYS: i === 0 ? '30' : '0' }
    servers.push(await startServer(target, { workspace, state, port: port + i * PORTS, vars }))
  }
  const clients = servers.map(({ origin }) => createClient(origin))
  const rows = []
  try {
    for (const client of clients)
      for (let i = 0; i < size; i += BATCH)
        await client.call('store_context_batch', {
          entries: Array.from({ length: BATCH }, (_, n) => entryAt(i + n, size)),
        })
    for (const [name, tool, args] of WRITES) {
      /** @type {{ on: number[], off: number[], keyed: number[] }} */
      const times = { on: [], off: [], keyed: [] }
      for (let i = 0; i < calls; i++) {
        const keyed = i + calls
        times.on.push((await clients[0].call(tool, args(i))).ms)
        times.off.push((await clients[1].call(tool, args(i))).ms)
        times.keyed.push(
          (await clients[0].call(tool, { ...args(keyed), idempotency_key: `${name.replace(/\W/g, '')}-${i}` })).ms,
        )
      }
      rows.push([name, spread(times.off), spread(times.on), spread(times.keyed)])
    }
  } finally {
    for (const client of clients) client.close()
    const [database] = servers.map((server) => server.database)
    if (target !== 'workerd') rows.push(await sizesOf(target, states[0], database))
    for (const server of servers) await server.stop()
    if (target === 'workerd') rows.push(await sizesOf(target, states[0]))
  }
  return rows
}

const targets = values.targets.split(',')
const report = [
  `## History

${where}; ${thousands(size)} entries of 200–1,500 characters, one connection, ${calls} calls a row, by turns; milliseconds, p50 / p95. With a key the same server
as with history, other entries.
`,
]
for (const [i, target] of targets.entries()) {
  const rows = await measure(target, Number(values.port) + i * 2 * PORTS)
  const sizes = rows.pop()
  report.push(`### ${target === 'workerd' ? 'D1' : 'PostgreSQL'}
`)
  report.push(markdownTable(['write', 'HISTORY_DAYS=0', 'history', 'history and idempotency_key'], rows))
  const each = Object.entries(sizes).map(([table, { bytes, rows: n }]) => [
    table,
    thousands(n),
    thousands(bytes),
    n === 0 ? '–' : thousands(bytes / n),
  ])
  report.push(`
Bytes with their indexes, after all of these writes:
`)
  report.push(markdownTable(['table', 'rows', 'bytes', 'bytes a row'], each))
  report.push('')
}
console.log(report.join('\n'))
if (values.write) writeSection('history', report.join('\n'))
