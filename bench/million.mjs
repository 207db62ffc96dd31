// `npm run bench -- million --from STORES`: measures calls in organizations of 100,000, 10,000 and 1,000 entries among
// a million of fifty organizations, and in each of these alone. STORES is the folder of `npm run bench -- large
// --stores STORES`. See README.md.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { casesFor, takenAt } from './large/cases.mjs'
import { multiply } from './large/multiply.mjs'
import { measureCost } from './load/measure.mjs'
import { administer } from './support/administer.mjs'
import { createClient } from './support/mcp.mjs'
import { markdownTable, percentile, short, thousands } from './support/numbers.mjs'
import { circumstances, writeSection } from './support/results.mjs'
import { startServer } from './support/server.mjs'
import { createWorkspace } from './support/workspace.mjs'

const { values } = parseArgs({
  options: {
    from: { type: 'string' },
    only: { type: 'string', default: '' },
    calls: { type: 'string', default: '20' },
    port: { type: 'string', default: '18940' },
    ref: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
})
if (values.from === undefined) {
  console.log('node bench/million.mjs --from STORES [--only WORDS] [--calls N] [--write]')
  process.exit(2)
}
const stores = resolve(values.from)
const calls = Number(values.calls)
const wanted = new RegExp(values.only)
const FILLED = 100_000
const TOKEN = 'administrator-of-this-run-alone'

/** Fifty orgs of different size, a million entries in all; the first of each size is measured. */
const SIZES = [
  [7, 100_000],
  [4, 30_000],
  [15, 10_000],
  [1, 7_000],
  [23, 1_000],
].flatMap(([orgs, count]) => Array(orgs).fill(count))
const ORGS = SIZES.map((count, at) => ({ org: `org-${at}-of-${count}`, count }))
const MEASURED = [100_000, 10_000, 1_000].map((count) => ORGS.find((one) => one.count === count) ?? ORGS[0])

const where = circumstances(values.ref)
const workspace = createWorkspace(values.ref)
const port = Number(values.port)

/** Runs with a server whose data is in a folder, where an administrator creates organizations. */
async function opened(state, level, use) {
  mkdirSync(state, { recursive: true })
  const vars = { LOG_LEVEL: level, ADMIN_TOKEN: TOKEN, RATE_LIMIT_PER_MINUTE: '0' }
  const server = await startServer('workerd', { workspace, state, port, vars })
  try {
    return await use(server)
  } finally {
    await server.stop()
  }
}

const keptIn = (state) => join(state, 'orgs.json')

/** Fills a store once, and keeps the key and the ids of each org that is measured. */
async function filled(state, copies) {
  if (existsSync(keptIn(state))) return
  const keys = await opened(state, 'ERROR', async ({ origin }) => {
    const made = new Map()
    for (const { org } of copies) {
      await administer(origin, TOKEN, '', { id: org, name: org })
      for (let n = 0; n < 5; n++)
        await administer(origin, TOKEN, `/${org}/projects`, { id: `project-${n}`, name: `project-${n}` })
      made.set(org, (await administer(origin, TOKEN, `/${org}/keys`, { name: 'bench', role: 'admin' })).key)
    }
    return made
  })
  const from = join(stores, `d1-${FILLED}`)
  const folder = workspace.folder('terms')
  let sum = 0
  const told = (org, count) => {
    sum += count
    console.error(`${org}: ${thousands(sum)} entries`)
  }
  const ids = await multiply({ from, to: state, copies, sources: workspace.sources, folder, told })
  const measured = new Set(MEASURED.map(({ org }) => org))
  const kept = Object.fromEntries(
    copies.filter(({ org }) => measured.has(org)).map(({ org }) => [org, { key: keys.get(org), ids: ids.get(org) }]),
  )
  writeFileSync(keptIn(state), JSON.stringify(kept))
}

/** @returns {Promise<Map<string, { p50: number, p95: number, rowsRead: number, rowsWritten: number }>>} by the name of the call */
async function measure(state, { org, count }) {
  const kept = JSON.parse(readFileSync(keptIn(state), 'utf8'))
  const { key, ids } = kept[org]
  const cases = casesFor(count, ids).filter(({ name }) => wanted.test(name))
  const headers = () => ({ authorization: `Bearer ${key}` })
  const times = await opened(state, 'ERROR', async (server) => {
    const client = createClient(server.origin, headers)
    await untilSearched(client, server)
    const found = new Map()
    for (const one of cases) {
      const own = []
      for (let n = 0; n < calls + 2; n++) {
        const { ms } = await client.call(one.tool, one.args(n))
        if (n > 1) own.push(ms)
      }
      found.set(one.name, { p50: percentile(own, 0.5), p95: percentile(own, 0.95) })
      console.error(`${org}, ${one.name}: ${short(percentile(own, 0.5))} ms`)
    }
    client.close()
    return found
  })
  const costs = await opened(state, 'DEBUG', async (server) => {
    const client = createClient(server.origin, headers)
    for (const { tool, args } of cases) await client.call(tool, args(3))
    const counted = await measureCost(server, client, cases, org)
    client.close()
    return counted
  })
  // The next run updates and deletes others.
  const used = new Set(Array.from({ length: 3 * (calls + 12) }, (_, n) => takenAt(n + 1, ids.length)))
  kept[org].ids = ids.filter((_, at) => !used.has(at))
  writeFileSync(keptIn(state), JSON.stringify(kept))
  return new Map([...times].map(([name, time]) => [name, { ...time, ...costs.get(name) }]))
}

/** The vectors of an org come to its Durable Object when it is asked, a part at a time: until it has all. */
async function untilSearched(client, server) {
  for (let tries = 0; tries < 400; tries++) {
    await client.call('semantic_search_context', { query: 'cache', limit: 1 })
    await server.schedule()
    const { content } = await client.call('get_statistics', {})
    if (content.pending_work.pending === 0) return
  }
}

const results = new Map()
try {
  const among = join(stores, 'd1-1000000')
  await filled(among, ORGS)
  for (const one of MEASURED) {
    const alone = join(stores, `d1-alone-${one.count}`)
    await filled(alone, [one])
    // With no calls the stores are only filled.
    if (calls > 0) results.set(one.count, { alone: await measure(alone, one), among: await measure(among, one) })
  }
} finally {
  workspace.remove()
}
if (calls === 0) process.exit(0)

const rows = casesFor(1, [1])
  .filter(({ name }) => wanted.test(name))
  .map(({ name }) => [
    name,
    ...[...results.values()].flatMap(({ alone, among }) => {
      const [here, there] = [alone.get(name), among.get(name)]
      return [
        short(here.p50),
        short(there.p50),
        short(there.p50 / here.p50),
        `${thousands(Math.round(here.rowsRead))}, ${thousands(Math.round(there.rowsRead))}`,
      ]
    }),
  ])
const head = [
  'call',
  ...[...results.keys()].flatMap((count) => [`${thousands(count)} alone: p50 ms`, 'among a million', '×', 'rows read']),
]
const report = `## A million entries of fifty orgs on D1

${where}. Plain workerd, one connection, ${calls} calls a row.
Seven orgs of 100,000, four of 30,000, fifteen of 10,000, one of 7,000 and 23 of 1,000 entries of 45 common words, as in the record of 100,000; one of each size is
asked among all, and alone in a store of its own.

${markdownTable(head, rows)}
`
console.log(report)
if (values.write) writeSection('million', report)
