// `npm run bench -- recall`: measures whether `context_recall` finds the same as the threads tools, which results its
// threshold excludes, and what it returns where nothing answers the question. See ../README.md.
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from '../../scripts/install.mjs'
import { createClient } from '../support/mcp.mjs'
import { markdownTable, mean } from '../support/numbers.mjs'
import { progress } from '../support/progress.mjs'
import { circumstances, writeSection } from '../support/results.mjs'
import { startServer } from '../support/server.mjs'
import { createWorkspace } from '../support/workspace.mjs'
import { collectionNames, readCollection } from './collection.mjs'
import { judge } from './metrics.mjs'
import { chooseModels } from './models.mjs'
import { storeCollection } from './store.mjs'

const USAGE = `node bench/retrieval/recall.mjs [options]

  --eval DIR              the labelled collections (default ../shared/eval)
  --collections a,b       only these (default all in the folder)
  --models local          whose vectors (default local, and all-MiniLM-L6-v2 where the folder has its server)
  --questions 300         of each collection at most so many, evenly taken
  --legs words,both       only these kinds of legs (words, both, default, others)
  --port 8830             the first of three ports to use
  --ref HEAD              measure this commit instead of the files as they are
  --write                 write RESULTS.md`

const DEPTH = 100

/** A question is asked within its thread, which is the project of its documents too. */
const LEGS = [
  { name: 'fts_search_context', of: 'words', tool: 'fts_search_context', args: { mode: 'match' } },
  { name: 'recall, keyword', of: 'words', args: { mode: 'keyword', threshold: 0 } },
  { name: 'hybrid_search_context', of: 'both', tool: 'hybrid_search_context', args: {} },
  { name: 'recall, hybrid', of: 'both', args: { mode: 'hybrid', threshold: 0 } },
  { name: 'recall, default threshold', of: 'default', args: {} },
]

async function askLeg(client, leg, query, threaded) {
  const { text, thread } = query
  if (leg.tool !== undefined) {
    const args = { query: text, limit: DEPTH, ...leg.args, ...(threaded ? { thread_id: thread } : {}) }
    const { content } = await client.call(leg.tool, args)
    return content.results.map(({ id }) => id)
  }
  const filter = threaded ? { filter: { projectPath: thread } } : {}
  const { content } = await client.call('context_recall', { query: text, limit: DEPTH, ...leg.args, ...filter })
  return content.results.map(({ memory }) => Number(memory.id))
}

const evenly = (list, most) =>
  list.length <= most ? list : Array.from({ length: most }, (_, i) => list[Math.floor((i * list.length) / most)])

async function runCollection(workspace, { folder, port, vars, questions, of }, name) {
  const collection = readCollection(folder, name)
  const server = await startServer('workerd', {
    ...{ workspace, state: workspace.folder('state'), port },
    vars: { LOG_LEVEL: 'ERROR', ...vars },
  })
  const client = createClient(server.origin)
  try {
    const { unitOf } = await storeCollection(client, collection, ({ thread }) => ({ project: thread }))
    const asked = evenly(collection.queries, questions)
    const bar = progress(`${name}, asking`, asked.length * wanted.length)
    const rows = []
    for (const leg of wanted) {
      const answers = []
      for (const query of asked) {
        // A document that was not stored counts as never found.
        const relevant = new Set([...query.relevant].map((id, i) => unitOf.get(id) ?? -1 - i))
        const ids = await askLeg(client, leg, query, collection.threaded)
        answers.push({ found: judge(ids, relevant)['recall@10'], empty: ids.length === 0 ? 1 : 0 })
        bar.tick(1, leg.name)
      }
      rows.push({
        ...{ collection: name, leg, questions: asked.length },
        recall: mean(answers.map(({ found }) => found)),
        empty: mean(answers.map(({ empty }) => empty)),
      })
    }
    bar.finish()
    return [...rows, ...(await askOthers(client, { folder, questions, of }, name))]
  } finally {
    client.close()
    await server.stop()
  }
}

/** Questions of the other collections, without an answer here, at the default threshold and in all threads. */
async function askOthers(client, { folder, questions, of }, name) {
  const rows = []
  if (!values.legs.split(',').includes('others')) return rows
  for (const other of of) {
    if (isProgramming(other) === isProgramming(name) && (isProgramming(name) || other === name)) continue
    const asked = evenly(readCollection(folder, other).queries, Math.min(questions, 100))
    const bar = progress(`${name}, asked ${other}`, asked.length)
    const counts = []
    for (const { text } of asked) {
      const { content } = await client.call('context_recall', { query: text, limit: DEPTH })
      counts.push(content.results.length)
      bar.tick(1)
    }
    bar.finish()
    rows.push({
      ...{ collection: name, leg: { name: `questions of ${other}`, of: 'others' }, questions: asked.length },
      ...{ empty: mean(counts.map((count) => (count === 0 ? 1 : 0))), results: mean(counts) },
    })
  }
  return rows
}

/** All but two collections are about programming. */
const isProgramming = (name) => !['cranfield', 'locomo-dev'].includes(name)

const percent = (value) => (value * 100).toFixed(1)

function report(measured, where) {
  const own = measured.filter(({ leg }) => leg.of !== 'others')
  const same = (one, other) => one.model === other.model && one.collection === other.collection
  const rows = own.map((one) => {
    const { model, collection, leg, questions, recall, empty } = one
    const beside = own.find((other) =>
      leg.of === 'default'
        ? same(one, other) && other.leg.of === 'both' && other.leg.tool === undefined
        : same(one, other) && other.leg.of === leg.of && other.leg.tool !== undefined,
    )
    const gain = beside === undefined || leg.tool !== undefined ? '' : percent(recall - beside.recall)
    return [model, collection, questions, leg.name, percent(recall), gain, percent(empty)]
  })
  const others = measured
    .filter(({ leg }) => leg.of === 'others')
    .map(({ model, collection, leg, questions, empty, results }) => {
      return [model, collection, leg.name, questions, percent(empty), results.toFixed(2)]
    })
  const head = [
    'vectors',
    'collection',
    'questions',
    'leg',
    'R@10',
    'to threads tool or threshold 0',
    'empty answers, %',
  ]
  const headOfOthers = ['vectors', 'store of', 'asked', 'questions', 'empty answers, %', 'results, mean']
  return `## Recall of memories

${where}. Questions within their thread, which is the project of its memories; hundredths.

${markdownTable(head, rows)}

Questions about something else, at the default threshold, among all that is stored:

${markdownTable(headOfOthers, others)}
`
}

const { values } = parseArgs({
  options: {
    eval: { type: 'string', default: '../shared/eval' },
    collections: { type: 'string' },
    models: { type: 'string' },
    questions: { type: 'string', default: '300' },
    legs: { type: 'string', default: 'words,both,default,others' },
    port: { type: 'string', default: '8830' },
    ref: { type: 'string' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log(USAGE)
  process.exit(0)
}
const folder = resolve(root, values.eval)
const wanted = LEGS.filter(({ of }) => values.legs.split(',').includes(of))
const names = values.collections?.split(',') ?? collectionNames(folder)
const where = circumstances(values.ref)
const workspace = createWorkspace(values.ref)
const measured = []
try {
  for (const model of chooseModels(folder, values.models)) {
    const port = Number(values.port)
    const { vars, stop } = await model.start(port + 5)
    try {
      for (const name of names.filter(model.knows)) {
        const asked = { folder, port, vars, questions: Number(values.questions), of: names.filter(model.knows) }
        const found = await runCollection(workspace, asked, name)
        measured.push(...found.map((row) => ({ ...row, model: model.name })))
      }
    } finally {
      stop()
    }
  }
} finally {
  workspace.remove()
}
const text = report(measured, where)
console.log(text)
if (values.write) writeSection('recall', text)
