// Ports for servers that are started beside others: tests, benches, a database of one's own.
import { createServer } from 'node:net'
import { threadId } from 'node:worker_threads'

/**
 * Where ports are given out: below those that systems give to outgoing connections (from 32768 on Linux, 49152 elsewhere), so that
 * none is taken by a connection of anybody's between two starts of one server, and above those that browsers refuse.
 */
const FIRST = 11_000
/** Each process walks through ports of its own, so that two that ask at once do not get the same one. */
const EACH = 100
const PROCESSES = 200

let given = 0

/**
 * @param {number} port
 * @param {string} host
 * @returns {Promise<string | null>} why nothing can listen there (the system's code, such as EADDRINUSE), or null
 */
export const listeningFails = (port, host) =>
  new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', (/** @type {NodeJS.ErrnoException} */ error) => resolve(error.code ?? error.message))
    probe.listen(port, host, () => probe.close(() => resolve(null)))
  })

/**
 * A port that nobody listens on, for a server that may also be stopped and started there again.
 *
 * @returns {Promise<number>} never the same one twice among the next hundred
 */
export async function freePort() {
  const own = FIRST + ((process.pid + threadId) % PROCESSES) * EACH
  for (let tries = 0; tries < EACH; tries++) {
    const port = own + (given++ % EACH)
    if ((await listeningFails(port, '127.0.0.1')) === null) return port
  }
  throw new Error(`None of the ports from ${own} to ${own + EACH - 1} is free.`)
}
