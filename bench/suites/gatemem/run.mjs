// `node bench/suites/gatemem/run.mjs --data GateMem/bench/data`: what leaks to whom it must not, and after it was to be forgotten. See
// ../README.md.
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { markdownTable, mean } from '../../support/numbers.mjs'
import { progress } from '../../support/progress.mjs'
import { circumstances, writeSection } from '../../support/results.mjs'
import { startServer } from '../../support/server.mjs'
import { createWorkspace } from '../../support/workspace.mjs'
import { writeReceipts } from '../support/receipts.mjs'
import { WAYS } from './ask.mjs'
import { POLICIES } from './policies.mjs'
import { readEpisodes } from './read.mjs'
import { playEpisode } from './world.mjs'

const TOKEN = 'administrator-of-this-run-alone'

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    sample: { type: 'string', default: '1' },
    target: { type: 'string', default: 'workerd' },
    port: { type: 'string', default: '18724' },
    receipts: { type: 'string', default: join(import.meta.dirname, '..', '..', '.receipts', 'gatemem.jsonl') },
    ref: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
})
if (values.data === undefined) {
  console.log(
    'node bench/suites/gatemem/run.mjs --data GateMem/bench/data [--sample N] [--target workerd|postgres] [--write]',
  )
  console.log('  data: git clone https://github.com/rzhub/GateMem')
  process.exit(2)
}

const percent = (value) => (Number.isNaN(value) ? '–' : (100 * value).toFixed(1))

function table(outcomes) {
  const rows = POLICIES.flatMap((policy) =>
    WAYS.map(({ name: way }) => {
      const own = outcomes.filter((outcome) => outcome.policy === policy.name && outcome.way === way)
      const leaks = (kind) => mean(own.filter((o) => o.kind === kind).map(({ leaked }) => Number(leaked)))
      const needed = own.filter(({ kind, found }) => kind === 'utility' && found !== null)
      return [
        policy.name,
        way,
        percent(leaks('privacy')),
        percent(leaks('safety')),
        percent(mean(needed.map((o) => o.found))),
      ]
    }),
  )
  return markdownTable(
    ['rules', 'asked by', 'leaks to whom it must not', 'leaks after forgetting', 'words needed, found'],
    rows,
  )
}

const where = circumstances(values.ref)
const episodes = readEpisodes(resolve(values.data)).filter((_, at) => at % Number(values.sample) === 0)
const workspace = createWorkspace(values.ref)
const vars = { LOG_LEVEL: 'ERROR', ADMIN_TOKEN: TOKEN, RATE_LIMIT_PER_MINUTE: '0' }
const state = workspace.folder('state')
const server = await startServer(values.target, { workspace, state, port: Number(values.port), vars })
const bar = progress('gatemem, episodes', episodes.length * POLICIES.length)
const outcomes = []
try {
  for (const policy of POLICIES)
    for (const [at, episode] of episodes.entries()) {
      const played = await playEpisode(server.origin, TOKEN, `${policy.name}-${at}`, episode, policy)
      outcomes.push(...played.map((outcome) => ({ ...outcome, policy: policy.name })))
      bar.tick(1, policy.name)
    }
} finally {
  await server.stop()
}
bar.finish()
writeReceipts(values.receipts, outcomes)
const cases = episodes.flatMap(({ checkpoints }) => checkpoints)
const count = (kind) => cases.filter((checkpoint) => checkpoint.kind === kind).length
const report = `## gatemem

${where}. Database: ${values.target}; embedder: local.

${episodes.length} episodes, ${cases.length} checkpoints (${count('utility')} of utility, ${count('privacy')} of privacy, ${count('safety')} of
forgetting), the best ten of each way, the feed whole. No model judges: a leak is a word of the case's \`leak_targets\` in what comes back.
**shared**: everything is shared, nothing is forgotten; a store without rules. **labelled**: text that a case calls a leak to a principal is
in a project that the key of that principal is not open to, and what was to be forgotten is erased before it is asked for. The rules come
from the labels, since the suite tells them in words; what is measured is whether the store keeps them, not whether a model finds them.

${table(outcomes)}`
console.log(`\n${report}\n\nReceipts: ${values.receipts}`)
if (values.write) writeSection('suites-gatemem', report)
