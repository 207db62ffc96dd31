// `npm run bench -- memory-tests`: plants 100 mutations that change answers of agents' calls, and counts those that `commonplace test` catches.
// Five kinds, 20 of each. The suite is written from a gold set and pinned before anything is mutated. See README.md.
import { execFile, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { stringify } from 'yaml'
import { environment, nodePath } from '../scripts/install.mjs'
import { administer } from './support/administer.mjs'
import { startServer } from './support/server.mjs'
import { createWorkspace, wranglerCli } from './support/workspace.mjs'

const { values } = parseArgs({
  options: {
    target: { type: 'string', default: 'workerd' },
    port: { type: 'string', default: '18720' },
    of: { type: 'string', default: '20' },
    goals: { type: 'string', default: '24' },
  },
})
const TOKEN = 'operator-of-this-bench-only'
const OF_EACH = Number(values.of)
const root = fileURLToPath(new URL('..', import.meta.url).href)
const lines = (file) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line))
const gold = join(root, 'bench', 'packs', 'harbour')
const HISTORY = readdirSync(join(gold, 'history'))
  .flatMap((name) => lines(join(gold, 'history', name)))
  .filter(({ by, text, expires_at: end }) => by === 'remember' && text && !end)
const GOALS = lines(join(gold, 'goals.jsonl'))

/** Numbers that look random and are the same in each run. */
function drawer(seed) {
  let state = seed
  return (most) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * most)
  }
}
const draw = drawer(67)

/** Files whose numbers decide which memories are shown, and in which order. */
const RANKING = [
  ...['src/domain/search/fusion.ts', 'src/domain/search/score.ts', 'src/domain/pack/select-entries.ts'],
  ...['src/domain/recall/answer-confidence.ts', 'src/domain/recall/similarity.ts', 'src/domain/pack/rank-entries.ts'],
]
const FACTORS = [2, 0.5, 4, 0.25]

/** Changes of one number, in the order in which they are tried. */
function constantChanges() {
  const constants = RANKING.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/^(?:export )?const ([A-Z][A-Z0-9_]+) = ([\d.]+)$/gm)].map(
      ([, name = '', value = '']) => ({ file, name, value: Number(value) }),
    ),
  )
  return FACTORS.flatMap((factor) => constants.map((one) => ({ ...one, to: one.value * factor })))
}

const workspace = createWorkspace()
const state = workspace.folder('memory-tests')

/** Bundles the Worker with one number changed. */
function bundleWith({ file: source, name, value, to }) {
  const path = join(workspace.sources, source)
  const text = readFileSync(join(root, source), 'utf8')
  writeFileSync(path, text.replace(`const ${name} = ${value}`, `const ${name} = ${to}`))
  const { status, stderr } = spawnSync(
    nodePath(),
    [wranglerCli, 'deploy', '--dry-run', '--outdir', workspace.bundle, '--cwd', workspace.sources],
    { cwd: workspace.sources, env: environment(), encoding: 'utf8' },
  )
  writeFileSync(path, text)
  if (status !== 0) throw new Error(`The worker could not be bundled: ${stderr}`)
}
const vars = {
  ...{ AUTH_MODE: 'required', ADMIN_TOKEN: TOKEN, RATE_LIMIT_PER_MINUTE: '0', MAX_CONCURRENT_REQUESTS: '0' },
  ...{ LOG_LEVEL: 'ERROR', HISTORY_DAYS: '30' },
}
const start = (port) => startServer(values.target, { workspace, state, port, vars })
const file = join(workspace.folder('suite'), 'memory.test.yaml')
let server = await start(Number(values.port))
const org = (await administer(server.origin, TOKEN, '', { id: 'memory-tests' })).id
const keyOf = async (owner) =>
  (await administer(server.origin, TOKEN, `/${org}/keys`, { name: owner, role: 'writer', owner })).key
const [ada, ben] = [await keyOf('ada'), await keyOf('ben')]

async function call(key, name, args) {
  const response = await fetch(`${server.origin}/mcp/core`, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
  })
  const text = await response.text()
  const { result } = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text)
  if (result === undefined || result.isError) throw new Error(`${name}: ${text.slice(0, 300)}`)
  return result.structuredContent
}
const idsIn = ({ results = [], sections = [] }) =>
  [...results, ...sections.flatMap(({ memories }) => memories)].map(({ id }) => id)

/** Runs the command. @param {readonly string[]} more @returns {Promise<{ isGood: boolean, out: string }>} */
const runTests = (...more) =>
  new Promise((resolve, reject) => {
    const args = [join(root, 'src/cli/commonplace.mjs'), 'test', file, '--url', server.origin, '--json', ...more]
    // Not in this thread, so that closed connections are noticed meanwhile.
    execFile(process.execPath, args, { env: { ...process.env, COMMONPLACE_KEY: ben } }, (error, stdout, stderr) => {
      if (error !== null && error.code !== 1) reject(error)
      else resolve({ isGood: error === null, out: `${stderr}${stdout}` })
    })
  })
const pin = async () => {
  const { isGood, out } = await runTests('--pin')
  if (!isGood) throw new Error(`The suite cannot be pinned: ${out.slice(0, 2_000)}`)
}

/** The gold set as a suite: what a goal requires and gets, and what it must not get. */
async function writeSuite(idOf) {
  const tests = []
  const musts = new Set()
  for (let n = 0; tests.length < Number(values.goals) && n < GOALS.length; n++) {
    const { goal, project, required = [], unwanted = [] } = GOALS[(n * 7) % GOALS.length]
    const isPack = n % 2 === 0
    const returned = idsIn(
      await call(ben, isPack ? 'context' : 'search', { [isPack ? 'goal' : 'query']: goal, project }),
    )
    const must = required.map((name) => idOf.get(name)).filter((id) => returned.includes(id))
    const mustNot = unwanted.map((name) => idOf.get(name)).filter((id) => id !== undefined && !returned.includes(id))
    if (must.length === 0) continue
    for (const id of must) musts.add(id)
    tests.push({
      [isPack ? 'goal' : 'query']: goal,
      project,
      must,
      ...(mustNot.length > 0 ? { must_not: mustNot } : {}),
    })
  }
  writeFileSync(file, stringify({ tests }))
  return { tests, musts: [...musts] }
}

/** Changes one word or number of a text, at any place. */
function edited(text) {
  const words = [...text.matchAll(/[\p{L}\d]{2,}/gu)]
  const { 0: word = '', index = 0 } = words[draw(words.length)] ?? {}
  const other = /^\d+$/.test(word) ? String(Number(word) + 1) : `un${word}`
  return text.slice(0, index) + other + text.slice(index + word.length)
}

/** Each applies a mutation to a memory, and returns the calls that undo it. */
const MUTATIONS = {
  async deleted(id) {
    await call(ada, 'forget', { ids: [id] })
    return () => call(ada, 'restore', { id })
  },
  async edited(id) {
    const { content } = await call(ada, 'fetch', { id, max_tokens: 32_000 })
    await call(ada, 'update', { id, content: edited(content) })
    return () => call(ada, 'update', { id, content })
  },
  async superseded(id) {
    const { title, kind, project } = await call(ada, 'fetch', { id })
    const content = `Since this week another rule holds here; ask the shift leader. It was: ${title}.`
    const made = await call(ada, 'remember', {
      title: `New: ${title}`.slice(0, 120),
      content,
      kind,
      project,
      replaces: [id],
    })
    return () => call(ada, 'forget', { ids: [made.id] })
  },
  async hidden(id) {
    await call(ada, 'update', { id, audience: 'private' })
    return () => call(ada, 'update', { id, audience: 'org' })
  },
}

const rows = []
try {
  const idOf = new Map()
  for (const { id, title, text, kind, project, links = [] } of HISTORY) {
    const replaces = links.flatMap((link) => (link.startsWith('supersedes:') ? [idOf.get(link.slice(11))] : []))
    const memory = { title: title ?? text.slice(0, 60), content: text, kind: kind ?? 'note', project }
    const known = replaces.filter((one) => one !== undefined)
    idOf.set(id, (await call(ada, 'remember', { ...memory, ...(known.length > 0 ? { replaces: known } : {}) })).id)
  }
  const { tests, musts } = await writeSuite(idOf)
  await pin()
  console.error(`${HISTORY.length} memories, ${tests.length} tests of ${musts.length} memories`)
  for (const [kind, mutate] of Object.entries(MUTATIONS))
    for (let n = 0; n < OF_EACH; n++) {
      const id = musts[draw(musts.length)]
      await pin()
      const undo = await mutate(id)
      rows.push({ kind, of: id, isCaught: !(await runTests()).isGood })
      await undo()
    }
  await pin()
  const answers = async () => {
    const all = []
    for (const { goal, query, project } of tests)
      all.push(
        idsIn(
          await call(
            ben,
            goal === undefined ? 'search' : 'context',
            goal === undefined ? { query, project } : { goal, project },
          ),
        ),
      )
    return JSON.stringify(all)
  }
  const before = await answers()
  let equal = 0
  let port = Number(values.port)
  let caught = 0
  for (const change of constantChanges()) {
    if (caught === OF_EACH) break
    await server.stop()
    bundleWith(change)
    port += 3
    server = await start(port)
    // A change that alters no answer of the suite tells agents nothing else.
    if ((await answers()) === before) {
      equal++
      continue
    }
    caught++
    rows.push({
      kind: 'constant',
      of: `${change.name} ${change.value} → ${change.to}`,
      isCaught: !(await runTests()).isGood,
    })
  }
  console.error(`constants: ${equal} changes alter no answer of the suite`)
} finally {
  await server.stop()
  workspace.remove()
}

console.log('| mutation | planted | caught | not caught |\n|---|---:|---:|---|')
for (const kind of [...Object.keys(MUTATIONS), 'constant']) {
  const own = rows.filter((row) => row.kind === kind)
  const missed = own.filter(({ isCaught }) => !isCaught)
  console.log(`| ${kind} | ${own.length} | ${own.length - missed.length} | ${missed.map(({ of }) => of).join(', ')} |`)
}
console.log(`\n${rows.filter(({ isCaught }) => isCaught).length} of ${rows.length} caught`)
