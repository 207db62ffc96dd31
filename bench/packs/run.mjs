// `npm run bench -- packs`: measures whether packs contain the memories that a goal needs, and none that they must not.
// See ../README.md.
import { parseArgs } from 'node:util'
import { circumstances, writeSection } from '../support/results.mjs'
import { createWorkspace } from '../support/workspace.mjs'
import { ask, LEGS } from './ask.mjs'
import { flawsOfLabels, readGoals, readHistory, TEAMS } from './gold.mjs'
import { listMisses, report } from './report.mjs'
import { openWorld } from './world.mjs'

const { values } = parseArgs({
  options: {
    write: { type: 'boolean', default: false },
    port: { type: 'string', default: '8851' },
    target: { type: 'string', default: 'workerd' },
    ref: { type: 'string' },
    team: { type: 'string', default: 'ferries' },
    parts: { type: 'string', default: 'development,held out' },
    misses: { type: 'string' },
    show: { type: 'string' },
    as: { type: 'string', default: '{goal}' },
  },
})

const where = circumstances(values.ref)
const workspace = createWorkspace(values.ref, 'bench/packs/clock-worker/index.ts')
const team = TEAMS[values.team]
if (team === undefined) throw new Error(`Teams: ${Object.keys(TEAMS)}`)
const history = readHistory(team)
const goals = readGoals(team)
  .filter(({ part }) => values.parts.split(',').includes(part))
  // Alternative phrasings; the pack should hardly change.
  .map((one) => ({ ...one, goal: values.as.replace('{goal}', () => one.goal).replace('{project}', () => one.project) }))
const flaws = flawsOfLabels(readGoals(team), history, team)
if (flaws.length > 0) throw new Error(flaws.join('\n'))
const world = await openWorld(workspace, history, team, { target: values.target, port: Number(values.port), vars: {} })
try {
  if (values.show !== undefined) {
    for (const goal of goals.filter(({ id }) => values.show?.split(',').includes(id))) {
      const { content } = await ask.pack(world, goal, 24)
      console.log(`\n${'='.repeat(20)} ${goal.id} ${goal.intent}: ${goal.goal}\n${content.markdown}`)
      console.log(JSON.stringify(content.diagnostics))
    }
  } else {
    const answers = []
    for (const goal of goals) {
      const legs = {}
      for (const [name, leg] of Object.entries(LEGS)) legs[name] = await leg(world, goal)
      answers.push({ goal, legs })
    }
    const text = report({ answers, history, team, where })
    console.log(text)
    if (values.misses !== undefined) console.log(listMisses(answers, history, team, values.misses))
    if (values.write) writeSection(team.name === 'ferries' ? 'packs' : `packs-${team.name}`, text)
  }
} finally {
  await world.close()
}
