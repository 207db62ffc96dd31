// `npm run bench -- dashboard`: measures each page of the dashboard in a store of 10,000 entries, in alternation with
// the tool that does most of its work. See README.md.
import { parseArgs } from 'node:util'
import { entryAt } from './load/corpus.mjs'
import { createClient } from './support/mcp.mjs'
import { markdownTable, percentile, short, thousands } from './support/numbers.mjs'
import { circumstances, writeSection } from './support/results.mjs'
import { startServer } from './support/server.mjs'
import { createWorkspace } from './support/workspace.mjs'

const { values } = parseArgs({
  options: {
    targets: { type: 'string', default: 'workerd,pooled' },
    size: { type: 'string', default: '10000' },
    calls: { type: 'string', default: '40' },
    port: { type: 'string', default: '18790' },
    write: { type: 'boolean', default: false },
  },
})
const size = Number(values.size)
const calls = Number(values.calls)
const BATCH = 100
const PORTS = 3

const WORDS = entryAt(0, size).text.split(/\s+/).slice(2, 4).join('+')
const THREAD = encodeURIComponent(entryAt(1, size).thread_id)
/** The address without database, which the limit of a page is derived from. */
const IDLE = '/health'
/** Times of an idle `/health` that a page may take (operate contract §1). */
const FACTOR = 8
/** @type {readonly string[]} */
const PAGES = [
  ...[IDLE, '/', '/?days=90', '/threads', `/threads/${THREAD}`, `/search?q=${WORDS}`, `/search?q=${WORDS}&by=words`],
  ...['/search?source=user', '/entries/2', '/entries/2/edit', `/pack?goal=${WORDS}`, '/activity', '/review'],
  ...['/projects', '/keys', '/audit', '/settings', '/usage', '/stale', '/deleted', '/help', '/connect'],
]

async function fill(client) {
  for (let i = 0; i < size; i += BATCH)
    await client.call('store_context_batch', { entries: Array.from({ length: BATCH }, (_, n) => entryAt(i + n, size)) })
}

async function look(origin, path) {
  const began = performance.now()
  const response = await fetch(new URL(path, origin), { headers: { accept: 'text/html' } })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${text.slice(0, 200)}`)
  return { ms: performance.now() - began, bytes: text.length }
}

const where = circumstances()
const workspace = createWorkspace()

async function measure(target, port) {
  const vars = { AUTH_MODE: 'open', LOG_LEVEL: 'ERROR', RATE_LIMIT_PER_MINUTE: '0' }
  const server = await startServer(target, { workspace, state: workspace.folder(`${target}-pages`), vars, port })
  const client = createClient(server.origin)
  try {
    await fill(client)
    /** @type {Map<string, number[]>} */
    const times = new Map()
    const sizes = new Map()
    // Pages take turns, so that a slow moment of the machine affects all of them; the first round warms up.
    for (let i = 0; i <= calls; i++)
      for (const path of PAGES) {
        const { ms, bytes } = await look(server.origin, path)
        if (i > 0) times.set(path, [...(times.get(path) ?? []), ms])
        sizes.set(path, bytes)
      }
    return { times, sizes }
  } finally {
    client.close()
    await server.stop()
  }
}

const targets = values.targets.split(',')
const columns = []
for (const [i, target] of targets.entries()) columns.push(await measure(target, Number(values.port) + i * PORTS))
const spread = (times) => `${short(percentile(times, 0.5))} / ${short(percentile(times, 0.95))}`
const limits = columns.map(({ times }) => FACTOR * percentile(times.get(IDLE) ?? [], 0.95))
const rows = PAGES.map((path) => [
  `\`${path.replaceAll('|', '\\|')}\``,
  `${short((columns[0]?.sizes.get(path) ?? 0) / 1000)} KB`,
  ...columns.map(({ times }) => spread(times.get(path) ?? [])),
])
const names = targets.map((target) => (target === 'workerd' ? 'D1' : 'PostgreSQL'))
const report = `## Pages of the dashboard

${where}; ${thousands(size)} entries, one connection, open mode, ${calls} rounds of all pages; milliseconds, p50 / p95.

${markdownTable(['page', 'HTML', ...names], rows)}

Limit of p95, ${FACTOR} × \`${IDLE}\`: ${limits.map((limit, i) => `${short(limit)} ms on ${names[i]}`).join(', ')}.
`
console.log(report)
if (values.write) writeSection('dashboard', report)
