// The ways to run the real worker on this machine, with one interface.
import { startPooled, startPostgres } from './postgres.mjs'
import { startWorkerd } from './workerd.mjs'
import { startWrangler } from './wrangler.mjs'

/**
 * @typedef {object} ServerOptions
 * @property {import('./workspace.mjs').Workspace} workspace
 * @property {string} state folder in which D1 and R2 store their data
 * @property {Record<string, string>} vars variables of the worker in addition to AUTH_MODE
 * @property {string} [hyperdrive] URL of the PostgreSQL behind the binding HYPERDRIVE
 * @property {readonly string[]} [without] Durable Objects of wrangler.toml that are not bound
 * @property {boolean} [inspected] whether a debugger may connect, at the third port
 * @property {number} port the first of three ports that this server may use
 *
 * @typedef {object} Server
 * @property {string} origin
 * @property {(listener: (event: Record<string, unknown>) => void) => void} onLog JSON lines that the worker logs
 * @property {() => Promise<void>} stop
 * @property {() => Promise<void>} [schedule] runs the five-minute schedule, where workerd runs without wrangler
 * @property {() => Promise<void>} [crash] kills its processes; its data stays
 * @property {string} [database] URL of the PostgreSQL behind it, where there is one
 */

/** @type {Record<string, (options: ServerOptions) => Promise<Server>>} */
const STARTERS = { workerd: startWorkerd, wrangler: startWrangler, postgres: startPostgres, pooled: startPooled }

/** Those that the record of D1 is made of; PostgreSQL has a record of its own. */
export const TARGETS = ['workerd', 'wrangler']

/** Running servers, so that an interrupted bench leaves no process behind. */
const running = new Set()

for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    void Promise.allSettled([...running].map((server) => server.stop())).then(() => process.exit(130))
  })

/**
 * Starts a server that answers, with open access for this machine.
 *
 * @param {string} target one of TARGETS
 * @param {ServerOptions} options
 * @returns {Promise<Server & { crash: () => Promise<void> }>}
 */
export async function startServer(target, options) {
  const server = await STARTERS[target]({ ...options, vars: { AUTH_MODE: 'open', ...options.vars } })
  const own = {
    ...server,
    async crash() {
      running.delete(own)
      await server.crash?.()
    },
    async stop() {
      running.delete(own)
      await server.stop()
    },
  }
  running.add(own)
  try {
    await untilReady(own.origin)
  } catch (error) {
    await own.stop()
    throw error
  }
  return own
}

/** Waits for the first answer, which also applies the migrations. */
async function untilReady(origin) {
  for (let tries = 0; tries < 300; tries++) {
    const ready = await fetch(`${origin}/ready`).then(
      async (response) => {
        await response.text()
        return response.ok
      },
      () => false,
    )
    if (ready) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`${origin} did not become ready within 30 seconds`)
}
