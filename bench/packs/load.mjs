// How long a pack takes in a full table, beside a hybrid search in the same run: `npm run bench:packs-load`. See ../README.md.
import { parseArgs } from 'node:util'
import { commonWords } from '../load/corpus.mjs'
import { fill } from '../load/fill.mjs'
import { measureTime } from '../load/measure.mjs'
import { createClient } from '../support/mcp.mjs'
import { markdownTable, short, thousands } from '../support/numbers.mjs'
import { circumstances, writeSection } from '../support/results.mjs'
import { startServer } from '../support/server.mjs'
import { createWorkspace } from '../support/workspace.mjs'

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: 'workerd:10000,postgres:10000,workerd:100000' },
    count: { type: 'string', default: '60' },
    port: { type: 'string', default: '8850' },
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

const where = circumstances(undefined)
const workspace = createWorkspace(undefined)
const rows = []
for (const run of values.runs.split(',')) {
  const [target, size] = run.split(':')
  const label = `${target} ${size}`
  const state = workspace.folder('state')
  const server = await startServer(target, {
    workspace,
    state,
    port: Number(values.port),
    vars: { LOG_LEVEL: 'ERROR' },
  })
  const client = createClient(server.origin)
  try {
    await fill(client, Number(size), label)
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
const head = ['database', 'entries', 'call', 'p50 ms', 'p95 ms', 'p50 to hybrid', 'p95 to hybrid']
const text = `## Packs in a full table\n\n${where}\n\nGoals of 8 common words, ${values.count} calls each in turns; vectors of \`local\`, plain workerd.\n\n${markdownTable(head, rows)}`
console.log(text)
if (values.write) writeSection('packs-load', text)
