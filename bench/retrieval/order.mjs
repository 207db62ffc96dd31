// `node bench/retrieval/order.mjs`: checks that both databases return the same order. Collections are stored together in one org, on D1 and on
// PostgreSQL; every question is sent to both. See ../README.md.
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from '../../scripts/install.mjs'
import { createClient } from '../support/mcp.mjs'
import { progress } from '../support/progress.mjs'
import { startServer } from '../support/server.mjs'
import { createWorkspace } from '../support/workspace.mjs'
import { readCollection } from './collection.mjs'
import { storeCollection } from './store.mjs'

const { values } = parseArgs({
  options: {
    eval: { type: 'string', default: '../shared/eval' },
    collections: { type: 'string', default: 'cosqa-dev,cacm' },
    tools: { type: 'string', default: 'fts_search_context,hybrid_search_context' },
    every: { type: 'string', default: '1' },
    port: { type: 'string', default: '18700' },
    ref: { type: 'string' },
  },
})
const folder = resolve(root, values.eval)
const collections = values.collections.split(',').map((name) => readCollection(folder, name))
const queries = collections.flatMap(({ queries }) => queries).filter((_, i) => i % Number(values.every) === 0)
const workspace = createWorkspace(values.ref)

/** The results of each question: IDs and scores in order, and the totals. */
async function answersOf(target, port) {
  const server = await startServer(target, {
    workspace,
    state: workspace.folder(target),
    port,
    vars: { LOG_LEVEL: 'ERROR' },
  })
  const client = createClient(server.origin)
  const answers = new Map()
  try {
    for (const collection of collections) await storeCollection(client, collection)
    const bar = progress(`${target}, asking`, queries.length)
    for (const { id, text } of queries) {
      for (const tool of values.tools.split(',')) {
        const { content } = await client.call(tool, { query: text, limit: 100 })
        const found = content.results.map((entry) => [entry.id, entry.scores])
        answers.set(`${tool} ${id}`, JSON.stringify([content.total, found]))
      }
      bar.tick()
    }
    bar.finish()
    return answers
  } finally {
    client.close()
    await server.stop()
  }
}

const ours = await answersOf('workerd', Number(values.port))
const theirs = await answersOf('postgres', Number(values.port) + 3)
workspace.remove()
const different = [...ours]
  .filter(([question, answer]) => theirs.get(question) !== answer)
  .map(([question]) => question)
console.log(
  `${ours.size} answers of ${collections.map(({ name }) => name).join(' and ')} in one org: ${different.length} differ`,
)
for (const question of different.slice(0, 20)) console.log(`  ${question}`)
process.exitCode = different.length > 0 ? 1 : 0
