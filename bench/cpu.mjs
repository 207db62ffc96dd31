// Measures the processor time of calls, compared with an empty call, and of a start until the first answer. See README.md.
//   node bench/cpu.mjs [--size 10000] [--targets workerd,pooled] [--rounds 10] [--calls 10] [--starts 5] [--ref COMMIT] [--write]
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { nodePath } from '../scripts/install.mjs'
import { commonWords, entryAt, projectOf } from './rows/corpus.mjs'
import { createClient } from './support/mcp.mjs'
import { markdownTable, percentile, short, thousands } from './support/numbers.mjs'
import { workerdOf } from './support/processes.mjs'
import { circumstances, writeSection } from './support/results.mjs'
import { startServer } from './support/server.mjs'
import { startWorkerd } from './support/workerd.mjs'
import { createWorkspace } from './support/workspace.mjs'

const { values } = parseArgs({
  options: {
    size: { type: 'string', default: '10000' },
    targets: { type: 'string', default: 'workerd,pooled' },
    rounds: { type: 'string', default: '10' },
    calls: { type: 'string', default: '10' },
    starts: { type: 'string', default: '5' },
    port: { type: 'string', default: '18860' },
    ref: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
})
const [size, rounds, calls, starts] = [values.size, values.rounds, values.calls, values.starts].map(Number)
const BATCH = 100
const PORTS = 3
/** Work after an answer counts for its call. */
const AFTERWARDS_MS = 60
const VARS = { LOG_LEVEL: 'ERROR', RATE_LIMIT_PER_MINUTE: '0' }
const NOTHING = 'ping'

/** Milliseconds of processor time of a process, all its threads, as Linux counts them. @param {number} pid */
const processorOf = (pid) =>
  readdirSync(`/proc/${pid}/task`).reduce(
    (sum, task) => sum + Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]) / 1e6,
    0,
  )
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

/** Measures a start: until the port is open, and from there until the first answer. */
async function startsOf(begin, path, port) {
  /** @type {Record<'open' | 'first' | 'wall', number[]>} */
  const taken = { open: [], first: [], wall: [] }
  for (let i = 0; i < starts; i++) {
    const { origin, stop } = await begin()
    try {
      const [pid] = workerdOf(port)
      const open = processorOf(pid)
      const began = performance.now()
      await (await fetch(`${origin}${path}`)).text()
      taken.wall.push(performance.now() - began)
      taken.first.push(processorOf(pid) - open)
      taken.open.push(open)
    } finally {
      await stop()
    }
  }
  return { open: median(taken.open), first: median(taken.first), wall: median(taken.wall) }
}

/** A Worker without code. */
const empty = (port) => async () => {
  const contents = "export default { fetch: () => new Response('') }"
  const modules = [{ type: /** @type {const} */ ('ESModule'), path: 'index.js', contents }]
  const options = { modules, host: '127.0.0.1', port, cf: false, telemetry: { enabled: false } }
  const one = new Miniflare(convertV4MiniflareOptions({ name: 'nothing', compatibilityDate: '2026-01-01', ...options }))
  return { origin: (await one.ready).origin, stop: () => one.dispose() }
}

/** Time for V8 to parse the bundle; the best of ten. @param {string} file */
function parsing(file) {
  const program = `
    const { SourceTextModule } = require('node:vm')
    const code = require('node:fs').readFileSync(${JSON.stringify(file)}, 'utf8')
    const times = Array.from({ length: 10 }, (_, i) => {
      const began = process.cpuUsage()
      new SourceTextModule(code + '\\n//' + i)
      const { user, system } = process.cpuUsage(began)
      return (user + system) / 1000
    })
    console.log(Math.min(...times))`
  const { stdout } = spawnSync(nodePath(), ['--experimental-vm-modules', '--no-warnings', '-e', program], {
    encoding: 'utf8',
  })
  return Number(stdout)
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

const state = join(workspace.folder('cpu-start'), 'state')
const own = () => startWorkerd({ workspace, state, port, vars: { AUTH_MODE: 'open', ...VARS } })
const migrated = await own()
await (await fetch(`${migrated.origin}/ready`)).text()
await migrated.stop()
const [ours, nobodys] = [await startsOf(own, '/ready', port), await startsOf(empty(port), '/', port)]
const bundle = readFileSync(join(workspace.bundle, 'index.js'))
const report = `## Processor time

${where}. Milliseconds of processors, which other work on the machine changes little, of the whole of workerd; the middle of ${rounds} rounds of
${calls} calls each, with what they do behind their answers, among ${thousands(size)} entries of 45 common words. The first column holds SQLite and the index of
vectors too, which run elsewhere on Cloudflare; of the second the database is a process of its own, so it is the Worker with its sockets and the index of vectors.

${markdownTable(['call', ...heads], rows)}

| start, on a migrated database | Commonplace | a Worker that does nothing |
| --- | ---: | ---: |
| until its port is open | ${short(ours.open)} | ${short(nobodys.open)} |
| from there until the first answer (\`/ready\`) | ${short(ours.first)} | ${short(nobodys.first)} |
| the same by the clock on the wall | ${short(ours.wall)} | ${short(nobodys.wall)} |

The bundle has ${thousands(bundle.length / 1000)} KB, ${thousands(gzipSync(bundle).length / 1000)} KB gzipped; V8 takes ${short(parsing(join(workspace.bundle, 'index.js')))} ms of a processor to parse it.
`
console.log(report)
if (values.write) writeSection('cpu', report)
workspace.remove()
