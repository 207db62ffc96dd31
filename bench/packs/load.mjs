// `npm run bench -- packs-load`: measures packs in a large table, compared with a hybrid search in the same run. See
// ../README.md.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { commonWords } from '../load/corpus.mjs'
import { fill } from '../load/fill.mjs'
import { measureTime } from '../load/measure.mjs'
import { createClient } from '../support/mcp.mjs'
import { markdownTable, short, thousands } from '../support/numbers.mjs'
import { circumstances, readSection, writeSection } from '../support/results.mjs'
import { startServer } from '../support/server.mjs'
import { createWorkspace } from '../support/workspace.mjs'

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: 'workerd:10000,postgres:10000,workerd:100000' },
    count: { type: 'string', default: '60' },
    port: { type: 'string', default: '8850' },
    /** A folder of filled stores: existing stores are used, missing ones are filled and stay. */
    stores: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
})

const DATABASES = { workerd: 'D1', postgres: 'PostgreSQL' }
const HYBRID = 'hybrid_search_context'
const words = (n) => commonWords(n, 8).join(' ')

const pack = (name, more) => ({ name, tool: 'context', args: (n) => ({ goal: words(n), ...more }) })
const CASES = [
  { name: HYBRID, tool: HYBRID, args: (n) => ({ query: words(n), limit: 24 }) },
  pack('context, wake', { layer: 'wake' }),
  pack('context, recall', {}),
  pack('context, recall of a project', { project: 'project-1' }),
  pack('context, deep_search of 50', { layer: 'deep_search', limit: 50 }),
]

/** Where a store of this size lies, and whether it still has to be filled. */
function storeOf(target, size) {
  if (values.stores === undefined) return { state: workspace.folder('state'), mark: null }
  const state = resolve(values.stores, `${target}-${size}`)
  mkdirSync(state, { recursive: true })
  return { state, mark: join(state, 'filled') }
}

const where = circumstances(undefined)
const workspace = createWorkspace(undefined)
const rows = []
for (const run of values.runs.split(',')) {
  const [target, size] = run.split(':')
  const label = `${target} ${size}`
  const { state, mark } = storeOf(target, size)
  const server = await startServer(target, {
    workspace,
    state,
    port: Number(values.port),
    vars: { LOG_LEVEL: 'ERROR' },
  })
  const client = createClient(server.origin)
  try {
    if (mark === null || !existsSync(mark)) await fill(client, Number(size), label)
    if (mark !== null) writeFileSync(mark, '')
    if (Number(values.count) === 0) continue
    const timings = await measureTime(client, CASES, Number(values.count), label)
    const beside = timings.get(HYBRID) ?? { p50: Number.NaN, p95: Number.NaN }
    for (const [name, { p50, p95 }] of timings)
      rows.push([
        ...[DATABASES[target], thousands(Number(size)), name, short(p50), short(p95)],
        ...[`${short(p50 / beside.p50)} ×`, `${short(p95 / beside.p95)} ×`],
      ])
  } finally {
    client.close()
    await server.stop()
  }
}
const head = ['database', 'entries', 'call', 'p50 ms', 'p95 ms', 'p50 to hybrid', 'p95 to hybrid', 'measured']

/** Rows of the record that this run has not measured: other databases, other sizes. */
function rowsOfBefore() {
  const measured = new Set(rows.map(([database, entries]) => `${database} ${entries}`))
  return readSection('packs-load')
    .split('\n')
    .filter((line) => /^\| (?:D1|PostgreSQL) \|/.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
    .filter(([database, entries]) => !measured.has(`${database} ${entries}`))
}

const commitOf = (line) => /commit ([^;]+);/.exec(line)?.[1] ?? ''
const all = [...rows.map((row) => [...row, commitOf(where)]), ...(values.write ? rowsOfBefore() : [])]
  .map((row) => (row.length === head.length ? row : [...row, '']))
  .sort((a, b) => a[0].localeCompare(b[0]) || Number(a[1].replace(/\D/g, '')) - Number(b[1].replace(/\D/g, '')))
const text = `## Packs in a full table\n\n${where}\n\nGoals of 8 common words, ${values.count} calls each in turns; vectors of \`local\`, plain workerd. The last column is the commit.\n\n${markdownTable(head, all)}`
console.log(text)
if (values.write && rows.length > 0) writeSection('packs-load', text)
