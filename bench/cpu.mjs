// Measures the processor time of calls, compared with an empty call. See README.md. Starts: start.mjs.
//   node bench/cpu.mjs [--size 10000] [--targets workerd,pooled] [--rounds 10] [--calls 10] [--ref COMMIT] [--write]
import { parseArgs } from 'node:util'
import { commonWords, entryAt, projectOf } from './rows/corpus.mjs'
import { createClient } from './support/mcp.mjs'
import { markdownTable, percentile, short, thousands } from './support/numbers.mjs'
import { processorOf, workerdOf } from './support/processes.mjs'
import { circumstances, writeSection } from './support/results.mjs'
import { startServer } from './support/server.mjs'
import { createWorkspace } from './support/workspace.mjs'

const { values } = parseArgs({
  options: {
    size: { type: 'string', default: '10000' },
    targets: { type: 'string', default: 'workerd,pooled' },
    rounds: { type: 'string', default: '10' },
    calls: { type: 'string', default: '10' },
    port: { type: 'string', default: '18860' },
    ref: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
})
const [size, rounds, calls] = [values.size, values.rounds, values.calls].map(Number)
const BATCH = 100
const PORTS = 3
/** Work after an answer counts for its call. */
const AFTERWARDS_MS = 60
const VARS = { LOG_LEVEL: 'ERROR', RATE_LIMIT_PER_MINUTE: '0' }
const NOTHING = 'ping'

const pause = (ms) => new Promise((done) => setTimeout(done, ms))
const median = (numbers) => percentile(numbers, 0.5)

/** Each call by its name; `n` is another one each time. @param {import('./support/mcp.mjs').Client} client */
const casesOf = (client) => {
  let at = size
  const tool = (name, args) => (n) => client.call(name, args(n))
  return {
    [NOTHING]: () => client.request('ping', {}),
    'tools/list': () => client.request('tools/list', {}),
    store_context: tool('store_context', () => entryAt(at++, size)),
    'fts_search_context, three common words': tool('fts_search_context', (n) => ({
      query: commonWords(n, 3),
      limit: 10,
    })),
    'semantic_search_context, three common words': tool('semantic_search_context', (n) => ({
      ...{ query: commonWords(n, 3), limit: 10 },
    })),
    'hybrid_search_context, three common words': tool('hybrid_search_context', (n) => ({
      ...{ query: commonWords(n, 3), limit: 10 },
    })),
    'context_recall, in a project': tool('context_recall', (n) => ({
      ...{ query: commonWords(n, 3), filter: { projectPath: projectOf(n) } },
    })),
    'context, three common words': tool('context', (n) => ({ goal: commonWords(n, 3) })),
    'context_getCurrent, of a project': tool('context_getCurrent', (n) => ({
      projectPath: projectOf(n),
      sessionId: 's',
    })),
    'get_context_by_ids, one': tool('get_context_by_ids', (n) => ({ context_ids: [1 + n] })),
  }
}

/** Processor time of each kind of call, in turns. @returns {Promise<Map<string, number>>} */
async function callsOf(target, state, port) {
  const server = await startServer(target, { workspace, state, port, vars: VARS })
  const client = createClient(server.origin)
  try {
    for (let i = 0; i < size; i += BATCH) {
      const entries = Array.from({ length: BATCH }, (_, n) => entryAt(i + n, size))
      await client.call('store_context_batch', { entries })
    }
    for (let n = 0; n < 15; n++) await server.schedule?.()
    const [pid] = workerdOf(port)
    const cases = casesOf(client)
    /** @type {Map<string, number[]>} */
    const taken = new Map(Object.keys(cases).map((name) => [name, []]))
    let n = 0
    // The first two rounds are warm-up.
    for (let round = -2; round < rounds; round++)
      for (const [name, call] of Object.entries(cases)) {
        const before = processorOf(pid)
        for (let i = 0; i < calls; i++) await call(n++)
        await pause(AFTERWARDS_MS)
        if (round >= 0) taken.get(name)?.push((processorOf(pid) - before) / calls)
      }
    return new Map([...taken].map(([name, times]) => [name, median(times)]))
  } finally {
    client.close()
    await server.stop()
  }
}

const where = circumstances(values.ref)
const workspace = createWorkspace(values.ref)
const port = Number(values.port)
const targets = values.targets.split(',')
const columns = []
for (const [i, target] of targets.entries())
  columns.push(await callsOf(target, workspace.folder(`cpu-${target}`), port + i * PORTS))
const names = [...(columns[0]?.keys() ?? [])]
const rows = names.map((name) => [
  name,
  ...columns.flatMap((column) => [short(column.get(name)), short(column.get(name) - column.get(NOTHING))]),
])
const heads = targets.flatMap((target) => [target === 'workerd' ? 'D1 and Worker' : 'Worker on PostgreSQL', '− ping'])

const report = `## Processor time

${where}. Milliseconds of processors, which other work on the machine changes little, of the whole of workerd; the middle of ${rounds} rounds of
${calls} calls each, with what they do behind their answers, among ${thousands(size)} entries of 45 common words. The first column holds SQLite and the index of
vectors too, which run elsewhere on Cloudflare; of the second the database is a process of its own, so it is the Worker with its sockets and the index of vectors.

${markdownTable(['call', ...heads], rows)}
`
console.log(report)
if (values.write) writeSection('cpu', report)
workspace.remove()
