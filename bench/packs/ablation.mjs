// `npm run bench:packs-ablation`: what does each rule of the choice of packs bring? See ../README.md.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { environment, root } from '../../scripts/install.mjs'
import { markdownTable, mean } from '../support/numbers.mjs'
import { candidatesOf, LIMITS } from './candidates.mjs'
import { readGoals, readHistory, TEAMS } from './gold.mjs'
import { isMarked, judge, tokensOf } from './judge.mjs'
import { RULES, withChanges } from './rules.mjs'

/** A rule is deleted by what the first two say, and only when the others agree. */
const CHOSEN_ON = ['ferries', 'bakery']
const HELD_OUT = ['studio', 'harbour']

const { values } = parseArgs({
  options: {
    candidates: { type: 'string' },
    port: { type: 'string', default: '8861' },
    teams: { type: 'string', default: [...CHOSEN_ON, ...HELD_OUT].join(',') },
    rules: { type: 'string' },
    limits: { type: 'string', default: LIMITS.join(',') },
    changes: { type: 'string' },
  },
})

/** Sizes of packs that are judged: one is half the work. */
const limits = values.limits.split(',').map(Number)

const temporary = mkdtempSync(join(tmpdir(), 'commonplace-ablation-'))
process.once('exit', () => rmSync(temporary, { recursive: true, force: true }))

async function loadChoosing() {
  const bundle = join(temporary, 'choosing.mjs')
  const { status, stderr } = spawnSync(
    join(root, 'node_modules', '.bin', 'esbuild'),
    [join(import.meta.dirname, 'choosing.ts'), '--bundle', '--format=esm', '--platform=node', `--outfile=${bundle}`],
    { env: environment(), encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`The choice could not be bundled:\n${stderr}`)
  return import(pathToFileURL(bundle).href)
}

const choosing = await loadChoosing()
const analyzer = choosing.createAnalyzer('english')

/** What was recorded of a pack, as `findCandidates` answers it. */
function readFound(recorded, found) {
  return {
    ...found,
    entries: found.entries.map(([id, sameBeginning, own]) =>
      sameBeginning ? recorded.entries[id] : { ...recorded.entries[id], beginning: own },
    ),
    vectors: found.vectors.flatMap((id) => recorded.vectors[id]),
    held: new Map(found.held),
    query: found.query === null ? null : choosing.fromBase64(found.query),
  }
}

async function openWorld(team) {
  const recorded = await candidatesOf(team, {
    folder: values.candidates ?? join(temporary, 'candidates'),
    port: Number(values.port),
  })
  for (const of of Object.values(recorded.vectors))
    for (const vector of of) vector.vector ??= choosing.fromBase64(vector.data)
  const history = readHistory(team)
  const packs = readGoals(team).flatMap((goal) =>
    limits.map((limit) => {
      const { found, ids } = recorded.packs[`${goal.id} ${limit}`]
      return { goal, limit, ids, found: readFound(recorded, found) }
    }),
  )
  return { team, history, packs, nameOf: (id) => recorded.names[id] }
}

/** A pack is chosen before the last look at its items, which shows parts of long texts and names neighbours. */
const NOTHING_MORE = { stretches: new Map(), neighbours: [], supersedes: [], contradicts: [] }

async function choose({ team }, { goal, limit, found }, weights) {
  const compile = choosing.createCompilePack({
    ...{ analyzer, weights, yielder: choosing.WITHOUT_REST, now: () => Date.parse(team.now) },
    reads: { finish: async () => NOTHING_MORE },
    findCandidates: async () => found,
  })
  const caller = { org: team.org, owner: team.asker, projects: null }
  const { pack } = await compile(caller, {
    ...{ goal: goal.goal, intent: goal.intent, project: goal.project, limit: goal.limit ?? limit, agentId: goal.agent },
    ...{ layer: 'recall', includeRelated: true, relatedLimit: 3, maxTokens: goal.maxTokens },
  })
  return pack
}

const known = (numbers) => numbers.filter((value) => value !== null)

/** A world judged by some weights. */
async function measure(world, weights) {
  const { team, history, packs, nameOf } = world
  const rows = []
  let otherwise = 0
  for (const one of packs) {
    const { sections } = await choose(world, one, weights)
    const items = sections.flatMap(({ facet, items: of }) =>
      of.map(({ id, name, content, reason }) => ({
        ...{ id, name: nameOf(id), tokens: tokensOf(name ?? '', content), facet },
        marked: isMarked(reason),
      })),
    )
    if (items.map(({ id }) => id).join() !== one.ids.join()) otherwise++
    const row = judge(one.goal, { items, sections: sections.map(({ facet }) => facet), ms: 0 }, history, team)
    const wanted = new Set([...one.goal.required, ...(one.goal.optional ?? [])])
    const right = items.filter(({ name }) => wanted.has(name)).length
    const unasked = items.filter(({ facet }) => facet !== 'active_work').length
    rows.push({ ...row, limit: one.limit, related: one.goal.required.length > 0, right, unasked })
  }
  const numbers = { otherwise, forbidden: rows.reduce((sum, { forbidden }) => sum + forbidden.length, 0) }
  for (const limit of limits) {
    const of = rows.filter((row) => row.limit === limit)
    const related = of.filter((row) => row.related)
    numbers[`recall ${limit}`] = 100 * mean(known(related.map(({ recall }) => recall)))
    numbers[`outdated ${limit}`] = 100 * mean(known(related.map(({ stale }) => stale)))
    const items = related.reduce((sum, row) => sum + row.items, 0)
    numbers[`unmarked ${limit}`] = 100 * mean(known(related.map(({ unmarked }) => unmarked)))
    numbers[`precision ${limit}`] = (100 * related.reduce((sum, { right }) => sum + right, 0)) / items
    numbers[`tokens ${limit}`] = mean(related.map(({ tokens }) => tokens))
    numbers[`unrelated ${limit}`] = mean(of.filter((row) => !row.related).map(({ unasked }) => unasked))
  }
  return numbers
}

/** Beside each number, what the rule makes of it: all rules less the rule turned off. */
const withDifference = (value, all, digits) => {
  const text = value.toFixed(digits)
  const by = (all - value).toFixed(digits)
  return Number(by) === 0 ? text : `${text} (${Number(by) > 0 ? '+' : '−'}${by.replace('-', '')})`
}

const COLUMNS = ['recall', 'forbidden', 'outdated', 'unmarked', 'precision', 'tokens', 'unrelated'].flatMap((what) =>
  what === 'forbidden' ? [what] : limits.map((limit) => `${what} ${limit}`),
)
const digitsOf = (column) => (/^(?:forbidden|tokens)/.test(column) ? 0 : 1)

const wantedRules = Object.entries(RULES).filter(([name]) => values.rules?.split(',').includes(name) ?? true)
const base = withChanges(choosing.WEIGHTS, JSON.parse(values.changes ?? '{}'))
for (const name of values.teams.split(',')) {
  const world = await openWorld(TEAMS[name])
  const all = await measure(world, base)
  const table = [['nothing: all rules', ...COLUMNS.map((column) => all[column].toFixed(digitsOf(column)))]]
  for (const [rule, changes] of wantedRules) {
    const without = await measure(world, withChanges(base, changes))
    process.stderr.write(`${name}: ${rule}\n`)
    table.push([rule, ...COLUMNS.map((column) => withDifference(without[column], all[column], digitsOf(column)))])
  }
  console.log(`## ${name} (${CHOSEN_ON.includes(name) ? 'chosen on' : 'held out'})\n`)
  console.log(`${all.otherwise} of ${world.packs.length} packs differ from those that the server made.\n`)
  console.log(`${markdownTable(['without', ...COLUMNS], table)}\n`)
}
