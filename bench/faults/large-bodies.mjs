// `node bench/faults/large-bodies.mjs`: measures the memory of one request of the largest size, and how long it blocks
// other requests. A Worker has 128 MB. See ../README.md.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { markdownTable, short } from '../support/numbers.mjs'
import { circumstances, writeSection } from '../support/results.mjs'
import { startServer } from '../support/server.mjs'
import { createWorkspace } from '../support/workspace.mjs'
import { startProber } from './prober.mjs'

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '18770' },
    only: { type: 'string', default: '' },
    ref: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
})

// A Worker's 128 MB contain its heap and the bytes of its buffers: while 74 MB of images are read, 40 are left.
const HEAP_MB = 110
const HEAP_BESIDE_IMAGES_MB = 40

const PNG = Buffer.from('89504e470d0a1a0a', 'hex')

/**
 * The base64 of an image of its own.
 *
 * @param {number} bytes
 * @param {number} seed
 */
const image = (bytes, seed) => Buffer.concat([PNG, Buffer.alloc(bytes - PNG.length, seed + 1)]).toString('base64')
/** @param {number} count @param {number} bytes */
const images = (count, bytes) => Array.from({ length: count }, (_, i) => ({ data: image(bytes, i) }))
/** @param {Record<string, unknown>} more */
const draft = (more) => ({ thread_id: 'large', source: 'agent', text: `text ${Math.random()}`, ...more })
/** @param {string} name @param {Record<string, unknown>} args */
const call = (name, args) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } })
/** @param {string} json a text of the arguments */
const raw = (json) => call('list_threads', {}).replace('{}', `{"x":${json}}`)

/** @type {Record<string, () => string>} */
const CASES = {
  '99 MB of images, stored': () => call('store_context', draft({ images: images(10, 7_400_000) })),
  '99 MB of images, refused for an empty text': () =>
    call('store_context', draft({ text: ' ', images: images(10, 7_400_000) })),
  'a batch of 50 entries with 2 MB of images each, refused': () =>
    call('store_context_batch', {
      entries: Array.from({ length: 50 }, () => draft({ text: '', images: images(2, 740_000) })),
    }),
  '20 MB in 20 texts of ASCII': () =>
    call('store_context_batch', {
      entries: Array.from({ length: 20 }, (_, i) => draft({ text: `${i} `.padEnd(990_000, 'lorem ipsum ') })),
    }),
  '20 MB in 20 updates of texts': () =>
    call('update_context_batch', {
      updates: Array.from({ length: 20 }, (_, i) => ({
        context_id: i + 1,
        text: `${i} `.padEnd(990_000, 'dolor sit amet '),
      })),
    }),
  '23 MB in one text': () => call('store_context', draft({ text: 'x'.repeat(23_000_000) })),
  'a million numbers': () => raw(`[${'0,'.repeat(990_000)}0]`),
  '300,000 objects': () => raw(`[${'{"a":{"b":1}},'.repeat(300_000)}0]`),
  'a JSON string of 9.9 MB with 140,000 values': () =>
    call(
      'store_context',
      draft({ tags: `[${'"abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz01234",'.repeat(140_000)}0]` }),
    ),
  '99 MB of numbers': () => raw(`[${'0,'.repeat(49_500_000)}0]`),
  '8,000 levels': () => raw('['.repeat(8_000) + ']'.repeat(8_000)),
}

/** Entries to store before, in separate calls. */
const BEFORE = {
  '20 MB in 20 updates of texts': () =>
    Array.from({ length: 20 }, (_, i) =>
      call('store_context', draft({ text: `${i} `.padEnd(990_000, 'lorem ipsum ') })),
    ),
}

/** The processes below this one. */
function descendants() {
  const parents = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((pid) => {
        try {
          return [[Number(pid), Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])]]
        } catch {
          return []
        }
      }),
  )
  const own = new Set([process.pid])
  for (let size = 0; size !== own.size; ) {
    size = own.size
    for (const [pid, parent] of parents) if (own.has(parent)) own.add(pid)
  }
  return [...own].filter((pid) => readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('workerd'))
}

const workspace = createWorkspace(values.ref)
const where = circumstances(values.ref)
const vars = { LOG_LEVEL: 'ERROR' }
const rows = []
for (const [name, make] of Object.entries(CASES)) {
  if (!name.includes(values.only)) continue
  const heap = name.includes('images') ? HEAP_BESIDE_IMAGES_MB : HEAP_MB
  process.env.MINIFLARE_WORKERD_V8_FLAGS = `--max-heap-size=${heap}`
  // A separate server for each case, so that one does not affect the next.
  const server = await startServer('workerd', {
    workspace,
    state: workspace.folder(`state ${rows.length}`),
    vars,
    port: Number(values.port),
  })
  const prober = startProber(server.origin)
  const [pid] = descendants()
  /** @param {string} line */
  const megabytes = (line) =>
    Number(new RegExp(`^${line}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
  const send = async (body) => {
    const headers = { 'content-type': 'application/json', accept: '*/*' }
    const response = await fetch(`${server.origin}/mcp`, { method: 'POST', headers, body })
    const text = await response.text()
    return `${response.status} ${/"message\\?":\\?"([^"\\]{0,60})/.exec(text)?.[1] ?? ''}`
  }
  await send(call('list_threads', {}))
  for (const one of BEFORE[name]?.() ?? []) await send(one)
  const body = Buffer.from(make())
  await prober.lap()
  const idle = megabytes('VmRSS')
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
  const started = performance.now()
  const said = await send(body).catch(() => 'out of memory')
  const ms = performance.now() - started
  const died = said === 'out of memory'
  const { longest } = died ? { longest: Number.NaN } : await prober.lap()
  const peak = died ? Number.NaN : megabytes('VmHWM')
  rows.push([
    name,
    String(heap),
    short(body.length / 1e6),
    short(idle),
    short(peak),
    short(peak - idle),
    short(ms),
    short(longest),
    said,
  ])
  console.log(rows.at(-1)?.join(' · '))
  await prober.stop()
  await server.stop()
}
const table = markdownTable(
  ['request', 'heap MB', 'body MB', 'idle RSS MB', 'peak RSS MB', 'more', 'ms', 'held ms', 'answer'],
  rows,
)
const report = `## Large bodies

${where}; plain workerd, the heap of an isolate bounded, D1 and R2 simulated in the same process.
\`held\`: the longest that /health had to wait. \`more\`: the highest resident size
of the whole process above its size before.

${table}`
if (values.write) writeSection('large-bodies', report)
console.log(report)
