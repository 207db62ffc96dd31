// `node bench/faults/hostile-size.mjs`: measures how long a call blocks other requests in a large store
// of short entries, where most queries match all of them; a prober requests /health. See ../README.md.
import { mkdirSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createClient } from '../support/mcp.mjs'
import { markdownTable, short, thousands } from '../support/numbers.mjs'
import { circumstances, writeSection } from '../support/results.mjs'
import { startServer } from '../support/server.mjs'
import { createWorkspace } from '../support/workspace.mjs'
import { startProber } from './prober.mjs'
import { requestsOf } from './size-requests.mjs'
import { grow } from './size-world.mjs'

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '18760' },
    size: { type: 'string', default: '300000' },
    /** A folder of the store, which the next run continues to fill. */
    store: { type: 'string' },
    /** Maximum number of entries to store in this run; with 0 only the calls are made. */
    most: { type: 'string', default: '300000' },
    /** Whether to include calls that delete entries. */
    spoil: { type: 'boolean', default: false },
    /** Whether to make only calls other than searches (size-requests.mjs), for a separate section. */
    requests: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    ref: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
})

const never = { nothing: 'like this' }
const query = 'deployment'
const words = 'short note number about the deployment'
const date = '2020-01-01'
/** @type {[name: string, tool: string, args: Record<string, unknown>][]} */
const CALLS = [
  ['a page', 'search_context', {}],
  ['a page, the last', 'search_context', { offset: Number(values.size) - 30 }],
  ['a page by a tag of all', 'search_context', { tags: ['common'] }],
  ['a page by two tags of most', 'search_context', { tags: ['common', 'half'] }],
  ['a page by tag and metadata of none', 'search_context', { tags: ['common'], metadata: never }],
  ['a page by a status of a third', 'search_context', { metadata: { status: 'doing' } }],
  ['a page by two indexed fields', 'search_context', { metadata: { status: 'doing', agent_name: 'agent 0' } }],
  ['a page by metadata of none', 'search_context', { metadata: never }],
  ['a page by metadata of none, in a thread of a third', 'search_context', { metadata: never, thread_id: 'one' }],
  ['a page by dates', 'search_context', { start_date: date }],
  ['a page of those with images', 'search_context', { content_type: 'multimodal' }],
  ['a page of those without', 'search_context', { content_type: 'text' }],
  ['threads', 'list_threads', {}],
  ['statistics', 'get_statistics', {}],
  ['grep under metadata of none', 'grep_context', { pattern: query, metadata: never }],
  ['grep under tag and metadata of none', 'grep_context', { pattern: query, tags: ['common'], metadata: never }],
  [
    'grep in a thread of a third, under metadata of none',
    'grep_context',
    { pattern: query, thread_id: 'one', metadata: never },
  ],
  ['a word of all', 'fts_search_context', { query }],
  ['six words of all', 'fts_search_context', { query: words }],
  ['a phrase of all', 'fts_search_context', { query: 'about the deployment', mode: 'phrase' }],
  ['a beginning of all', 'fts_search_context', { query: 'd', mode: 'prefix' }],
  ['beginnings of numbers', 'fts_search_context', { query: '1 2 3', mode: 'prefix' }],
  ['a word of all, but not another', 'fts_search_context', { query: 'deployment AND NOT memory', mode: 'boolean' }],
  ['a word of all, under metadata of none', 'fts_search_context', { query, metadata: never }],
  ['meaning', 'semantic_search_context', { query }],
  ['meaning under metadata of none', 'semantic_search_context', { query, metadata: never }],
  ['words and meaning', 'hybrid_search_context', { query: words }],
  ['memories of a layer', 'context_list', { layer: 2 }],
  ['memories with a tag of all', 'context_list', { layer: 2, tags: ['common'] }],
  ['memories with one of two tags of most', 'context_list', { layer: 2, tags: ['common', 'half'] }],
  ['memories with a tag of all, far on', 'context_list', { layer: 2, tags: ['common'], offset: 250_000 }],
  ['recall', 'context_recall', { query: words }],
  ['what matters now', 'context_getCurrent', { projectPath: 'p0' }],
  ['a pack', 'context', { goal: words }],
  ['a pack of a project', 'context', { goal: words, project: 'p0' }],
  ['the feed', 'list_changes', { limit: 100 }],
  ['what a delete of the old would delete', 'delete_context_batch', { older_than_days: 1, dry_run: true }],
  ['what a delete of a thread would delete', 'delete_context_batch', { thread_ids: ['one'], dry_run: true }],
]

async function answer([, make]) {
  const started = performance.now()
  try {
    await make()
    return { said: 'done', ms: performance.now() - started }
  } catch (error) {
    const said = /"code":"(\w+)"/.exec(error.message)?.[1] ?? error.message.slice(0, 90)
    return { said, ms: performance.now() - started }
  }
}

const where = circumstances(values.ref)
const workspace = createWorkspace(values.ref)
const state = values.store ?? workspace.folder('state')
mkdirSync(state, { recursive: true })
const vars = { LOG_LEVEL: 'ERROR', RATE_LIMIT_PER_MINUTE: '0' }
const server = await startServer('workerd', { workspace, state, vars, port: Number(values.port) })
const client = createClient(server.origin)
const prober = startProber(server.origin)
const rows = []
let entries = 0
try {
  await grow(client, Number(values.size), Number(values.most))
  entries = (await client.call('get_statistics', {})).content.total_entries
  if (entries >= Number(values.size)) {
    await prober.lap()
    /** @type {[string, () => Promise<unknown>][]} */
    const calls = CALLS.map(([name, tool, args]) => [name, () => client.call(tool, args)])
    const searches = values.requests ? [] : calls
    for (const call of [...searches, ...requestsOf(client, server.origin, values.spoil)].filter(([name]) =>
      name.includes(values.only),
    )) {
      await prober.lap()
      const { said, ms } = await answer(call)
      const { longest, busy } = await prober.lap()
      rows.push([call[0], said, short(ms), short(longest), short(busy)])
      console.log(rows.at(-1)?.join(' | '))
    }
  }
} finally {
  await prober.stop()
  client.close()
  await server.stop()
}
if (rows.length === 0) console.log(`${thousands(entries)} entries are stored; run it again`)
else {
  const report = `## Hostile text: ${values.requests ? 'what else is asked of ' : ''}${thousands(entries)} short entries

${where}; plain workerd, D1; columns as above.

${markdownTable(['call', 'answer', 'ms', 'held ms', 'busy ms'], rows)}`
  if (values.write && values.only === '')
    writeSection(values.requests ? 'hostile-size-requests' : 'hostile-size', report)
  console.log(report)
}
