// `npm run bench -- suites locomo --data PATH`: suites of others, asked of the search tools. See README.md.
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { baselineLeg, serverLegs } from '../retrieval/legs.mjs'
import { storeCollection } from '../retrieval/store.mjs'
import { createClient } from '../support/mcp.mjs'
import { progress } from '../support/progress.mjs'
import { circumstances, writeSection } from '../support/results.mjs'
import { startServer } from '../support/server.mjs'
import { createWorkspace } from '../support/workspace.mjs'
import { SUITES } from './suites.mjs'
import { readReceipts, writeReceipts } from './support/receipts.mjs'
import { suiteReport } from './support/report.mjs'
import { judgeStrictly } from './support/strict.mjs'

const USAGE = `node bench/suites/run.mjs SUITE --data PATH [options]

  SUITE            ${Object.keys(SUITES).join(', ')}
  --data PATH      where its data lie (nothing of them is kept here)
  --receipts FILE  a line a question and leg (default bench/.receipts/SUITE.jsonl, which git ignores)
  --against FILE   receipts of an earlier run, to pair with
  --sample N       only every Nth question
  --target workerd workerd (D1), postgres or pooled
  --var NAME=value a variable of the worker; repeatable
  --port 18720     the first of three ports to use
  --ref HEAD       measure this commit instead of the files as they are
  --write          keep the table in bench/records/suites.md`

function readOptions() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      data: { type: 'string' },
      receipts: { type: 'string' },
      against: { type: 'string' },
      sample: { type: 'string', default: '1' },
      target: { type: 'string', default: 'workerd' },
      var: { type: 'string', multiple: true, default: [] },
      port: { type: 'string', default: '18720' },
      ref: { type: 'string' },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const suite = SUITES[positionals[0]]
  if (values.help || suite === undefined || values.data === undefined) {
    console.log(USAGE)
    for (const [name, { where }] of Object.entries(SUITES)) console.log(`\n  ${name}: ${where}`)
    process.exit(values.help ? 0 : 2)
  }
  const name = positionals[0]
  const vars = Object.fromEntries(values.var.map((pair) => pair.split(/=(.*)/s).slice(0, 2)))
  const receipts = values.receipts ?? join(import.meta.dirname, '..', '.receipts', `${name}.jsonl`)
  return { ...values, ...{ name, suite, vars, receipts, data: resolve(values.data), sample: Number(values.sample) } }
}

/** Runs each search for each question; a document that was not stored counts as never found. */
async function askAll(legs, queries, unitOf, name) {
  const bar = progress(`${name}, asking`, queries.length * legs.length)
  /** @type {Map<number, string>} the first document of each entry */
  const documentOf = new Map()
  for (const [document, unit] of unitOf) if (!documentOf.has(unit)) documentOf.set(unit, document)
  const receipts = []
  for (const leg of legs) {
    for (const query of queries) {
      const wanted = new Set([...query.relevant].map((id) => unitOf.get(id) ?? `not stored: ${id}`))
      const { ids } = await leg.ask(query)
      const got = ids.slice(0, 20).map((id) => documentOf.get(id) ?? String(id))
      const line = { case: query.id, kind: query.split, leg: leg.name, wanted: [...query.relevant], got }
      receipts.push({ ...line, scores: judgeStrictly(ids, wanted) })
      bar.tick(1, leg.name)
    }
  }
  bar.finish()
  return receipts
}

const options = readOptions()
const where = circumstances(options.ref)
const collection = options.suite.read(options.data)
const queries = collection.queries.filter((_, at) => at % options.sample === 0)
const workspace = createWorkspace(options.ref)
const state = workspace.folder('state')
const vars = { LOG_LEVEL: 'ERROR', ...options.vars }
const server = await startServer(options.target, { workspace, state, port: Number(options.port), vars })
const client = createClient(server.origin)
try {
  const { unitOf, refused } = await storeCollection(client, { ...collection, name: options.name })
  const legs = [...(await serverLegs(client, collection.threaded)), baselineLeg(collection, unitOf)]
  const receipts = await askAll(legs, queries, unitOf, options.name)
  writeReceipts(options.receipts, receipts)
  const before = options.against === undefined ? null : readReceipts(options.against)
  const facts = { name: options.name, suite: options.suite, where, refused, leftOut: collection.leftOut }
  const report = suiteReport(
    { ...facts, documents: collection.documents.length, target: options.target },
    receipts,
    before,
  )
  console.log(`\n${report}\n\nReceipts: ${options.receipts}`)
  if (options.write) writeSection(`suites-${options.name}`, report)
} finally {
  client.close()
  await server.stop()
}
