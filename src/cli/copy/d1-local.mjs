// Opens the D1 of `npm start` without a server, by the simulator on the same files, which only one process may open.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '../postgres/connect.mjs'
import { runningServers } from '../running.mjs'
import { workerOptionsOf } from '../worker-options.mjs'

/**
 * @param {string} state the folder of `wrangler dev --persist-to`; .wrangler/state by default
 * @param {string} config a wrangler configuration that binds DB
 * @returns {Promise<{ database: D1Database, close: () => Promise<void> }>}
 */
export async function openLocal(state, config = 'wrangler.toml') {
  if (!existsSync(state))
    throw new Failure(`${state} does not exist; set the folder with --state, or start the server once.`)
  const server = (await runningServers()).find((one) => one.state === state)
  if (server !== undefined)
    throw new Failure(`A server uses this data: ${server.origin} (process ${server.pid}). Stop it first.`)
  const { convertV4MiniflareOptions, Log, LogLevel, Miniflare } = await import('miniflare')
  const workerOptions = await workerOptionsOf(config)
  const simulator = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script: 'export default {}',
      compatibilityDate: workerOptions.compatibilityDate,
      d1Databases: workerOptions.d1Databases,
      resourcePersistencePath: join(state, 'v3'),
      log: new Log(LogLevel.ERROR),
      cf: false,
      telemetry: { enabled: false },
    }),
  )
  await simulator.ready
  return { database: await simulator.getD1Database('DB'), close: () => simulator.dispose() }
}
