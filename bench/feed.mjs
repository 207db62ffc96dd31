// `npm run bench -- feed`: measures the cost of the change feed for readers and writers, and the delay until a reader
// gets a write. Writers are measured side by side: two servers that differ in one option, called in alternation. See
// README.md.
import { parseArgs } from 'node:util'
import { entryAt } from './load/corpus.mjs'
import { createClient } from './support/mcp.mjs'
import { markdownTable, percentile, short, thousands } from './support/numbers.mjs'
import { circumstances, writeSection } from './support/results.mjs'
import { startServer } from './support/server.mjs'
import { createWorkspace } from './support/workspace.mjs'

const { values } = parseArgs({
  options: {
    targets: { type: 'string', default: 'workerd,pooled' },
    size: { type: 'string', default: '3000' },
    calls: { type: 'string', default: '100' },
    port: { type: 'string', default: '18760' },
    write: { type: 'boolean', default: false },
  },
})
const size = Number(values.size)
const calls = Number(values.calls)
const BATCH = 100
/** Three ports per server. */
const PORTS = 3

const spread = (times) => `${short(percentile(times, 0.5))} / ${short(percentile(times, 0.95))}`

async function fill(client) {
  for (let i = 0; i < size; i += BATCH) {
    const entries = Array.from({ length: BATCH }, (_, n) => entryAt(i + n, size))
    await client.call('store_context_batch', { entries })
  }
}

async function timed(client, name, args) {
  const times = []
  for (let i = 0; i < calls; i++) times.push((await client.call(name, typeof args === 'function' ? args(i) : args)).ms)
  return times
}

const draft = (i) => ({ thread_id: 'bench', source: 'agent', text: `entry ${i} of the bench` })

/** Stores in turn on a server with the notification object, and one without. */
async function storing(clients) {
  const times = clients.map(() => [])
  for (let i = 0; i < calls; i++)
    for (const [n, client] of clients.entries()) times[n].push((await client.call('store_context', draft(i))).ms)
  return times
}

/** Milliseconds from the answer to a store until another connection that waits has the change. */
async function hearing(client, listener) {
  const times = []
  let { next } = (await listener.call('list_changes', {})).content
  for (let i = 0; i < calls; i++) {
    const waiting = listener.call('list_changes', { after: next, wait_seconds: 20 }).then((answer) => {
      return { at: performance.now(), answer }
    })
    // The reader is connecting to the notifier.
    await new Promise((resolve) => setTimeout(resolve, 20))
    await client.call('store_context', draft(`${i} heard`))
    const stored = performance.now()
    const { at, answer } = await waiting
    next = answer.content.next
    times.push(Math.max(0, at - stored))
  }
  return times
}

const where = circumstances()
const workspace = createWorkspace()

async function measure(target, port) {
  const options = (name, more) => ({
    workspace,
    state: workspace.folder(`${target}-${name}`),
    vars: { LOG_LEVEL: 'ERROR', RATE_LIMIT_PER_MINUTE: '0' },
    ...more,
  })
  const server = await startServer(target, options('rings', { port }))
  const silent = await startServer(target, options('silent', { port: port + PORTS, without: ['FEEDS'] }))
  const [client, listener, other] = [server.origin, server.origin, silent.origin].map((origin) => createClient(origin))
  try {
    await fill(client)
    await fill(other)
    const { next } = (await client.call('list_changes', {})).content
    const pages = [
      ['a page of 50, from the oldest', await timed(client, 'list_changes', { after: 'start' })],
      ['a page of 200, from the oldest', await timed(client, 'list_changes', { after: 'start', limit: 200 })],
      [
        'a page of one thread of 400',
        await timed(client, 'list_changes', (i) => ({ after: 'start', thread_id: entryAt(i, size).thread_id })),
      ],
      ['nothing new', await timed(client, 'list_changes', { after: next })],
      ['for comparison: search_context, 50', await timed(client, 'search_context', { limit: 50 })],
    ]
    await timed(client, 'store_context', draft)
    await timed(other, 'store_context', draft)
    const [rung, unrung] = await storing([client, other])
    return [
      ...pages,
      ['store_context, with notification', rung],
      ['store_context, no object bound', unrung],
      ['from the answer to a store until a waiting call gets it', await hearing(client, listener)],
    ]
  } finally {
    for (const one of [client, listener, other]) one.close()
    await server.stop()
    await silent.stop()
  }
}

const targets = values.targets.split(',')
const columns = []
for (const [i, target] of targets.entries()) columns.push(await measure(target, Number(values.port) + i * 2 * PORTS))
const rows = columns[0].map(([name], i) => [name, ...columns.map((column) => spread(column[i][1]))])
const report = `## The feed of changes

${where}; ${thousands(size)} entries, one connection, ${calls} calls a row; milliseconds, p50 / p95. The stores were made by turns on two
servers that differ in the binding alone.

${markdownTable(['call', ...targets.map((target) => (target === 'workerd' ? 'D1' : 'PostgreSQL'))], rows)}
`
console.log(report)
if (values.write) writeSection('feed', report)
