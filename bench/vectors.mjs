// `npm run bench:vectors`: measures a search by meaning over many vectors of 768 dimensions, in plain workerd with
// a warm index. The embedder is the local one, so the time is the search's own. With --objects: over more vectors than a bench stores
// entries, the Durable Objects that hold them alone. See README.md.
import { parseArgs } from 'node:util'
import { entryAt } from './load/corpus.mjs'
import { createClient } from './support/mcp.mjs'
import { markdownTable, percentile, short, thousands } from './support/numbers.mjs'
import { progress } from './support/progress.mjs'
import { circumstances, writeSection } from './support/results.mjs'
import { startServer } from './support/server.mjs'
import { createWorkspace } from './support/workspace.mjs'
import { measureObjects } from './vectors/objects.mjs'

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '1000,10000,50000' },
    /** In their place: numbers of vectors that the Durable Objects are filled with. */
    objects: { type: 'string', default: '' },
    dimensions: { type: 'string', default: '768' },
    port: { type: 'string', default: '18720' },
    write: { type: 'boolean', default: false },
  },
})
if (values.objects !== '') {
  await measureObjects(values.objects.split(',').map(Number), values)
  process.exit(0)
}
const sizes = values.sizes.split(',').map(Number)
const BATCH = 100
const CALLS = 40

/** One chunk an entry, so that as many vectors as entries are searched. */
async function fill(client, size) {
  const bar = progress(`${thousands(size)} vectors, storing`, size)
  for (let i = 0; i < size; i += BATCH) {
    const entries = Array.from({ length: BATCH }, (_, n) => entryAt(i + n, size))
    await client.call('store_context_batch', { entries })
    bar.tick(BATCH)
  }
  bar.finish()
}

/** Asked until the index holds everything: an unconfirmed row is compared by the search itself. */
async function warmUp(client) {
  for (let tries = 0; tries < 300; tries++) {
    await client.call('semantic_search_context', { query: 'warm up' })
    const { content } = await client.call('get_statistics', {})
    if (content.pending_work.pending === 0) return
    await client.call('store_context', { thread_id: 'warm-up', source: 'user', text: `nudge ${tries}` })
  }
  throw new Error('the vector index did not catch up')
}

async function measure(client, name, args) {
  const times = []
  for (let i = 0; i < CALLS; i++) {
    const { text } = entryAt(i * 17, 1000)
    const { ms } = await client.call(name, { query: text.slice(0, 80), ...args })
    times.push(ms)
  }
  return [percentile(times, 0.5), percentile(times, 0.95)]
}

const where = circumstances()
const workspace = createWorkspace()
const rows = []
for (const size of sizes) {
  const vars = { LOG_LEVEL: 'ERROR', EMBEDDING_DIM: values.dimensions }
  const server = await startServer('workerd', {
    workspace,
    state: workspace.folder('state'),
    vars,
    port: Number(values.port),
  })
  const client = createClient(server.origin)
  try {
    await fill(client, size)
    await warmUp(client)
    for (const [label, name, args] of /** @type {[string, string, Record<string, unknown>][]} */ ([
      ['semantic', 'semantic_search_context', {}],
      ['semantic, in one thread', 'semantic_search_context', { thread_id: 'project-1/session-1' }],
      ['semantic, common filter', 'semantic_search_context', { source: 'agent' }],
      ['hybrid', 'hybrid_search_context', {}],
      ['words, for comparison', 'fts_search_context', {}],
    ])) {
      const [p50, p95] = await measure(client, name, args)
      rows.push([label, thousands(size), short(p50), short(p95)])
    }
  } finally {
    client.close()
    await server.stop()
  }
}
rows.sort((a, b) => a[0].localeCompare(b[0]))
const report = `## Vectors

${where}; ${values.dimensions} dimensions, plain workerd, warm index, one connection, ${CALLS} calls a row, over MCP.

${markdownTable(['search', 'vectors', 'p50 ms', 'p95 ms'], rows)}`
console.log(report)
if (values.write) writeSection('vectors', report)
