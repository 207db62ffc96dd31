// Measures a start until the first answer of MCP, and lists the code by package. See README.md.
//   node bench/start.mjs [--starts 15] [--ref COMMIT] [--write]     --ref: measures that commit in turns with the working tree
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { buildWorker } from '../scripts/build.mjs'
import { root } from '../scripts/install.mjs'
import { createClient } from './support/mcp.mjs'
import { markdownTable, percentile, short, thousands } from './support/numbers.mjs'
import { processorOf, workerdOf } from './support/processes.mjs'
import { circumstances, writeSection } from './support/results.mjs'
import { startWorkerd } from './support/workerd.mjs'
import { createWorkspace } from './support/workspace.mjs'

const { values } = parseArgs({
  options: {
    starts: { type: 'string', default: '15' },
    port: { type: 'string', default: '18890' },
    ref: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
})
const port = Number(values.port)
const VARS = { AUTH_MODE: 'open', LOG_LEVEL: 'ERROR', RATE_LIMIT_PER_MINUTE: '0' }
const [OPEN, FIRST, LIST, SEARCH] = [
  'until its port is open',
  'first answer of MCP: ping',
  'tools/list',
  'first search',
]

/** The bindings of the Worker without its code: the part of the simulators. */
const BARE = `import { DurableObject } from 'cloudflare:workers'
export class VectorObject extends DurableObject {}
export class GateObject extends DurableObject {}
export class FeedObject extends DurableObject {}
export default { fetch: () => new Response('{}') }`

function starterWithoutCode() {
  const workspace = createWorkspace()
  const bundle = workspace.folder('bare')
  writeFileSync(join(bundle, 'index.js'), BARE)
  const state = join(workspace.folder('start'), 'state')
  return () => startWorkerd({ workspace: { ...workspace, bundle, modules: [] }, state, port, vars: VARS })
}

/** Starts on a migrated database. @param {string} [ref] */
async function starterOf(ref) {
  const workspace = createWorkspace(ref)
  const state = join(workspace.folder('start'), 'state')
  const start = () => startWorkerd({ workspace, state, port, vars: VARS })
  const migrated = await start()
  await (await fetch(`${migrated.origin}/ready`)).text()
  await migrated.stop()
  return start
}

/** Measures one start in milliseconds of processors. @returns {Promise<Record<string, number>>} */
async function measure(begin) {
  const { origin, stop } = await begin()
  const client = createClient(origin)
  try {
    const [pid] = workerdOf(port)
    const open = processorOf(pid)
    await client.request('ping', {}).catch(() => {})
    const first = processorOf(pid)
    await client.request('tools/list', {}).catch(() => {})
    const listed = processorOf(pid)
    await client.call('search_context', {}).catch(() => {})
    return { [OPEN]: open, [FIRST]: first - open, [LIST]: listed - first, [SEARCH]: processorOf(pid) - listed }
  } finally {
    client.close()
    await stop()
  }
}

/** The package or the layer of a source. @param {string} source */
function packageOf(source) {
  const [, path] = /.*node_modules\/(.*)/.exec(source) ?? []
  if (path === undefined) return source.split('/').slice(0, 2).join('/').replace(/\.ts$/, '')
  return path
    .split('/')
    .slice(0, path.startsWith('@') ? 2 : 1)
    .join('/')
}

/** Bytes of the upload by package: those that evaluate at the start, and those that load later. */
async function packages() {
  const folder = createWorkspace().folder('upload')
  const { outputs } = await buildWorker(folder)
  const first = new Set()
  const visit = (/** @type {string} */ name) => {
    if (first.has(name)) return
    first.add(name)
    for (const { path, kind, external } of outputs[name]?.imports ?? [])
      if (kind === 'import-statement' && !external && path.endsWith('.js')) visit(path)
  }
  const modules = Object.keys(outputs).filter((name) => name.endsWith('.js'))
  visit(/** @type {string} */ (modules.find((name) => name.endsWith('/index.js'))))
  /** @type {Map<string, { start: number, later: number }>} */
  const bytes = new Map()
  for (const name of modules)
    for (const [source, { bytesInOutput }] of Object.entries(outputs[name]?.inputs ?? {})) {
      const own = bytes.get(packageOf(source)) ?? { start: 0, later: 0 }
      own[first.has(name) ? 'start' : 'later'] += bytesInOutput
      bytes.set(packageOf(source), own)
    }
  const read = (/** @type {string[]} */ names) => Buffer.concat(names.map((name) => readFileSync(join(root, name))))
  const sizeOf = (/** @type {string[]} */ names) =>
    `${thousands(read(names).length / 1000)} KB, ${thousands(gzipSync(read(names)).length / 1000)} KB gzipped`
  return { bytes, sizes: { start: sizeOf(modules.filter((name) => first.has(name))), all: sizeOf(modules) } }
}

const where = circumstances()
const subjects = {
  'this tree': await starterOf(),
  ...(values.ref === undefined ? {} : { [values.ref]: await starterOf(values.ref) }),
  'without code': starterWithoutCode(),
}
/** @type {Map<string, Record<string, number>[]>} */
const taken = new Map(Object.keys(subjects).map((name) => [name, []]))
for (let i = 0; i < Number(values.starts); i++)
  for (const [name, begin] of Object.entries(subjects)) taken.get(name)?.push(await measure(begin))
const rows = [OPEN, FIRST, LIST, SEARCH].map((what) => [
  what,
  ...[...taken.values()].map((all) =>
    short(
      percentile(
        all.map((one) => one[what] ?? 0),
        0.5,
      ),
    ),
  ),
])
const { bytes, sizes } = await packages()
const MOST = 5000
const listed = [...bytes].filter(([, { start, later }]) => start + later >= MOST)
const byPackage = listed
  .sort(([, a], [, b]) => b.start - a.start || b.later - a.later)
  .map(([name, { start, later }]) => [name, thousands(start / 1000), thousands(later / 1000)])

const report = `## Start

${where}. Milliseconds of processors of workerd, the middle of ${values.starts} starts in turns, on a migrated database. The last column is the part of the simulators.

${markdownTable(['', ...taken.keys()], rows)}

${sizes.start} are evaluated before the first answer, of ${sizes.all}. By package in KB (minified), from ${MOST / 1000} KB on:

${markdownTable(['package', 'at the start', 'when used'], byPackage)}
`
console.log(report)
if (values.write) writeSection('start', report)
process.exit(0)
