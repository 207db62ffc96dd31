// Assigns ports to servers that run in parallel: tests, benches, a local database.
import { createServer } from 'node:net'
import { threadId } from 'node:worker_threads'

/**
 * Range of assigned ports: below the ephemeral ports of systems (from 32768 on Linux, 49152 elsewhere), so that an outgoing connection
 * never takes one between two starts of a server, and above those that browsers refuse.
 */
const FIRST = 11_000
/** Each process uses its own ports, so that two processes never get the same one. */
const EACH = 100
const PROCESSES = 200

let given = 0

/**
 * @param {number} port
 * @param {string} host
 * @returns {Promise<string | null>} the system's error code if the port cannot be used (such as EADDRINUSE), or null
 */
export const listeningFails = (port, host) =>
  new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', (/** @type {NodeJS.ErrnoException} */ error) => resolve(error.code ?? error.message))
    probe.listen(port, host, () => probe.close(() => resolve(null)))
  })

/**
 * Returns a free port, also for a server that is stopped and started again there.
 *
 * @returns {Promise<number>} different from the previous hundred
 */
export async function freePort() {
  const own = FIRST + ((process.pid + threadId) % PROCESSES) * EACH
  for (let tries = 0; tries < EACH; tries++) {
    const port = own + (given++ % EACH)
    if ((await listeningFails(port, '127.0.0.1')) === null) return port
  }
  throw new Error(`None of the ports from ${own} to ${own + EACH - 1} is free.`)
}
