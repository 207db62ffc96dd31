// `npm run bench -- retrieval`: measures how well the searches find known answers to questions. See ../README.md.
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from '../../scripts/install.mjs'
import { createClient } from '../support/mcp.mjs'
import { progress } from '../support/progress.mjs'
import { circumstances, writeSection } from '../support/results.mjs'
import { startServer, TARGETS } from '../support/server.mjs'
import { createWorkspace } from '../support/workspace.mjs'
import { collectionNames, readCollection } from './collection.mjs'
import { failures, hybridFailures, readFloor } from './gate.mjs'
import { baselineLeg, serverLegs } from './legs.mjs'
import { judge } from './metrics.mjs'
import { chooseModels } from './models.mjs'
import { retrievalReport, toRows, withMeans } from './report.mjs'
import { storeCollection } from './store.mjs'

const USAGE = `node bench/retrieval/run.mjs [options]

  --eval DIR              the labelled collections (default ../shared/eval)
  --collections a,b       only these (default all in the folder)
  --models local          whose vectors (default local, and all-MiniLM-L6-v2 where the folder has its server)
  --before FILE           compare with a run that was saved
  --save FILE             save the rows of this run
  --saved a,b             measure nothing: report what partial runs have saved
  --min fts.recall@10=0.6 fail below this; repeatable; [collection/][split/]leg.measure=value
  --var NAME=value        a variable of the worker; repeatable
  --target workerd        workerd or wrangler
  --port 18700            the first of three ports to use
  --ref HEAD              measure this commit instead of the files as they are
  --write, --no-write     whether the record is written (default: after a full run)`

function readOptions() {
  const { values } = parseArgs({
    allowNegative: true,
    options: {
      eval: { type: 'string', default: '../shared/eval' },
      collections: { type: 'string' },
      models: { type: 'string' },
      before: { type: 'string' },
      save: { type: 'string' },
      saved: { type: 'string' },
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
  const whole = values.collections === undefined && values.models === undefined && values.var.length === 0
  return {
    ...{ folder, names, vars, target: values.target, port: Number(values.port), ref: values.ref },
    models: chooseModels(folder, values.models),
    before: values.before,
    save: values.save,
    saved: values.saved?.split(',') ?? null,
    floors: values.min.map(readFloor),
    write: values.write ?? whole,
  }
}

/** Runs every search for every question. A document that was not stored counts as never found. */
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

/** @typedef {{ where: string, measured: import('./report.mjs').Measured[], notes: string[] }} Run */

/** @returns {Promise<Run>} */
async function measureAll(options) {
  const where = circumstances(options.ref)
  const workspace = createWorkspace(options.ref)
  const measured = []
  const notes = []
  for (const model of options.models) {
    const { vars, stop } = await model.start(options.port + 5)
    const answers = []
    try {
      for (const name of options.names.filter(model.knows)) {
        console.log(`Vectors of ${model.name}`)
        const found = await runCollection(workspace, { ...options, vars: { ...vars, ...options.vars } }, name)
        answers.push(...found.answers)
        notes.push(...found.notes)
      }
    } finally {
      stop()
    }
    if (answers.length > 0) measured.push({ model: model.name, rows: toRows(answers) })
  }
  return { where, measured, notes }
}

/** Runs over some collections or models each, as one. @returns {Run} */
function joined(files) {
  const runs = files.map((file) => JSON.parse(readFileSync(file, 'utf8')))
  const models = [...new Set(runs.flatMap(({ measured }) => measured.map(({ model }) => model)))]
  const of = (wanted) => runs.flatMap(({ measured }) => measured.filter(({ model }) => model === wanted))
  return {
    where: `${runs[0].where}; in ${runs.length} runs`,
    measured: models.map((model) => ({ model, rows: withMeans(of(model).flatMap(({ rows }) => rows)) })),
    notes: runs.flatMap(({ notes }) => notes ?? []),
  }
}

const options = readOptions()
const { where, measured, notes } = options.saved === null ? await measureAll(options) : joined(options.saved)

if (options.save !== undefined) writeFileSync(options.save, JSON.stringify({ where, measured, notes }))
const before = options.before === undefined ? null : JSON.parse(readFileSync(options.before, 'utf8'))
const report = retrievalReport(measured, before, where, notes)
console.log(report)
if (options.write) writeSection('retrieval', report)
else console.log('Not written to bench/records/retrieval.md (a partial run; --write to keep it).')

const below = [
  ...failures(options.floors, measured[0]?.rows ?? []),
  ...measured.flatMap(({ model, rows }) => hybridFailures(model, rows)),
]
for (const line of below) console.error(`Below the floor: ${line}`)
process.exitCode = below.length > 0 ? 1 : 0
