// `node bench/suites/promises/run.mjs --peers FOLDER`: counts lost updates, doubled effects, lost writes, and data left after a delete. See ../README.md.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { markdownTable } from '../../support/numbers.mjs'
import { circumstances, writeSection } from '../../support/results.mjs'
import { createWorkspace } from '../../support/workspace.mjs'
import { ours } from './ours.mjs'
import { peers } from './peers.mjs'
import { PLAYS } from './plays.mjs'

const { values } = parseArgs({
  options: {
    peers: { type: 'string' },
    only: { type: 'string' },
    port: { type: 'string', default: '18730' },
    ref: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
})
const installed = values.peers === undefined ? null : resolve(values.peers)
if (installed !== null && !existsSync(join(installed, 'node_modules'))) {
  console.error(`${installed} has no packages: copy bench/suites/promises/package.json there and run npm install in it`)
  process.exit(2)
}

const where = circumstances(values.ref)
const workspace = createWorkspace(values.ref)
const all = [ours(workspace, 'workerd', Number(values.port)), ...(installed === null ? [] : peers(installed))]
const systems = all.filter(({ name }) => values.only === undefined || name.includes(values.only))
const rows = new Map()
for (const system of systems) {
  console.log(system.name)
  for (const play of PLAYS) {
    const world = { open: system.open, folder: workspace.folder('store'), erases: system.erases ?? false }
    const ended = (error) =>
      play.measures.map((measure) => ({ measure, of: 0, count: null, note: `ended: ${error.message}` }))
    for (const { measure, of, count, note } of await play.run(world).catch(ended)) {
      const cell = count === null ? note : `${count} of ${of}${note === '' ? '' : ` (${note})`}`
      console.log(`  ${measure}: ${cell}`)
      rows.set(measure, [...(rows.get(measure) ?? [measure]), cell])
    }
  }
}
const report = `## promises

${where}. Two agents on one store: of ours two clients of one server (D1 in workerd), of the others two processes on the same files, each in
the configuration of its README. In their favour: ${systems.map(({ name, favour }) => `${name}: ${favour}`).join('; ')}.

${markdownTable(['what goes wrong', ...systems.map(({ name }) => name)], [...rows.values()])}`
console.log(`\n${report}`)
if (values.write) writeSection('suites-promises', report)
