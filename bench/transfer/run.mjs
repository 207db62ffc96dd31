// `npm run bench -- transfer`: what memory does the Worker take to import and to export 100,000 entries and 1 GB of images? A Worker has 128 MB.
// See ../README.md.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { endOf, volumesOf as exported, loadLibrary } from '../../src/cli/export/command.mjs'
import { markdownTable, short, thousands } from '../support/numbers.mjs'
import { circumstances, writeSection } from '../support/results.mjs'
import { startServer } from '../support/server.mjs'
import { createWorkspace } from '../support/workspace.mjs'
import { watchHeap } from './heap.mjs'
import { entries, images, loadWriter, volumesOf } from './volumes.mjs'

const { values } = parseArgs({
  options: {
    entries: { type: 'string', default: '100000' },
    megabytes: { type: 'string', default: '1000' },
    each: { type: 'string', default: '5' },
    heap: { type: 'string', default: '100' },
    model: { type: 'string', default: 'local' },
    port: { type: 'string', default: '18780' },
    ref: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
})
const [count, total, each] = [values.entries, values.megabytes, values.each].map(Number)

/** The process of workerd below this one. */
function workerd() {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8')
      if (/^Name:\s+workerd/m.test(status) && isBelow(pid)) return pid
    } catch {
      // It has ended meanwhile.
    }
  throw new Error('workerd does not run')
}

/** @param {string} pid */
function isBelow(pid) {
  for (let at = pid; Number(at) > 1; ) {
    if (Number(at) === process.pid) return true
    at = /^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${at}/status`, 'utf8'))?.[1] ?? '0'
  }
  return false
}

// The heap of each isolate is bounded: the Worker's, and those of D1 and R2, which are simulated in the same process.
process.env.MINIFLARE_WORKERD_V8_FLAGS = `--max-heap-size=${values.heap}`
const workspace = createWorkspace(values.ref)
const where = circumstances(values.ref)
const server = await startServer('workerd', {
  workspace,
  state: workspace.folder('state'),
  vars: { LOG_LEVEL: 'ERROR', EMBEDDING_PROVIDER: values.model },
  port: Number(values.port),
  inspected: true,
})
const heap = await watchHeap(Number(values.port) + 2)
const pid = workerd()
/** @param {string} line */
const megabytes = (line) =>
  Number(new RegExp(`^${line}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
const library = await loadLibrary()
const writer = await loadWriter()
/** @type {string[][]} */
const rows = []

/**
 * Runs a part and records the resident size of the process: before it, its maximum, and that of each quarter, to detect growth.
 *
 * @param {string} name
 * @param {() => AsyncGenerator<{ bytes: number, entries: number }>} run yields what each volume held
 */
async function part(name, run) {
  heap.lap()
  const idle = megabytes('VmRSS')
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
  const began = performance.now()
  const seen = { volumes: 0, bytes: 0, entries: 0, waited: 0 }
  /** @type {number[]} */
  const sizes = []
  for await (const one of run()) {
    seen.volumes++
    seen.bytes += one.bytes
    seen.entries += one.entries
    sizes.push(megabytes('VmRSS'))
    if (seen.volumes % 10 === 0) console.error(`${name}: ${seen.volumes} volumes, ${short(sizes.at(-1))} MB`)
  }
  const seconds = (performance.now() - began) / 1000
  const peak = megabytes('VmHWM')
  const { highest, samples } = heap.lap()
  const quarter = (/** @type {number} */ n) =>
    short(
      Math.max(
        ...sizes.slice(Math.floor((n * sizes.length) / 4), Math.max(1, Math.ceil(((n + 1) * sizes.length) / 4))),
      ),
    )
  rows.push([
    name,
    thousands(seen.entries),
    String(seen.volumes),
    short(seen.bytes / 1e6),
    short(seconds),
    `${short(highest)} (${samples})`,
    short(idle),
    short(peak),
    short(peak - idle),
    [0, 1, 2, 3].map(quarter).join(', '),
  ])
  console.error(rows.at(-1)?.join(' · '))
  if (values.write) writeSection('transfer', report())
}

/** @param {Iterable<any>} records */
async function* sent(records) {
  for await (const { bytes, counts } of volumesOf(writer, records)) {
    const response = await fetch(`${server.origin}/api/v1/orgs/local/import`, {
      method: 'POST',
      headers: { 'content-type': 'application/gzip' },
      body: gzipSync(bytes, { level: 1 }),
    })
    const report = await response.json()
    const { stored, unchanged } = report.entries ?? {}
    if (response.status !== 200 || stored + unchanged !== counts.entry) throw new Error(JSON.stringify(report))
    yield { bytes: bytes.length, entries: counts.entry ?? 0 }
  }
}

async function* brought() {
  const query = new URLSearchParams({ history: 'true' })
  for await (const bytes of exported(library, { url: server.origin, org: 'local', query }))
    yield { bytes: bytes.length, entries: endOf(bytes).counts.entry ?? 0 }
}

/** Results so far, so that an interrupted run keeps them. */
function report() {
  const heads = [
    'part',
    'entries',
    'volumes',
    'MB',
    'seconds',
    'heap (samples)',
    'RSS before',
    'peak RSS',
    'more',
    'RSS by quarters',
  ]
  return `## Export and import

${where}; plain workerd, the heap of an isolate bounded at ${values.heap} MB, D1 and R2 simulated in the same process, model \`${values.model}\`.
Sizes in MB. \`heap\`: the most that the Worker's isolate held of its heap and its buffers, as V8 told a debugger between its steps; \`RSS\`
is of the whole process, with what simulates D1 and R2: \`more\`: the highest resident size of the whole process above its size before the part; \`RSS by quarters\`: the highest
behind a volume, in each quarter of the part.

${markdownTable(heads, rows)}`
}

try {
  const pictures = Math.round((total * 1e6) / (each * 1e6))
  await part('import entries', () => sent(entries(count)))
  await part(`import images of ${each} MB`, () => sent(images(count + 1, pictures, each * 1e6)))
  await part('export all', brought)
  await part('import 10,000 entries again', () => sent(entries(Math.min(count, 10_000))))
} finally {
  heap.stop()
  await server.stop()
  workspace.remove()
}

console.log(report())
