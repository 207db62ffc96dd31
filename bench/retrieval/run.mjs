// `npm run bench:retrieval`: how well the searches find what is known to answer a question. See ../README.md.
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from '../../scripts/install.mjs'
import { createClient } from '../support/mcp.mjs'
import { progress } from '../support/progress.mjs'
import { circumstances, writeSection } from '../support/results.mjs'
import { startServer, TARGETS } from '../support/server.mjs'
import { createWorkspace } from '../support/workspace.mjs'
import { collectionNames, readCollection } from './collection.mjs'
import { failures, readFloor } from './gate.mjs'
import { baselineLeg, serverLegs } from './legs.mjs'
import { judge } from './metrics.mjs'
import { retrievalReport, toRows } from './report.mjs'
import { storeCollection } from './store.mjs'

const USAGE = `node bench/retrieval/run.mjs [options]

  --eval DIR              the labelled collections (default ../shared/eval)
  --collections a,b       only these (default all in the folder)
  --min fts.recall@10=0.6 fail below this; repeatable; [collection/][split/]leg.measure=value
  --var NAME=value        a variable of the worker; repeatable
  --target workerd        workerd or wrangler
  --port 18700            the first of three ports to use
  --ref HEAD              measure this commit instead of the files as they are
  --write, --no-write     whether RESULTS.md is written (default: after a full run)`

function readOptions() {
  const { values } = parseArgs({
    allowNegative: true,
    options: {
      eval: { type: 'string', default: '../shared/eval' },
      collections: { type: 'string' },
      min: { type: 'string', multiple: true, default: [] },
      var: { type: 'string', multiple: true, default: [] },
      target: { type: 'string', default: 'workerd' },
      port: { type: 'string', default: '18700' },
      ref: { type: 'string' },
      write: { type: 'boolean' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    console.log(USAGE)
    process.exit(0)
  }
  if (!TARGETS.includes(values.target)) throw new Error(USAGE)
  const folder = resolve(root, values.eval)
  const known = collectionNames(folder)
  const names = values.collections?.split(',') ?? known
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined) throw new Error(`No collection ${unknown} in ${folder}; it has ${known.join(', ')}`)
  const vars = Object.fromEntries(values.var.map((pair) => pair.split(/=(.*)/s).slice(0, 2)))
  const whole = values.collections === undefined && values.var.length === 0
  return {
    ...{ folder, names, vars, target: values.target, port: Number(values.port), ref: values.ref },
    floors: values.min.map(readFloor),
    write: values.write ?? whole,
  }
}

/** Asks every question of every leg. A document that was not stored counts as never found. */
async function ask(legs, { name, queries }, unitOf) {
  const bar = progress(`${name}, asking`, queries.length * legs.length)
  const answers = []
  for (const leg of legs) {
    for (const query of queries) {
      const relevant = new Set([...query.relevant].map((id) => unitOf.get(id) ?? `not stored: ${id}`))
      const { ids, ms } = await leg.ask(query)
      answers.push({ collection: name, split: query.split, leg: leg.name, scores: judge(ids, relevant), ms })
      bar.tick(1, leg.name)
    }
  }
  bar.finish()
  return answers
}

async function runCollection(workspace, { folder, target, port, vars }, name) {
  const collection = readCollection(folder, name)
  const state = workspace.folder('state')
  const server = await startServer(target, { workspace, state, port, vars: { LOG_LEVEL: 'ERROR', ...vars } })
  const client = createClient(server.origin)
  try {
    const { unitOf, refused } = await storeCollection(client, collection)
    const legs = [...(await serverLegs(client, collection.threaded)), baselineLeg(collection, unitOf)]
    const note = refused === 0 ? [] : [`${name}: ${refused} documents were refused by the server`]
    return { answers: await ask(legs, collection, unitOf), notes: note }
  } finally {
    client.close()
    await server.stop()
  }
}

const options = readOptions()
const where = circumstances(options.ref)
const workspace = createWorkspace(options.ref)
const answers = []
const notes = []
for (const name of options.names) {
  const found = await runCollection(workspace, options, name)
  answers.push(...found.answers)
  notes.push(...found.notes)
}

const rows = toRows(answers)
const report = retrievalReport(rows, where, notes)
console.log(report)
if (options.write) writeSection('retrieval', report)
else console.log('Not written to bench/RESULTS.md (a partial run; --write to keep it).')

const below = failures(options.floors, rows)
for (const line of below) console.error(`Below the floor: ${line}`)
process.exitCode = below.length > 0 ? 1 : 0
