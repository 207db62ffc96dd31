// `node bench/faults/history.mjs`: checks that eight clients lose and double nothing while their answers are dropped
// and the server is killed. See ../README.md.
import { parseArgs } from 'node:util'
import { letPass } from '../support/folders.mjs'
import { circumstances, writeSection } from '../support/results.mjs'
import { startServer } from '../support/server.mjs'
import { createWorkspace } from '../support/workspace.mjs'
import { playHistory } from './history-play.mjs'

const { values } = parseArgs({
  options: {
    targets: { type: 'string', default: 'workerd,postgres' },
    steps: { type: 'string', default: '60' },
    kills: { type: 'string', default: '10' },
    seed: { type: 'string', default: '20261122' },
    port: { type: 'string', default: '18790' },
    write: { type: 'boolean', default: false },
  },
})

const NAMES = { workerd: 'D1', postgres: 'PostgreSQL' }
const where = circumstances()
const workspace = createWorkspace()
const port = Number(values.port)
const rows = []
let wrong = 0
for (const target of values.targets.split(',')) {
  const state = workspace.folder(`state-${target}`)
  // A database may run as another user, who needs access to this folder.
  letPass(state)
  const result = await playHistory({
    async start() {
      const vars = { LOG_LEVEL: 'ERROR', RATE_LIMIT_PER_MINUTE: '0' }
      return startServer(target, { workspace, state, port, vars })
    },
    seed: Number(values.seed),
    steps: Number(values.steps),
    kills: Number(values.kills),
    log: (line) => console.log(`${target}: ${line}`),
  })
  const { operations, conflicts, replays, kills, unanswered, changes, lost, doubled, wrong: other, seconds } = result
  rows.push(
    `| ${NAMES[target]} | ${operations} | ${conflicts} | ${replays} | ${kills} | ${unanswered} | ${changes} | ${lost.length} | ` +
      `${doubled.length} | ${other.length} | ${seconds} |`,
  )
  wrong += lost.length + doubled.length + other.length
  for (const line of [...lost, ...doubled, ...other].slice(0, 20)) console.error(line)
}
const report = `## Random histories

${where}; plain workerd, killed with -9 at moments that the seed decides (on PostgreSQL with the database's own processes), eight clients of
${values.steps} calls each, seed ${values.seed}.

| database | operations | conflicts | replays | kills | calls without an answer | changes | lost | doubled | otherwise wrong | seconds |
|---|---|---|---|---|---|---|---|---|---|---|
${rows.join('\n')}`
console.log(report)
if (values.write) writeSection('histories', report)
process.exitCode = wrong === 0 ? 0 : 1
