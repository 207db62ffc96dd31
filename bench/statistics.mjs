// `npm run bench -- statistics`: measures a search on PostgreSQL before and after the planner has statistics. See
// README.md.
import { parseArgs } from 'node:util'
import pg from 'pg'
import { casesFor } from './load/cases.mjs'
import { fill } from './load/fill.mjs'
import { measureTime } from './load/measure.mjs'
import { createClient } from './support/mcp.mjs'
import { markdownTable, short, thousands } from './support/numbers.mjs'
import { circumstances, writeSection } from './support/results.mjs'
import { startServer } from './support/server.mjs'
import { createWorkspace } from './support/workspace.mjs'

const { values } = parseArgs({
  allowNegative: true,
  options: {
    size: { type: 'string', default: '10000' },
    port: { type: 'string', default: '18700' },
    ref: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
})
const size = Number(values.size)
const COUNT = 30

async function query(url, ...statements) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

const where = circumstances(values.ref)
const workspace = createWorkspace(values.ref)
const server = await startServer('postgres', {
  workspace,
  state: workspace.folder('state'),
  port: Number(values.port),
  vars: { LOG_LEVEL: 'ERROR' },
})
const client = createClient(server.origin)
try {
  await query(server.database, 'ALTER SYSTEM SET autovacuum = off', 'SELECT pg_reload_conf()')
  const { loaded } = await fill(client, size, 'storing')
  const cases = casesFor(loaded, await client.toolNames()).filter(({ writes }) => !writes)
  const before = await measureTime(client, cases, COUNT, 'before ANALYZE')
  await query(server.database, 'ANALYZE')
  const after = await measureTime(client, cases, COUNT, 'after ANALYZE')
  const rows = cases.map(({ name }) => [
    name,
    ...[before, after].flatMap((times) =>
      [times.get(name)?.p50, times.get(name)?.p95].map((ms = Number.NaN) => short(ms)),
    ),
  ])
  const report = `## PostgreSQL without and with statistics

${where}; ${thousands(size)} entries stored in batches of 100 with autovacuum off, one connection, up to ${COUNT} calls a row; milliseconds.

${markdownTable(['call', 'before ANALYZE, p50', 'p95', 'after, p50', 'p95'], rows)}
`
  console.log(report)
  if (values.write) writeSection('statistics', report)
} finally {
  client.close()
  await server.stop()
}
