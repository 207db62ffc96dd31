// `npm run bench -- rows`: counts trips, rows read and rows written of every kind of call, from D1's own counters. See
// README.md.
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { measureCost } from './load/measure.mjs'
import { casesFor } from './rows/cases.mjs'
import { entryAt } from './rows/corpus.mjs'
import { createClient } from './support/mcp.mjs'
import { markdownTable, short, thousands } from './support/numbers.mjs'
import { progress } from './support/progress.mjs'
import { circumstances, writeSection } from './support/results.mjs'
import { startServer } from './support/server.mjs'
import { createWorkspace } from './support/workspace.mjs'

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '1000,10000' },
    only: { type: 'string', default: '' },
    port: { type: 'string', default: '18900' },
    ref: { type: 'string' },
    /** Saves the counts as JSON; compares them with a saved run. */
    save: { type: 'string' },
    before: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
})
const sizes = values.sizes.split(',').map(Number)
const wanted = new RegExp(values.only)
const BATCH = 100
const IDLE_DAY = 'an idle day'
/** Runs of the schedule before anything is counted, and those that count for an idle day. */
const SETTLE = 12
const IDLE = 12
const RUNS_A_DAY = 288

async function fill(client, size) {
  const bar = progress(`${thousands(size)} entries`, size)
  const ids = []
  for (let from = 0; from < size; from += BATCH) {
    const entries = Array.from({ length: Math.min(BATCH, size - from) }, (_, i) => entryAt(from + i, size))
    const { content } = await client.call('store_context_batch', { entries })
    ids.push(...content.results.map(({ context_id }) => context_id))
    bar.tick(BATCH)
  }
  bar.finish()
  return ids
}

/** Counts rows that the schedule reads and writes in a day without calls. */
async function idleDay(server) {
  const day = { roundTrips: 0, rowsRead: 0, rowsWritten: 0 }
  let counting = false
  server.onLog((event) => {
    if (!counting || event.event !== 'sql') return
    day.roundTrips++
    day.rowsRead += Number(event.rowsRead)
    day.rowsWritten += Number(event.rowsWritten)
  })
  for (let n = 0; n < SETTLE; n++) await server.schedule()
  counting = true
  for (let n = 0; n < IDLE; n++) await server.schedule()
  await new Promise((resolve) => setTimeout(resolve, 200))
  counting = false
  return Object.fromEntries(Object.entries(day).map(([name, sum]) => [name, (sum * RUNS_A_DAY) / IDLE]))
}

async function countsOf(workspace, size) {
  const vars = { LOG_LEVEL: 'DEBUG' }
  const state = workspace.folder('state')
  const server = await startServer('workerd', { workspace, state, port: Number(values.port), vars })
  const client = createClient(server.origin)
  try {
    const ids = await fill(client, size)
    const idle = await idleDay(server)
    const cases = casesFor(size, ids).filter(({ name, tool }) => wanted.test(`${tool} ${name}`))
    // Once each, so that what an isolate asks only once is not counted.
    for (const { tool, args } of cases) await client.call(tool, args(3))
    const costs = await measureCost(server, client, cases, thousands(size))
    return [...costs, [IDLE_DAY, idle]]
  } finally {
    client.close()
    await server.stop()
  }
}

const where = circumstances(values.ref)
const workspace = createWorkspace(values.ref)
const runs = []
try {
  for (const size of sizes) runs.push({ size, costs: await countsOf(workspace, size) })
} finally {
  workspace.remove()
}
if (values.save !== undefined) writeFileSync(values.save, JSON.stringify({ where, runs }))
const before = values.before === undefined ? null : JSON.parse(readFileSync(values.before, 'utf8'))

/** @type {[string, string, (value: number) => string][]} */
const COUNTS = [
  ['roundTrips', 'trips', short],
  ['rowsRead', 'rows read', thousands],
  ['rowsWritten', 'rows written', thousands],
]
/** Workers Paid, in dollars: a row read, a row written, a request. */
const PRICE = { read: 0.001 / 1e6, written: 1 / 1e6, request: 0.3 / 1e6 }
/** Rows of D1 that the Free plan gives a day. */
const FREE = { read: 5e6, written: 1e5 }
const dollars = ({ rowsRead, rowsWritten }, calls) =>
  calls * (rowsRead * PRICE.read + rowsWritten * PRICE.written + PRICE.request)
const freeCalls = ({ rowsRead, rowsWritten }) =>
  Math.min(FREE.read / Math.max(rowsRead, 1), FREE.written / Math.max(rowsWritten, 0.01), 100_000)

const table = ({ size, costs }) => {
  const old = new Map(before?.runs.find((run) => run.size === size)?.costs)
  const told = (name, cost, [key, , form]) =>
    before === null ? [form(cost[key])] : [old.has(name) ? form(old.get(name)[key]) : '–', form(cost[key])]
  const head = COUNTS.flatMap(([, name]) => (before === null ? [name] : [`${name}, before`, 'after']))
  const rows = costs.map(([name, cost]) => [
    name,
    ...COUNTS.flatMap((count) => told(name, cost, count)),
    ...(name === IDLE_DAY ? ['–', '–'] : [dollars(cost, 1000).toFixed(4), thousands(freeCalls(cost))]),
  ])
  return `### ${thousands(size)} entries\n\n${markdownTable(['call', ...head, '$ per 1,000 calls', 'calls a day, Free plan'], rows)}`
}
const made = before === null ? where : `Before: ${before.where}.\nAfter: ${where}`
const report = `## Trips and rows on D1

${made}. Entries of 45 common words with two tags, a project and a status; the mean of
three calls; rows as D1 bills them. Dollars are those of Workers Paid for rows of D1 and the request itself ($0.001 a million rows read,
$1 a million written, $0.30 a million requests); the Free plan ends a day at 5 million rows read, 100,000 written or 100,000 requests. An
idle day is ${RUNS_A_DAY} runs of the schedule with nothing to do.

${runs.map(table).join('\n\n')}
`
console.log(report)
if (values.write) writeSection('rows', report)
