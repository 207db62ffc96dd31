// `node bench/faults/health.mjs`: measures how long /health waits during a call with the largest allowed work. A process of its
// own asks /health. See ../README.md.
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createClient } from '../support/mcp.mjs'
import { markdownTable, percentile, short } from '../support/numbers.mjs'
import { circumstances, writeSection } from '../support/results.mjs'
import { startServer } from '../support/server.mjs'
import { createWorkspace } from '../support/workspace.mjs'
import { codeCases, fill, memberCases, storeCases } from './health-cases.mjs'

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '18790' },
    rounds: { type: 'string', default: '5' },
    /** `workerd` (D1) or `postgres`. */
    target: { type: 'string', default: 'workerd' },
    only: { type: 'string', default: '' },
    /** Whether the cases that need stored entries are left out. */
    unfilled: { type: 'boolean', default: false },
    ref: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
})

/** How long the idle server is asked, in ms. */
const IDLE_MS = 1_000

const where = circumstances(values.ref)
const workspace = createWorkspace(values.ref)
const vars = { LOG_LEVEL: 'ERROR', RATE_LIMIT_PER_MINUTE: '0' }
const state = workspace.folder('state')
const server = await startServer(values.target, { workspace, state, vars, port: Number(values.port) })
const prober = fork(fileURLToPath(import.meta.resolve('./health-prober.mjs')), [server.origin])

/** @returns {Promise<{ms: number, busy: number}[]>} the answers of /health since the last lap */
const lap = () =>
  new Promise((resolve) => {
    prober.once('message', (message) => resolve(/** @type {any} */ (message)))
    prober.send('lap')
  })

/** An answer in a few words. @param {{status: number, text: string}} answer */
const outcome = ({ status, text }) => `${status} ${/"code\\?":\\?"(\w+)/.exec(text)?.[1] ?? ''}`.trim()

const rows = []
try {
  const client = createClient(server.origin)
  if (!values.unfilled) await fill(client)
  client.close()
  const cases = [
    ...memberCases(server.origin),
    ...codeCases(server.origin),
    ...(values.unfilled ? [] : await storeCases(server.origin)),
  ]
  await lap()
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
  const idle = percentile(
    (await lap()).map(({ ms }) => ms),
    0.5,
  )
  for (const [name, call] of cases.filter(([name]) => name.includes(values.only))) {
    const waits = []
    const busy = []
    const times = []
    let last = ''
    for (let round = 0; round < Number(values.rounds); round++) {
      await lap()
      const started = performance.now()
      last = await call().then(outcome, (error) => String(error.cause ?? error))
      times.push(performance.now() - started)
      const answers = await lap()
      waits.push(Math.max(...answers.map(({ ms }) => ms)))
      busy.push(Math.max(...answers.map(({ busy }) => busy)))
    }
    const wait = percentile(waits, 0.5)
    const median = [percentile(times, 0.5), wait, wait / idle, percentile(busy, 0.5)]
    rows.push([name, last, ...[...median, Math.max(...waits)].map(short)])
    console.log(rows.at(-1)?.join(' | '))
  }
  const report = `## /health while one call runs, ${values.target === 'workerd' ? 'D1' : 'PostgreSQL'}

${where}; plain workerd. \`/health\` is asked by a process of its own, every 2 ms; idle it answers in ${short(idle)} ms (p50).
Medians of ${values.rounds} calls: \`ms\` of the call, \`held ms\` the longest answer of \`/health\` during it, \`× idle\` the same as a multiple; \`busy ms\`
the most processor time of the server's thread before an answer, which other programs on the machine do not lengthen; \`worst ms\` the longest of all
${values.rounds}.

${markdownTable(['call', 'answer', 'ms', 'held ms', '× idle', 'busy ms', 'worst ms'], rows)}`
  if (values.write) writeSection(values.target === 'workerd' ? 'health' : `health-${values.target}`, report)
  console.log(report)
} finally {
  prober.kill()
  await server.stop()
}
