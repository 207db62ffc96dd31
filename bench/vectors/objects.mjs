// Fills and queries Durable Objects with vectors directly: no entries, no database, so that a million takes minutes.
import { readFileSync } from 'node:fs'
import { markdownTable, percentile, short, thousands } from '../support/numbers.mjs'
import { workerdOf } from '../support/processes.mjs'
import { progress } from '../support/progress.mjs'
import { circumstances, writeSection } from '../support/results.mjs'
import { startServer } from '../support/server.mjs'
import { createWorkspace } from '../support/workspace.mjs'
import { watchHeap } from '../transfer/heap.mjs'

const BATCH = 2_000
const WARM = 20
const COLD = 3
/** Vectors that a search of ten entries asks for. */
const LIMIT = 40
/** Megabytes: more than any size here needs, and those of a deployment. */
const MEMORY = { all: '4000', shared: '80' }

/** Seconds of processor that the server on a port has used. @param {number} port */
function secondsOf(port) {
  const stat = readFileSync(`/proc/${workerdOf(port)[0]}/stat`, 'utf8')
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number)
  return (user + system) / 100
}

/** @param {readonly number[]} sizes @param {{ dimensions: string, port: string, write: boolean }} options */
export async function measureObjects(sizes, { dimensions, port, write }) {
  const where = circumstances()
  const workspace = createWorkspace(undefined, 'bench/vectors/index.ts')
  const rows = []
  for (const size of sizes) {
    const state = workspace.folder('state')
    const start = (memory) =>
      startServer('workerd', {
        ...{ workspace, state, port: Number(port), inspected: true },
        vars: { LOG_LEVEL: 'ERROR', VECTOR_MEMORY_MB: memory },
      })
    /** Each vector is most similar to itself, which shows that its object was queried. */
    const search = async (origin, n) => {
      const id = 1 + ((n * 7_919_111) % size)
      const [begun, before] = [performance.now(), secondsOf(Number(port))]
      const answer = await fetch(`${origin}/bench/search?dimensions=${dimensions}&limit=${LIMIT}&id=${id}`)
      const found = await answer.json()
      const ms = performance.now() - begun
      if (found.nearest?.id !== id || found.confirmedUpTo !== size || found.hits !== LIMIT)
        throw new Error(`asked for ${id}: ${JSON.stringify(found)}`)
      return { ms, work: 1000 * (secondsOf(Number(port)) - before) }
    }
    const several = async (origin, from, count) => {
      const all = []
      for (let n = from; n < from + count; n++) all.push(await search(origin, n))
      return all
    }
    const p50 = (all, name) =>
      percentile(
        all.map((one) => one[name]),
        0.5,
      )

    const filling = await start(MEMORY.all)
    const bar = progress(`${thousands(size)} vectors`, size)
    const begun = performance.now()
    for (let from = 0; from < size; from += BATCH) {
      const count = Math.min(BATCH, size - from)
      const answer = await fetch(`${filling.origin}/bench/fill?dimensions=${dimensions}&count=${count}`)
      if (!answer.ok) throw new Error(await answer.text())
      await answer.json()
      bar.tick(count)
    }
    bar.finish()
    const filled = (performance.now() - begun) / 1000
    await filling.stop()

    const cold = []
    let warm = []
    let [heapCold, heapWarm] = [0, 0]
    for (let n = 0; n < COLD; n++) {
      const server = await start(MEMORY.all)
      const heap = await watchHeap(Number(port) + 2)
      cold.push(await search(server.origin, n))
      heapCold = Math.max(heapCold, heap.lap().highest)
      if (n === COLD - 1) {
        warm = await several(server.origin, COLD, WARM)
        heapWarm = heap.lap().highest
      }
      heap.stop()
      await server.stop()
    }
    const server = await start(MEMORY.shared)
    const heap = await watchHeap(Number(port) + 2)
    await search(server.origin, 0)
    const shared = await several(server.origin, 1, 3)
    const heapShared = heap.lap().highest
    heap.stop()
    await server.stop()
    const row = (name, all, megabytes) => [
      ...[thousands(size), name, short(p50(all, 'ms')), short(p50(all, 'work')), Math.round(megabytes)],
    ]
    rows.push(
      row('warm', warm, heapWarm),
      row('first after a start', cold, heapCold),
      row('all objects in one isolate, 80 MB for vectors', shared, heapShared),
    )
    console.log(`${thousands(size)}: filled in ${Math.round(filled)} s`)
  }
  const report = `## Vectors in several Durable Objects

${where}; ${dimensions} dimensions, the nearest ${LIMIT}, no database, \`npm run bench -- vectors --objects ${sizes.join(',')} --dimensions ${dimensions}\`.
All objects run in one thread here, one after the other; on Cloudflare they run beside each other. Work is time of the processor, which does not change with
what else runs. Memory: heap and buffers of the isolate in which the Worker and all objects are, at most and with what is garbage already (31 MB with
20,000 vectors). The numbers of the vectors come beside it, since V8 does not count WebAssembly there: a byte each of all that are loaded.

${markdownTable(['vectors', 'search', 'p50 ms', 'work ms', 'memory MB'], rows)}`
  console.log(report)
  if (write) writeSection('vectors-objects', report)
}
