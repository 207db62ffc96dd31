// `npm run bench -- load`: measures the tools over MCP, and how their cost grows with the table. See README.md.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { BACKENDS, backendsReport } from './load/backends.mjs'
import { casesFor } from './load/cases.mjs'
import { compareReport } from './load/compare.mjs'
import { fill } from './load/fill.mjs'
import { measureCost, measureTime } from './load/measure.mjs'
import { loadReport } from './load/report.mjs'
import { createClient } from './support/mcp.mjs'
import { circumstances, writeSection } from './support/results.mjs'
import { startServer, TARGETS } from './support/server.mjs'
import { createWorkspace } from './support/workspace.mjs'

const USAGE = `node bench/load.mjs [options]

  --sizes 1000,10000      entries in the table (default 1000,10000,100000; multiples of 100 from 1000 on)
  --targets workerd       workerd, wrangler or both (default both; wrangler up to 10,000 entries)
  --backends               D1 and PostgreSQL side by side, 10,000 and 100,000 entries in workerd
  --quick                 1,000 and 10,000 entries in workerd, few calls: a quick check, not a record
  --port 18700            the first of three ports to use
  --save FILE             keep what was measured
  --before FILE           compare with another commit, in a separate section
  --ref HEAD              measure this commit instead of the working tree
  --write, --no-write     whether the record is written (default: after a full run)`

/** Above this many entries, measuring wrangler's proxy gives no new information. */
const WRANGLER_LIMIT = 10_000

function readOptions() {
  const { values } = parseArgs({
    allowNegative: true,
    options: {
      sizes: { type: 'string' },
      targets: { type: 'string' },
      backends: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      port: { type: 'string', default: '18700' },
      ref: { type: 'string' },
      save: { type: 'string' },
      before: { type: 'string' },
      write: { type: 'boolean' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    console.log(USAGE)
    process.exit(0)
  }
  const { quick, backends } = values
  const allTargets = backends ? Object.keys(BACKENDS) : TARGETS
  const allSizes = backends ? '10000,100000' : '1000,10000,100000'
  const sizes = (values.sizes ?? (quick ? '1000,10000' : allSizes)).split(',').map(Number)
  const targets = (values.targets ?? (quick && !backends ? 'workerd' : allTargets.join(','))).split(',')
  if (
    sizes.some((size) => !(size >= 1000 && size % 100 === 0)) ||
    targets.some((target) => !allTargets.includes(target))
  )
    throw new Error(USAGE)
  const whole = !quick && values.sizes === undefined && values.targets === undefined
  return {
    backends,
    sizes,
    targets,
    count: quick ? 15 : 60,
    port: Number(values.port),
    ref: values.ref,
    save: values.save,
    before: values.before,
    write: values.write ?? whole,
  }
}

function folderBytes(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
}

/** Measures one table: filled and read with the log quiet, then opened by a server that logs its reads, then written to. */
async function runSize(workspace, { target, size, count, port }) {
  const label = `${target} ${size.toLocaleString('en-GB')}`
  const state = workspace.folder('state')
  const open = async (logLevel, use) => {
    const server = await startServer(target, { workspace, state, port, vars: { LOG_LEVEL: logLevel } })
    const client = createClient(server.origin)
    try {
      return await use(server, client)
    } finally {
      client.close()
      await server.stop()
    }
  }
  const { speed, megabytes, cases, reads } = await open('ERROR', async (_, client) => {
    const { loaded, speed } = await fill(client, size, label)
    const megabytes = folderBytes(state) / 2 ** 20
    const cases = casesFor(loaded, await client.toolNames())
    const reading = cases.filter(({ writes }) => !writes)
    return { speed, megabytes, cases, reads: await measureTime(client, reading, count, `${label}, reading`) }
  })
  const costs = await open('DEBUG', (server, client) => measureCost(server, client, cases, label))
  // Last, because it makes the table larger than stated.
  const writing = cases.filter(({ writes }) => writes)
  const writes = await open('ERROR', (_, client) => measureTime(client, writing, count, `${label}, writing`))
  return { target, size, speed, megabytes, timings: new Map([...reads, ...writes]), costs }
}

const options = readOptions()
const where = circumstances(options.ref)
const workspace = createWorkspace(options.ref)
const runs = []
for (const target of options.targets)
  for (const size of options.sizes)
    if (target !== 'wrangler' || size <= WRANGLER_LIMIT)
      runs.push(await runSize(workspace, { ...options, target, size }))

if (options.save !== undefined) {
  const plain = runs.map((run) => ({ ...run, timings: [...run.timings], costs: [...run.costs] }))
  writeFileSync(options.save, JSON.stringify({ where, runs: plain }))
}

/** @returns {[section: string, report: string]} */
function reportOf() {
  if (options.before !== undefined) {
    const before = JSON.parse(readFileSync(options.before, 'utf8'))
    const read = before.runs.map((run) => ({ ...run, timings: new Map(run.timings), costs: new Map(run.costs) }))
    return ['load compared', compareReport(read, runs, { where: [before.where, where], count: options.count })]
  }
  return options.backends
    ? ['backends', backendsReport(runs, where, options.count)]
    : ['load', loadReport(runs, where, options.count)]
}

const [section, report] = reportOf()
console.log(report)
if (options.write) writeSection(section, report)
else console.log('Not written to bench/records/load.md (a partial run; --write to keep it).')
