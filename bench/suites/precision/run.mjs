// `node bench/suites/precision/run.mjs --data DIR`: PrecisionMemBench (tenurehq/precisionMemBench), the right beliefs and only they,
// through its own generic text or what our store can hold, by packs, recall at its default and hybrid search. See bench/suites/README.md.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { createClient } from '../../support/mcp.mjs'
import { markdownTable, mean } from '../../support/numbers.mjs'
import { startServer } from '../../support/server.mjs'
import { createWorkspace } from '../../support/workspace.mjs'
import { readData } from '../support/data.mjs'
import { ADAPTERS, ASKED } from './adapters.mjs'
import { contextOf, faultsOf, sharesOf } from './judge.mjs'

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    adapters: { type: 'string', default: Object.keys(ADAPTERS).join(',') },
    asked: { type: 'string', default: Object.keys(ASKED).join(',') },
    target: { type: 'string', default: 'workerd' },
    port: { type: 'string', default: '8871' },
    ref: { type: 'string' },
    receipts: { type: 'string' },
    show: { type: 'boolean', default: false },
  },
})
if (values.data === undefined) {
  console.error('--data DIR: a checkout of https://github.com/tenurehq/precisionMemBench')
  process.exit(2)
}
const NAMES = ['beliefs.seed.json', 'retrieval.cases.json', 'session-retrieval.cases.json'].map(
  (name) => `fixtures/${name}`,
)
const { files, hash } = readData(values.data, NAMES)
const [seed, cases, sessions] = files
const USER = 'test-user'

/** Orders beliefs so that each comes after those that it replaces and joins. */
function inOrder(beliefs) {
  const byId = new Map(beliefs.map((one) => [one._id, one]))
  const replaces = (id) => beliefs.filter(({ superseded_by: by }) => by === id).map(({ _id }) => _id)
  const ordered = new Map()
  const add = (one) => {
    if (one === undefined || ordered.has(one._id)) return
    const replaced = replaces(one._id)
    for (const id of [...replaced, ...(one.participants ?? [])]) add(byId.get(id))
    ordered.set(one._id, { ...one, replaces: replaced })
  }
  for (const one of beliefs) add(one)
  return [...ordered.values()]
}

/** Cases and turns of sessions through one adapter and one way to ask, in a store of their own. */
async function play(workspace, adapter, asked) {
  const server = await startServer(values.target, {
    ...{ workspace, state: workspace.folder(`${adapter}-${asked}`), port: Number(values.port) },
    vars: { LOG_LEVEL: 'ERROR' },
  })
  const client = createClient(server.origin)
  try {
    const store = ADAPTERS[adapter](client, ASKED[asked])
    const beliefs = new Map()
    for (const belief of inOrder(seed)) {
      beliefs.set(belief._id, { ...belief, aliases: [...(belief.aliases ?? [])] })
      await store.add(belief)
    }
    const pinnedInSeed = new Set(seed.filter(({ pinned }) => pinned).map(({ _id }) => _id))
    const answer = async (one, expect, isTurn) => {
      const questions = new Set(
        [...beliefs.values()].filter(({ type }) => type === 'open_question').map(({ _id }) => _id),
      )
      const search = (query, limit) => store.search({ ...one, questions }, query, limit)
      const context = await contextOf(beliefs, one, search, store.routes === true)
      const shares = sharesOf(context, expect, isTurn ? new Set() : pinnedInSeed)
      return { id: one.id, ...context, ...shares, faults: faultsOf(context, expect) }
    }
    const single = []
    for (const { caseId: id, userId: user = USER, scope, query, budget, expect } of cases)
      single.push(await answer({ id, user, scope, query, budget }, expect, false))
    const turns = []
    for (const { caseId, turns: of } of sessions)
      for (const turn of of) {
        const {
          turnIndex,
          scope,
          userMessage: query,
          expect,
          createBeliefAtTurn: made,
          updateBeliefAtTurn: changed,
        } = turn
        turns.push(await answer({ id: `${caseId} ${turnIndex}`, user: USER, scope, query }, expect, true))
        if (made) {
          beliefs.set(made._id, made)
          await store.add(made)
        }
        if (changed?.addAliases) {
          const belief = beliefs.get(changed.beliefId)
          belief.aliases = [...new Set([...belief.aliases, ...changed.addAliases])]
          await store.rename(belief)
        }
      }
    return { adapter, asked, single, turns }
  } finally {
    client.close()
    await server.stop()
  }
}

const known = (numbers) => numbers.filter((value) => value !== null)
const passed = (rows) => rows.filter(({ faults }) => faults.length === 0).length
const two = (value) => value.toFixed(2)

const workspace = createWorkspace(values.ref)
const runs = []
try {
  for (const adapter of values.adapters.split(','))
    for (const asked of values.asked.split(',')) runs.push(await play(workspace, adapter, asked))
} finally {
  workspace.remove()
}
if (values.receipts !== undefined) {
  mkdirSync(dirname(values.receipts), { recursive: true })
  writeFileSync(values.receipts, JSON.stringify({ hash, runs }, null, 1))
}
if (values.show)
  for (const { adapter, asked, single, turns } of runs)
    for (const { id, faults, relevant } of [...single, ...turns])
      if (faults.length > 0) console.log(`${adapter} ${asked} · ${id}: ${faults.join('; ')} [${relevant.join(' ')}]`)
console.log(
  `PrecisionMemBench, data ${hash}: ${cases.length} cases and ${runs[0]?.turns.length} turns of sessions, vectors of local\n`,
)
console.log(
  markdownTable(
    ['adapter', 'asked by', 'cases passed', 'of them active', 'precision', 'recall', 'turns passed', 'their precision'],
    runs.map(({ adapter, asked, single, turns }) => [
      ...[adapter, asked, `${passed(single)}/${single.length}`],
      `${passed(single.filter(({ active }) => active))}/${single.filter(({ active }) => active).length}`,
      ...[
        two(mean(known(single.map(({ precision }) => precision)))),
        two(mean(known(single.map(({ recall }) => recall)))),
      ],
      ...[`${passed(turns)}/${turns.length}`, two(mean(known(turns.map(({ precision }) => precision))))],
    ]),
  ),
)
