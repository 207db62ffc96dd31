// `npm run bench -- large`: measures calls in a store of 100,000 entries, compared with FTS5's own order. See
// README.md.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { casesFor, largeEntryAt } from './large/cases.mjs'
import { measureCost } from './load/measure.mjs'
import { createClient } from './support/mcp.mjs'
import { markdownTable, percentile, short, thousands } from './support/numbers.mjs'
import { progress } from './support/progress.mjs'
import { circumstances, writeSection } from './support/results.mjs'
import { startServer } from './support/server.mjs'
import { createWorkspace } from './support/workspace.mjs'

const { values } = parseArgs({
  options: {
    size: { type: 'string', default: '100000' },
    /** `workerd` (D1) or `pooled` (PostgreSQL behind a pooler in transaction mode). */
    target: { type: 'string', default: 'workerd' },
    /** A folder of the filled store for the next run, which also continues an interrupted one. */
    stores: { type: 'string' },
    only: { type: 'string', default: '' },
    calls: { type: 'string', default: '30' },
    port: { type: 'string', default: '18930' },
    ref: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
})
const size = Number(values.size)
const calls = Number(values.calls)
const wanted = new RegExp(values.only)
const isD1 = values.target === 'workerd'
const BATCH = 100
/** Rounds that are not counted. */
const WARMUP = 2
/** The call that is the unit of the others. */
const UNIT = 'get_context_by_ids, twenty'
/** Runs of the schedule after the store was filled: the index is merged, vectors are in their places. */
const SETTLE = 15

/** @param {import('./support/mcp.mjs').Client} client @param {{ ids: number[] }} kept @param {() => void} keep */
async function fill(client, kept, keep) {
  if (kept.ids.length >= size) return false
  const bar = progress(`${thousands(size)} entries`, size)
  bar.tick(kept.ids.length)
  while (kept.ids.length < size) {
    const from = kept.ids.length
    const entries = Array.from({ length: Math.min(BATCH, size - from) }, (_, i) => largeEntryAt(from + i, size))
    const { content } = await client.call('store_context_batch', { entries })
    kept.ids.push(...content.results.map(({ context_id }) => context_id))
    keep()
    bar.tick(BATCH)
  }
  bar.finish()
  return true
}

/** @param {string} origin @param {string} expression */
async function byRank(origin, expression) {
  const started = performance.now()
  await (await fetch(`${origin}/bench/match?of=${encodeURIComponent(expression)}`)).json()
  return performance.now() - started
}

/** Calls the cases in turns, so that other work on the machine slows all of them, and the engine's own answers next to them. */
async function timesOf(origin, client, cases) {
  /** @type {Map<string, { own: number[], engine: number[] }>} */
  const times = new Map(cases.map(({ name }) => [name, { own: [], engine: [] }]))
  for (let n = 0; n < calls + WARMUP; n++)
    for (const { name, tool, args, match } of cases) {
      const { ms } = await client.call(tool, args(n))
      const rank = match === undefined || !isD1 ? Number.NaN : await byRank(origin, match(n))
      if (n < WARMUP) continue
      times.get(name)?.own.push(ms)
      times.get(name)?.engine.push(rank)
    }
  return new Map(
    [...times].map(([name, { own, engine }]) => [
      name,
      [percentile(own, 0.5), percentile(own, 0.95), engine.some(Number.isNaN) ? Number.NaN : percentile(engine, 0.5)],
    ]),
  )
}

const where = circumstances(values.ref)
const workspace = createWorkspace(values.ref, isD1 ? 'bench/large/index.ts' : undefined)
const state =
  values.stores === undefined
    ? workspace.folder('state')
    : resolve(values.stores, `${isD1 ? 'd1' : values.target}-${size}`)
mkdirSync(state, { recursive: true })
const file = join(state, 'kept.json')
const kept = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { ids: [] }
const port = Number(values.port)

async function opened(level, use) {
  const server = await startServer(values.target, { workspace, state, port, vars: { LOG_LEVEL: level } })
  const client = createClient(server.origin)
  try {
    return await use(server, client)
  } finally {
    client.close()
    await server.stop()
  }
}

let times = new Map()
let costs = new Map()
try {
  const cases = casesFor(size, kept.ids, kept.runs ?? 0).filter(({ name }) => wanted.test(name))
  await opened('ERROR', async (server, client) => {
    const keep = () => writeFileSync(file, JSON.stringify(kept))
    if (await fill(client, kept, keep)) for (let n = 0; n < SETTLE; n++) await server.schedule()
    if (calls > 0) times = await timesOf(server.origin, client, cases)
  })
  if (calls > 0)
    costs = await opened('DEBUG', async (server, client) => {
      for (const { tool, args } of cases) await client.call(tool, args(3))
      return measureCost(server, client, cases, thousands(size))
    })
  writeFileSync(file, JSON.stringify({ ...kept, runs: (kept.runs ?? 0) + 1 }))
} finally {
  workspace.remove()
}

const unit = times.get(UNIT)?.[0] ?? Number.NaN
const shown = (number) => (Number.isNaN(number) ? '' : short(number))
const rows = [...times].map(([name, [p50, p95, rank]]) => {
  const { roundTrips, rowsRead, rowsWritten } = costs.get(name)
  const beside = isD1 ? [shown(rank), shown(p50 / rank)] : []
  const counts = [short(roundTrips), thousands(rowsRead), short(rowsWritten)]
  return [name, short(p50), short(p95), shown(p50 / unit), ...beside, ...counts]
})
const engine = isD1 ? ["FTS5's order, p50", '×'] : []
const head = ['call', 'p50 ms', 'p95', '× get 20', ...engine, 'trips', 'rows read', 'written']
const beside = isD1
  ? ` For comparison with searches by words: FTS5's own \`ORDER BY rank LIMIT 200\` for the
same words, unconfined, over HTTP from the same table in the same process, in alternation.`
  : ' The database is behind a pooler in transaction mode.'
const report = `## ${thousands(size)} entries on ${isD1 ? 'D1' : 'PostgreSQL'}

${where}. Plain workerd, one connection, ${calls} calls a row, in turns. Entries of 45 common words
with two tags, project, status, priority and a key without an index.${beside}

${markdownTable(head, rows)}
`
console.log(report)
if (values.write) writeSection(isD1 ? `large-${size}` : `large-${size}-postgres`, report)
