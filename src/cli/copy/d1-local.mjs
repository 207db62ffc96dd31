// How is the D1 of `npm start` reached without a server? By the simulator on the same files, which only one process may hold.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Failure } from '../postgres/connect.mjs'
import { runningServers } from '../running.mjs'

const root = fileURLToPath(new URL('../../..', import.meta.url).href)

/**
 * @param {string} state what `wrangler dev --persist-to` was given; .wrangler/state without it
 * @param {string} config a wrangler configuration that binds DB
 * @returns {Promise<{ database: D1Database, close: () => Promise<void> }>}
 */
export async function openLocal(state, config = join(root, 'wrangler.toml')) {
  if (!existsSync(state))
    throw new Failure(`There is no ${state}; name the folder with --state, or start the server once.`)
  const server = (await runningServers(root)).find((one) => one.state === state)
  if (server !== undefined)
    throw new Failure(`These data are being served at ${server.origin} (process ${server.pid}); stop that first.`)
  const { convertV4MiniflareOptions, Log, LogLevel, Miniflare } = await import('miniflare')
  const { unstable_getMiniflareWorkerOptions } = await import('wrangler')
  /** @type {{ workerOptions: Record<string, any> }} */
  const { workerOptions } = unstable_getMiniflareWorkerOptions(config)
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
