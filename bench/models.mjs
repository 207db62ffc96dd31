// `npm run bench:models -- --model FOLDER`: what the built-in model costs next to `local`, through the server, in one run: queries, writes,
// memory, and how long others wait meanwhile. FOLDER holds config.json, a model and its tokenizer; see README.md.
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

/** The longest time that somebody else waits for an empty call while work goes on. */
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

/** Waits until the process says that the model is loaded. */
async function modelIsReady(origin) {
  for (;;) {
    const { checks } = await (await fetch(`${origin}/ready`)).json()
    if (checks.embeddings === undefined || checks.embeddings.ok) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

async function measure(name, env, state, port) {
  const server = await startServer({ port, state, env })
  try {
    await modelIsReady(server.origin)
    const client = createClient(server.origin)
    const search = (i) => client.call('semantic_search_context', { query: textAt(i, 8), limit: 5 })
    const entries = (from) =>
      Array.from({ length: TEXTS }, (_, i) => ({
        thread_id: 't',
        source: 'agent',
        text: textAt(from + i, WORDS_OF_TEXT),
      }))
    await client.call('store_context_batch', { entries: entries(0) })
    for (let i = 0; i < 10; i++) await search(i)
    /** @type {number[]} */
    const empty = []
    /** @type {number[]} */
    const query = []
    for (let i = 0; i < QUERIES; i++) {
      empty.push((await client.request('ping', {})).ms)
      query.push((await search(1000 + i)).ms)
    }
    const { result, longest } = await longestWait(server.origin, async () => {
      const begun = performance.now()
      await client.call('store_context_batch', { entries: entries(10_000) })
      return performance.now() - begun
    })
    const { content } = await client.call('get_statistics', {})
    const missing = content.semantic_search.waiting_count
    return {
      ...{ name, empty: percentile(empty, 0.5), query: percentile(query, 0.5), query95: percentile(query, 0.95) },
      ...{ texts: result, longest, missing },
    }
  } finally {
    await server.crash()
  }
}

const workspace = await createWorkspace()
const builtin = (runtime) => ({
  ...{ EMBEDDING_PROVIDER: 'builtin', EMBEDDING_MODEL: values.model, COMMONPLACE_RUNTIME: runtime },
  // A batch is measured as a whole.
  EMBEDDING_TIMEOUT_S: '120',
})
const port = Number(values.port)
const local = await measure('local', { EMBEDDING_PROVIDER: 'local' }, workspace.folder('local'), port)
const native = await measure('native', builtin('native'), workspace.folder('native'), port + 1)
const wasm = await measure('wasm', builtin('wasm'), workspace.folder('wasm'), port + 2)
workspace.remove()

const { model } = JSON.parse(readFileSync(`${values.model}/config.json`, 'utf8'))
const memory = { native: memoryOf('native'), wasm: memoryOf('wasm') }
const rows = [local, native, wasm].map((one) => [
  one === local ? '`local`' : `${model}, ${one.name}`,
  short(one.empty),
  `${short(one.query)} / ${short(one.query95)}`,
  one === local ? '–' : `${short((one.query - local.query) / local.empty)} ×`,
  short(one.texts / 1000),
  one === local ? '–' : `${short(memory[one.name].loaded)} / ${short(memory[one.name].used)}`,
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
