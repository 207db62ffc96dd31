// Requests /health continuously from a separate thread, so that only the server can delay it; and measures the
// processor time of the server's own thread, which other programs do not change.
import { readdirSync, readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { fileURLToPath } from 'node:url'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

/** Between two questions. */
const PAUSE_MS = 2

/**
 * @typedef {object} Prober
 * @property {() => Promise<{longest: number, busy: number}>} lap since the last lap, in ms: the longest answer, and the most
 *   processor time that the server took before an answer; NaN if the system does not report it
 * @property {() => Promise<number>} stop
 */

/** Whether a process started it, and it is workerd; a process may end during the check. */
function isOurWorkerd(pid, parent) {
  try {
    const [name, rest] = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .slice(pid.length + 2)
      .split(') ')
    return name === 'workerd' && Number(rest?.split(' ')[1]) === parent
  } catch {
    return false
  }
}

/** The process of workerd that a process started; undefined if the system does not report it. */
export function workerdProcess(parent = process.pid) {
  try {
    return readdirSync('/proc').find((pid) => /^\d+$/.test(pid) && isOurWorkerd(pid, parent))
  } catch {
    return undefined
  }
}

/**
 * @param {string} origin
 * @returns {Prober}
 */
export function startProber(origin) {
  const worker = new Worker(fileURLToPath(import.meta.url), { workerData: { origin, pid: workerdProcess() } })
  return {
    lap: () =>
      new Promise((resolve, reject) => {
        worker.once('error', reject)
        worker.once('message', (lap) => {
          worker.off('error', reject)
          resolve(lap)
        })
        worker.postMessage('lap')
      }),
    stop: () => worker.terminate(),
  }
}

if (!isMainThread) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const url = `${workerData.origin}/health`
  let longest = 0
  const pidIsKnown = workerData.pid !== undefined
  const nothing = pidIsKnown ? 0 : Number.NaN
  let busy = nothing
  const waiting = []
  parentPort?.on('message', () => waiting.push(null))

  /** Milliseconds that the server's event loop has run so far. */
  const ran = () => {
    const { pid } = workerData
    if (pid === undefined) return Number.NaN
    try {
      return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6
    } catch {
      return Number.NaN // The server has exited.
    }
  }

  const ask = () =>
    new Promise((resolve) => {
      const started = performance.now()
      const outgoing = request(url, { agent }, (response) => {
        response.on('end', () => resolve(performance.now() - started))
        response.resume()
      })
      outgoing.on('error', () => resolve(performance.now() - started))
      outgoing.end()
    })

  for (;;) {
    const before = ran()
    longest = Math.max(longest, await ask())
    const took = ran() - before
    // A server that has exited has no values for this request; the earlier ones are used.
    if (pidIsKnown && !Number.isNaN(took)) busy = Math.max(busy, took)
    // A lap ends with an answer, so that a server that is still busy is measured to its end.
    while (waiting.length > 0) {
      waiting.pop()
      parentPort?.postMessage({ longest, busy })
      longest = 0
      busy = nothing
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}
