// `node bench/faults/hostile-text.mjs`: how long does a call keep the server from answering anybody else? Texts of a megabyte in
// several alphabets are stored, updated and searched, while a prober asks /health. See ../README.md.
import { parseArgs } from 'node:util'
import { createClient } from '../support/mcp.mjs'
import { markdownTable, short } from '../support/numbers.mjs'
import { circumstances, writeSection } from '../support/results.mjs'
import { startServer } from '../support/server.mjs'
import { createWorkspace } from '../support/workspace.mjs'
import { ALPHABETS, MEGABYTE, repeated } from './alphabets.mjs'
import { startProber } from './prober.mjs'

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '18760' },
    only: { type: 'string', default: '' },
    many: { type: 'string', default: '40' },
    ref: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
})

/** @type {(text: string, thread_id?: string) => [string, Record<string, unknown>]} */
const store = (text, thread_id = 'hostile') => ['store_context', { thread_id, source: 'agent', text }]
/** @type {(texts: string[], more?: Record<string, unknown>) => [string, Record<string, unknown>]} */
const batch = (texts, more = {}) => [
  'store_context_batch',
  { entries: texts.map((text, i) => ({ thread_id: `batch ${i}`, source: 'agent', text })), ...more },
]

/**
 * Each a name and a call.
 *
 * @returns {Generator<[string, () => [string, Record<string, unknown>]]>}
 */
function* cases() {
  for (const [name, make] of Object.entries(ALPHABETS)) yield [`store 1 MB, ${name}`, () => store(make(), name)]
  yield ['update to 1 MB of new words', () => ['update_context', { context_id: 1, text: ALPHABETS['new words']() }]]
  yield ['semantic search for 10,000 letters', () => ['semantic_search_context', { query: 'ab'.repeat(5000) }]]
  for (const thread_id of ['short words', 'prose', 'Han'])
    yield [
      `highlights in 1 MB, ${thread_id}`,
      () => ['fts_search_context', { query: 'ab workers 公园', highlight: true, thread_id }],
    ]
  const many = { query: '"ab ab" "ab ab ab" ab'.repeat(7), highlight: true, limit: 100 }
  yield ['quoted phrases with highlights', () => ['fts_search_context', many]]
  yield [
    '64 words as a phrase',
    () => ['fts_search_context', { query: 'ab '.repeat(64), mode: 'phrase', highlight: true }],
  ]
  yield ['3,300 words as a phrase', () => ['fts_search_context', { query: 'ab '.repeat(3300), mode: 'phrase' }]]
  yield [
    'a batch of 20 × 0.95 MB, short words',
    () => batch(Array.from({ length: 20 }, (_, i) => `${i} ${repeated('ab ', 0.95 * MEGABYTE)}`)),
  ]
  yield [
    'a batch of 20 × 0.95 MB, prose',
    () => batch(Array.from({ length: 20 }, (_, i) => `${i} ${ALPHABETS.prose().slice(0, 0.95 * MEGABYTE)}`)),
  ]
}

/**
 * Searches whose candidates are entries of a megabyte each.
 *
 * @returns {Generator<[string, () => [string, Record<string, unknown>]]>}
 */
function* amongMany() {
  const all = { limit: 100, thread_id: 'many' }
  const query = 'deployment workers dashboards'
  yield ['words', () => ['fts_search_context', { query, ...all }]]
  yield ['words, highlights of all', () => ['fts_search_context', { query, highlight: true, ...all }]]
  yield ['phrase', () => ['fts_search_context', { query: 'connection pool was exhausted', mode: 'phrase', ...all }]]
  yield ['meaning', () => ['semantic_search_context', { query, ...all }]]
  yield ['words and meaning', () => ['hybrid_search_context', { query, ...all }]]
  yield ['words and meaning, everywhere', () => ['hybrid_search_context', { query, limit: 100 }]]
}

/** Calls a tool; a refusal is an answer too. */
async function answer(client, [tool, args]) {
  const started = performance.now()
  try {
    return { ms: (await client.call(tool, args)).ms, said: 'done' }
  } catch (error) {
    return {
      ms: performance.now() - started,
      said: /"code":"(\w+)"/.exec(error.message)?.[1] ?? error.message.slice(0, 90),
    }
  }
}

const where = circumstances(values.ref)
const workspace = createWorkspace(values.ref)
const server = await startServer('workerd', {
  workspace,
  state: workspace.folder('state'),
  vars: { LOG_LEVEL: 'ERROR' },
  port: Number(values.port),
})
const client = createClient(server.origin)
const prober = startProber(server.origin)
const rows = []
try {
  await prober.lap()
  const measure = async (name, call) => {
    await prober.lap()
    const { ms, said } = await answer(client, call)
    const { longest, busy } = await prober.lap()
    rows.push([name, said, short(ms), short(longest), short(busy)])
    console.log(rows.at(-1)?.join(' | '))
  }
  for (const [name, make] of cases()) if (name.includes(values.only)) await measure(name, make())
  const many = Number(values.many)
  for (let i = 0; i < many; i++)
    await answer(client, store(`${i} ${ALPHABETS.prose()}`.slice(0, MEGABYTE - 1000 - i), 'many'))
  if (many > 0) for (const [name, make] of amongMany()) await measure(`${name}, among ${many} entries of 1 MB`, make())
} finally {
  await prober.stop()
  client.close()
  await server.stop()
}

const report = `## Hostile text

${where}; plain workerd, D1. \`held\`: the longest that /health had to wait during the call;
\`busy\`: the most processor time that the server took before it answered /health, whatever else ran on the machine.

${markdownTable(['call', 'answer', 'ms', 'held ms', 'busy ms'], rows)}`
if (values.write) writeSection('hostile-text', report)
console.log(report)
