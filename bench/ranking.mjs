// `node bench/ranking.mjs --set FOLDER`: measures the gain of each ranking rule on real histories: the product with and without a rule,
// with the interval over the goals, and with each project left out. FOLDER holds `evaluate.mjs`, entries and goals; see README.md.
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { environment, nodePath, root } from '../scripts/install.mjs'
import { markdownTable, mean, random } from './support/numbers.mjs'
import { circumstances, writeSection } from './support/results.mjs'

const { values } = parseArgs({
  options: {
    set: { type: 'string' },
    /** A folder of a model; `local` where it is absent. */
    model: { type: 'string' },
    /** Rules whose names match. */
    only: { type: 'string', default: '' },
    /** Packs alone, which takes half of the time. */
    packs: { type: 'boolean', default: false },
    port: { type: 'string', default: '18990' },
    write: { type: 'boolean', default: false },
  },
})
if (values.set === undefined) throw new Error('--set names the folder of evaluate.mjs')
const set = resolve(values.set)
/** Folders that no server needs. */
const LEFT_OUT = /^(bench|docs|test)\//
const DRAWS = 4_000
/** Ranks of `evaluate.mjs` from which on nothing was found. */
const NEVER = 9_999

const SCORE = 'src/domain/search/score.ts'
const FUSION = 'src/domain/search/fusion.ts'
/**
 * Each rule, and the edit that disables it: text of a file that is replaced.
 *
 * @type {Record<string, [file: string, from: string, to: string]>}
 */
const RULES = {
  'an exact title first': [SCORE, 'const TITLE_SHARE = 0.75', 'const TITLE_SHARE = 1e9'],
  'a word of the title twice': [SCORE, 'export const TITLE_TIMES = 2', 'export const TITLE_TIMES = 1'],
  'the query-likelihood part': [SCORE, 'sum += Math.max(0, likelihood) +', 'sum += 0 * likelihood +'],
  'the prior of short entries': [SCORE, 'const SHORTNESS = 5', 'const SHORTNESS = 0'],
  'all of two or three words first': [SCORE, 'const TIER_UNITS = 3', 'const TIER_UNITS = 0'],
  'the bonus of all words': [SCORE, 'const COMPLETE_BONUS = 2', 'const COMPLETE_BONUS = 0'],
  'shares of the neighbors': [SCORE, '= [0.2, 0.04] as const', '= [0, 0] as const'],
  'similarity (90)': [FUSION, 'const NEARNESS_WEIGHT = 90', 'const NEARNESS_WEIGHT = 0'],
  'the square of x': [FUSION, 'Math.max(1 - lowest, SMALLEST_SPAN)) ** 2', 'Math.max(1 - lowest, SMALLEST_SPAN)) ** 1'],
  'g, one-line chunks less': [FUSION, 'const FULL_CHUNK = 150', 'const FULL_CHUNK = 1'],
  compounds: ['src/domain/search/compounds.ts', 'words: 6, parts: 60', 'words: 0, parts: 60'],
  'the end at half of the first score': ['src/domain/pack/select-entries.ts', 'const CUT = 0.5', 'const CUT = 0'],
  'five items in doubt': ['src/domain/pack/select-entries.ts', 'const DOUBTFUL = 5', 'const DOUBTFUL = 1e9'],
}

const base = mkdtempSync(join(tmpdir(), 'commonplace-ranking-'))
process.once('exit', () => rmSync(base, { recursive: true, force: true, maxRetries: 5 }))
const sources = join(base, 'sources')
const tracked = spawnSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).stdout.split('\n')
for (const name of tracked)
  if (name !== '' && !LEFT_OUT.test(name) && existsSync(join(root, name))) cpSync(join(root, name), join(sources, name))
symlinkSync(join(root, 'node_modules'), join(sources, 'node_modules'), 'dir')

/** Starts the copy of the sources on the one store of this run. */
async function serve() {
  const provider = values.model === undefined ? 'EMBEDDING_PROVIDER:local' : `EMBEDDING_MODEL:${resolve(values.model)}`
  const args = [
    'scripts/start.mjs',
    '--port',
    String(values.port),
    '--persist-to',
    join(base, 'state'),
    '--var',
    provider,
  ]
  const child = spawn(nodePath(), args, { cwd: sources, env: environment(), stdio: 'ignore' })
  let status = /** @type {number | null} */ (null)
  const gone = new Promise((done) =>
    child.once('exit', (code) => {
      status = code ?? 1
      done(undefined)
    }),
  )
  for (;;) {
    if (status !== null) throw new Error(`scripts/start.mjs ended with ${status}`)
    const ready = await fetch(`http://localhost:${values.port}/ready`).catch(() => null)
    if (ready !== null && (await ready.json()).checks.embeddings?.ok !== false) break
    await new Promise((done) => setTimeout(done, 200))
  }
  return async () => {
    child.kill('SIGTERM')
    await gone
  }
}

/** What `evaluate.mjs` finds with the sources as they are. */
async function measure() {
  const stop = await serve()
  const out = join(base, 'out.json')
  const url = `http://localhost:${values.port}/mcp`
  const args = [join(set, 'evaluate.mjs'), '--url', url, '--ids', join(base, 'ids.json'), '--json', out]
  const child = spawn(nodePath(), [...args, ...(values.packs ? ['--only', 'pack'] : [])], { stdio: 'ignore' })
  const status = await new Promise((done) => child.once('exit', done))
  await stop()
  if (status !== 0) throw new Error(`evaluate.mjs ended with ${status}`)
  return JSON.parse(readFileSync(out, 'utf8'))
}

const facts = ({ packs }) =>
  packs.map(({ project, ranks }) => ({ project, value: 100 * mean(ranks.map((rank) => Number(rank < NEVER))) }))
const firsts = ({ questions }) =>
  questions.map(({ project, hybrid }) => ({ project, value: 100 * Number(hybrid.rank === 1) }))
const signed = (value) => `${value >= 0 ? '+' : '−'}${Math.abs(value).toFixed(1)}`

/** The gain of a rule: the mean, its interval (paired bootstrap, 95 %), and the least and the most with one project left out. */
function gain(withRule, without) {
  if (withRule.length === 0) return '–'
  const differences = withRule.map(({ project, value }, i) => ({ project, by: value - without[i].value }))
  const next = random(1)
  const draws = Array.from({ length: DRAWS }, () =>
    mean(differences.map(() => differences[Math.floor(next() * differences.length)].by)),
  ).sort((a, b) => a - b)
  const of = (list) => mean(list.map(({ by }) => by))
  const left = [...new Set(differences.map(({ project }) => project))].map((project) =>
    of(differences.filter((one) => one.project !== project)),
  )
  const interval = `[${signed(draws[Math.floor(0.025 * DRAWS)])}, ${signed(draws[Math.floor(0.975 * DRAWS)])}]`
  return `${signed(of(differences))} ${interval}; ${signed(Math.min(...left))} … ${signed(Math.max(...left))}`
}

const sum = (list, of) => list.reduce((all, one) => all + of(one), 0)
const shown = ({ packs }) => `${(sum(packs, (one) => one.items) / packs.length).toFixed(1)}`
const belong = ({ packs }) =>
  `${((100 * sum(packs, (one) => one.right)) / sum(packs, (one) => one.items)).toFixed(0)} %`

const whole = await measure()
const rows = []
for (const [name, [file, from, to]] of Object.entries(RULES)) {
  if (!new RegExp(values.only).test(name)) continue
  const path = join(sources, file)
  const text = readFileSync(path, 'utf8')
  if (!text.includes(from)) throw new Error(`${file} has no ${from}: change the rule here`)
  writeFileSync(path, text.replace(from, to))
  const without = await measure()
  writeFileSync(path, text)
  rows.push([
    name,
    gain(facts(whole), facts(without)),
    gain(firsts(whole), firsts(without)),
    `${shown(without)}, ${belong(without)}`,
  ])
  console.error(rows.at(-1)?.join(' | '))
}

const found = (list) => `${list.filter((rank) => rank < NEVER).length} of ${list.length}`
const projects = [...new Set(whole.packs.map(({ project }) => project))].sort()
const byProject = projects.map((project) => {
  const packs = whole.packs.filter((one) => one.project === project)
  const questions = whole.questions.filter((one) => one.project === project)
  const hits = (k) => questions.filter(({ hybrid }) => hybrid.rank <= k).length
  return [
    project ?? '(none named)',
    found(packs.flatMap(({ ranks }) => ranks)),
    found(packs.flatMap(({ bm25 }) => bm25.map((rank) => (rank <= 12 ? rank : NEVER)))),
    belong({ packs }),
    questions.length === 0 ? '–' : `${hits(1)} / ${hits(5)} of ${questions.length}`,
  ]
})
const title = values.model === undefined ? 'local' : (values.model.split('/').at(-1) ?? values.model)
const report = `### \`${title}\`

${circumstances()}

${markdownTable(['project', 'facts in the pack', 'facts in the first 12 of BM25', 'items that belong', 'hybrid hit@1 / @5'], byProject)}

The product: ${shown(whole)} items a pack, ${belong(whole)} of them belong. What each rule gains, in points: mean [95 %]; least … most with one project left out.

${markdownTable(['rule', 'facts in the pack', 'hybrid hit@1', 'without it: items a pack, that belong'], rows)}`
console.log(report)
if (values.write) writeSection(`ranking ${title}`, report, join(root, 'bench', 'records', 'ranking.md'))
