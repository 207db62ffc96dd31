// Compares the working tree with an earlier commit: a server of each, over equal stores, called in alternation, since a shared
// machine changes its speed within a minute. The processor time of the Worker and of the database
// hardly depends on other work.
//   node bench/commits.mjs --refs OLD,. [--targets pooled] [--size 1000] [--only REGEX] [--calls 60]        `.` is the working tree
import { readdirSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { CASES, fillTo } from './memories/work.mjs'
import { createClient } from './support/mcp.mjs'
import { markdownTable, percentile, short, thousands } from './support/numbers.mjs'
import { family, workerdOf } from './support/processes.mjs'
import { progress } from './support/progress.mjs'
import { circumstances } from './support/results.mjs'
import { startServer } from './support/server.mjs'
import { createWorkspace } from './support/workspace.mjs'

const { values } = parseArgs({
  options: {
    refs: { type: 'string', default: 'HEAD~1,.' },
    targets: { type: 'string', default: 'workerd,pooled' },
    size: { type: 'string', default: '1000' },
    only: { type: 'string', default: '' },
    calls: { type: 'string', default: '60' },
    port: { type: 'string', default: '8870' },
  },
})
const refs = values.refs.split(',')
const size = Number(values.size)
const wanted = CASES.filter(({ name }) => new RegExp(values.only).test(name))

/** Milliseconds of processor time of all threads of these processes. @param {readonly number[]} pids */
function processorOf(pids) {
  let nanoseconds = 0
  for (const pid of pids)
    try {
      for (const thread of readdirSync(`/proc/${pid}/task`))
        nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0])
    } catch {
      // It has just ended by itself.
    }
  return nanoseconds / 1e6
}

/** @param {string} ref @param {string} target @param {number} port */
async function serve(ref, target, port) {
  const workspace = createWorkspace(ref === '.' ? undefined : ref)
  const before = new Set(family(process.pid))
  const server = await startServer(target, {
    ...{ workspace, state: workspace.folder('state'), port, vars: { LOG_LEVEL: 'ERROR' } },
  })
  const roots = family(process.pid).filter((pid) => !before.has(pid))
  const client = createClient(server.origin)
  await fillTo(client, 0, size)
  for (let runs = 0; runs < 3; runs++) await server.schedule?.()
  return {
    ref,
    client,
    processor() {
      const all = [...new Set(roots.flatMap(family))]
      const own = new Set(workerdOf(port))
      return {
        worker: processorOf(all.filter((pid) => own.has(pid))),
        database: processorOf(all.filter((pid) => !own.has(pid))),
      }
    },
    async stop() {
      client.close()
      await server.stop()
      workspace.remove()
    },
  }
}

const CALLS_AT_ONCE = 5

/** @param {Awaited<ReturnType<typeof serve>>[]} servers @param {(typeof CASES)[number]} one */
async function alternate(servers, one) {
  const taken = servers.map(() => ({ ms: /** @type {number[]} */ ([]), worker: 0, database: 0 }))
  for (const { client } of servers) for (let n = 0; n < 3; n++) await client.call(one.tool, one.args(n))
  for (let done = 0; done < Number(values.calls); done += CALLS_AT_ONCE)
    for (const [i, { client, processor }] of servers.entries()) {
      const before = processor()
      for (let n = 0; n < CALLS_AT_ONCE; n++) taken[i].ms.push((await client.call(one.tool, one.args(3 + done + n))).ms)
      const after = processor()
      taken[i].worker += after.worker - before.worker
      taken[i].database += after.database - before.database
    }
  return taken.map(({ ms, worker, database }) => ({
    ...{ p10: percentile(ms, 0.1), p50: percentile(ms, 0.5) },
    ...{ worker: worker / ms.length, database: database / ms.length },
  }))
}

const tables = []
for (const target of values.targets.split(',')) {
  const servers = []
  try {
    for (const [i, ref] of refs.entries()) servers.push(await serve(ref, target, Number(values.port) + 5 * i))
    const bar = progress(target, wanted.length)
    const rows = []
    for (const one of wanted) {
      const all = await alternate(servers, one)
      const [first, last] = [all[0], /** @type {(typeof all)[number]} */ (all.at(-1))]
      const told = all.flatMap(({ p10, p50, worker, database }) => [p10, p50, worker, database])
      const ratios = [last.p50 / first.p50, (last.worker + last.database) / (first.worker + first.database)]
      rows.push([one.name, ...[...told, ...ratios].map(short)])
      bar.tick(1, one.name)
    }
    bar.finish()
    const head = [
      'call',
      ...refs.flatMap((ref) => [`${ref}: p10 ms`, 'p50', 'Worker', 'database']),
      'p50 ×',
      'processor ×',
    ]
    tables.push(`### ${target}, ${thousands(size)}\n\n${markdownTable(head, rows)}`)
  } finally {
    for (const server of servers) await server.stop()
  }
}
console.log(`${circumstances()}.\n\n${tables.join('\n\n')}`)
