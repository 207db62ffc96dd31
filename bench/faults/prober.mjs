// Asks /health without a pause from a thread of its own, so that nothing but the server can make it wait.
import { Agent, request } from 'node:http'
import { fileURLToPath } from 'node:url'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

/** Between two questions. */
const PAUSE_MS = 2

/**
 * @typedef {object} Prober
 * @property {() => Promise<{longest: number, asked: number}>} lap the longest answer in ms since the last lap, and how many there were
 * @property {() => Promise<number>} stop
 */

/**
 * @param {string} origin
 * @returns {Prober}
 */
export function startProber(origin) {
  const worker = new Worker(fileURLToPath(import.meta.url), { workerData: { origin } })
  return {
    lap: () =>
      new Promise((resolve, reject) => {
        worker.once('message', resolve)
        worker.once('error', reject)
        worker.postMessage('lap')
      }),
    stop: () => worker.terminate(),
  }
}

if (!isMainThread) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const url = `${workerData.origin}/health`
  let longest = 0
  let asked = 0
  const waiting = []
  parentPort?.on('message', () => waiting.push(null))

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
    longest = Math.max(longest, await ask())
    asked++
    // A lap ends with an answer, so that a server which is still busy is not let off.
    while (waiting.length > 0) {
      waiting.pop()
      parentPort?.postMessage({ longest, asked })
      longest = 0
      asked = 0
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}
