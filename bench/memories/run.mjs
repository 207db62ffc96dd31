// `npm run bench -- memories`: measures storing, recalling, listing and getting current memories, compared with the
// threads tools in the same run, on D1 and on PostgreSQL in plain workerd. See bench/README.md.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { createClient } from '../support/mcp.mjs'
import { markdownTable, percentile, short, thousands } from '../support/numbers.mjs'
import { progress } from '../support/progress.mjs'
import { circumstances, writeSection } from '../support/results.mjs'
import { startServer } from '../support/server.mjs'
import { createWorkspace } from '../support/workspace.mjs'
import { CASES, fillTo } from './work.mjs'

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '1000,10000' },
    targets: { type: 'string', default: 'workerd,pooled' },
    calls: { type: 'string', default: '40' },
    only: { type: 'string' },
    stores: { type: 'string' },
    port: { type: 'string', default: '8833' },
    ref: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
})
const sizes = values.sizes.split(',').map(Number)
const calls = Number(values.calls)
const NAMES = { workerd: 'D1', postgres: 'PostgreSQL', pooled: 'PostgreSQL, pooled' }
/** The selected cases. */
const wanted = new RegExp(values.only ?? '')
const WANTED = CASES.filter(({ name }) => wanted.test(name))

const ROUNDS = 3

async function measure(client, label) {
  const bar = progress(label, WANTED.length * ROUNDS)
  /** @type {Map<(typeof CASES)[number], number[]>} */
  const times = new Map(WANTED.map((one) => [one, []]))
  for (const one of WANTED) for (let n = 0; n < 3; n++) await client.call(one.tool, one.args(n))
  for (let round = 0; round < ROUNDS; round++)
    for (const [one, all] of times) {
      for (let n = 0; n < calls / ROUNDS; n++) all.push((await client.call(one.tool, one.args(all.length + 3))).ms)
      bar.tick(1, one.name)
    }
  bar.finish()
  return new Map([...times].map(([{ name }, all]) => [name, { p50: percentile(all, 0.5), p95: percentile(all, 0.95) }]))
}

/** Runs of the schedule before anything is measured: those of a quarter of an hour. */
const RUNS = 3

/** Runs with a client of a server whose data is in a folder. */
async function served(workspace, target, state, run) {
  const vars = { LOG_LEVEL: 'ERROR' }
  const server = await startServer(target, { workspace, state, port: Number(values.port), vars })
  const client = createClient(server.origin)
  try {
    return await run(client, server)
  } finally {
    client.close()
    await server.stop()
  }
}

/** One store that grows from size to size; with `--stores`, one of each size, which is filled once and kept. */
async function runTarget(workspace, target) {
  const results = []
  const stepOf = (size, from) => async (client, server) => {
    if (from !== null) await fillTo(client, from, size)
    for (let n = 0; n < RUNS; n++) await server.schedule()
    if (calls > 0) results.push(await measure(client, `${NAMES[target]}, ${thousands(size)}`))
  }
  if (values.stores === undefined)
    await served(workspace, target, workspace.folder('state'), async (client, server) => {
      for (const [i, size] of sizes.entries()) await stepOf(size, sizes[i - 1] ?? 0)(client, server)
    })
  else
    for (const size of sizes) {
      const state = resolve(values.stores, `${target}-${size}`)
      const filled = existsSync(`${state}.filled`)
      mkdirSync(state, { recursive: true })
      await served(workspace, target, state, stepOf(size, filled ? null : 0))
      writeFileSync(`${state}.filled`, '')
    }
  return results
}

const where = circumstances(values.ref)
const workspace = createWorkspace(values.ref)
const tables = []
try {
  for (const target of values.targets.split(',')) {
    const results = await runTarget(workspace, target)
    const rows = WANTED.map(({ name }) => {
      const of = results.flatMap((result) => result.get(name) ?? [])
      const [first, last] = [of[0], of.at(-1)]
      const growth = first && last && of.length > 1 ? [short(last.p50 / first.p50)] : []
      return [name, ...of.flatMap(({ p50, p95 }) => [short(p50), short(p95)]), ...growth]
    })
    const head = [
      'call',
      ...sizes.flatMap((size) => [`${thousands(size)}: p50 ms`, 'p95 ms']),
      ...(sizes.length > 1 ? ['p50 ×'] : []),
    ]
    const ratios = results.flatMap((result) => {
      const [now, empty] = [result.get('getCurrent'), result.get('an empty call')]
      return now && empty ? [short(now.p50 / empty.p50)] : []
    })
    const told = ratios.length === 0 ? '' : `\n\ngetCurrent takes ${ratios.join(', ')} × an empty call.`
    tables.push(`### ${NAMES[target]}\n\n${markdownTable(head, rows)}${told}`)
  }
} finally {
  workspace.remove()
}
/** Notes on the cost by commit. */
const causes = readFileSync(resolve(import.meta.dirname, '../records/memories-causes.md'), 'utf8')
const report = `## Memories

${where}.

One project, a tenth of its memories in layer 3, one connection, one call at a time, over MCP, after three runs of the schedule. Rows that
begin with a dash are the threads tools in the same run. Context Fabric 0.14 at 10,000 (its repository over stdio with a stub embedder, p50
ms): list by type with offset 18.7, by two tags 6.5, by type and tag 37, getCurrent 22.7, store 2.7; keyword recall p95 8; half of its writes
failed with two clients.

${causes}
${tables.join('\n\n')}
`
console.log(report)
if (values.write) writeSection('memories', report)
