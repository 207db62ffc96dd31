// `npm run bench -- models --model FOLDER`: compares the built-in model with `local`, through the server, in one run:
// queries, writes, memory, and the delay of other requests. FOLDER contains config.json, a model and its tokenizer; see
// README.md.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { nodePath } from '../scripts/install.mjs'
import { startServer } from './faults/crashes.mjs'
import { createClient } from './support/mcp.mjs'
import { markdownTable, percentile, random, short } from './support/numbers.mjs'
import { circumstances, writeSection } from './support/results.mjs'
import { createWorkspace } from './support/workspace.mjs'

const { values } = parseArgs({
  options: {
    model: { type: 'string' },
    queries: { type: 'string', default: '100' },
    port: { type: 'string', default: '18740' },
    write: { type: 'boolean', default: false },
  },
})
if (values.model === undefined) throw new Error('--model names the folder of a model')
const QUERIES = Number(values.queries)
const TEXTS = 100
const WORDS_OF_TEXT = 150
const WORDS =
  'the worker handled a request for an item in the queue and wrote its result to the disk after a retry because the first connection was lost while a migration of the database changed the table of orders idempotency reconciliation PostgreSQL serialization deduplicated credentials'.split(
    ' ',
  )

function textAt(seed, words) {
  const next = random(seed + 1)
  return `${Array.from({ length: words }, () => WORDS[Math.floor(next() * WORDS.length)]).join(' ')} ${seed}`
}

/** Megabytes of a process that does nothing but run the model. @param {string} runtime @returns {{ loaded: number, used: number }} */
function memoryOf(runtime) {
  const program = fileURLToPath(new URL('models/memory.mjs', import.meta.url).href)
  return JSON.parse(execFileSync(nodePath(), [program, String(values.model), runtime], { encoding: 'utf8' }))
}

/** The longest time that another caller waits for an empty call during the work. */
async function longestWait(origin, work) {
  const other = createClient(origin)
  let running = true
  /** @type {number[]} */
  const waits = []
  const asking = (async () => {
    while (running) {
      const { ms } = await other.request('ping', {})
      waits.push(ms)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  })()
  const result = await work().finally(() => {
    running = false
  })
  await asking
  return { result, longest: Math.max(...waits) }
}

/** Waits until the process reports that the model is loaded. */
async function modelIsReady(origin) {
  for (;;) {
    const { checks } = await (await fetch(`${origin}/ready`)).json()
    if (checks.embeddings === undefined || checks.embeddings.ok) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

const workspace = await createWorkspace()
const builtin = (runtime) => ({
  ...{ EMBEDDING_PROVIDER: 'builtin', EMBEDDING_MODEL: values.model, COMMONPLACE_RUNTIME: runtime },
  // A batch is measured as one.
  EMBEDDING_TIMEOUT_S: '120',
})

const entries = (from) =>
  Array.from({ length: TEXTS }, (_, i) => ({ thread_id: 't', source: 'agent', text: textAt(from + i, WORDS_OF_TEXT) }))
const search = (client, i) => client.call('semantic_search_context', { query: textAt(i, 8), limit: 5 })

/** A server with a hundred entries, asked ten times before it is measured. */
async function prepare(name, env, port) {
  const server = await startServer({ port, state: workspace.folder(name), env })
  await modelIsReady(server.origin)
  const client = createClient(server.origin)
  await client.call('store_context_batch', { entries: entries(0) })
  for (let i = 0; i < 10; i++) await search(client, i)
  /** @type {{ empty: number[], query: number[] }} */
  const times = { empty: [], query: [] }
  return { name, server, client, ...times }
}

const port = Number(values.port)
const local = await prepare('local', { EMBEDDING_PROVIDER: 'local' }, port)
const native = await prepare('native', builtin('native'), port + 1)
const wasm = await prepare('wasm', builtin('wasm'), port + 2)
const places = [local, native, wasm]

// By turns, so that a busy moment of the machine is one of all.
for (let i = 0; i < QUERIES; i++)
  for (const { client, empty, query } of places) {
    empty.push((await client.request('ping', {})).ms)
    query.push((await search(client, 1000 + i)).ms)
  }

const measured = []
for (const { name, server, client, empty, query } of places) {
  const { result, longest } = await longestWait(server.origin, async () => {
    const begun = performance.now()
    await client.call('store_context_batch', { entries: entries(10_000) })
    return performance.now() - begun
  })
  const { content } = await client.call('get_statistics', {})
  measured.push({
    ...{ name, empty: percentile(empty, 0.5), query: percentile(query, 0.5), query95: percentile(query, 0.95) },
    ...{ texts: result, longest, missing: content.semantic_search.waiting_count },
  })
  await server.crash()
}
workspace.remove()

const { model } = JSON.parse(readFileSync(`${values.model}/config.json`, 'utf8'))
const memory = { native: memoryOf('native'), wasm: memoryOf('wasm') }
const [base] = measured
const rows = measured.map((one) => [
  one === base ? '`local`' : `${model}, ${one.name}`,
  short(one.empty),
  `${short(one.query)} / ${short(one.query95)}`,
  one === base ? '–' : `${short((one.query - base.query) / base.empty)} ×`,
  short(one.texts / 1000),
  one === base ? '–' : `${short(memory[one.name].loaded)} / ${short(memory[one.name].used)}`,
  short(one.longest),
  one.missing,
])
const table = markdownTable(
  [
    ...[
      'vectors',
      'empty call, ms',
      'query p50 / p95, ms',
      'added, in empty calls',
      `${TEXTS} texts of ${WORDS_OF_TEXT} words, s`,
    ],
    ...['memory loaded / used, MB', 'longest wait of others, ms', 'without vectors'],
  ],
  rows,
)
console.log(table)
if (values.write) writeSection('models', `${circumstances()}\n\n${table}`)
