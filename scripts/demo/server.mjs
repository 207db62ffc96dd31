// Starts the Worker in open mode on a data folder, on a free port of this machine, for scripts of the demo.
import { join } from 'node:path'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { unstable_getMiniflareWorkerOptions } from 'wrangler'
import { root } from '../install.mjs'
import { bundleWorker, modulesOf } from '../serve/bundle.mjs'

/** @param {string} state folder of the data */
export async function startOn(state) {
  const folder = await bundleWorker()
  /** @type {{ workerOptions: Record<string, any> }} */
  const { workerOptions } = unstable_getMiniflareWorkerOptions(join(root, 'wrangler.toml'))
  const { modulesRules: _, bindings, cronTriggers: __, ...fromConfig } = workerOptions
  const server = new Miniflare(
    convertV4MiniflareOptions({
      ...fromConfig,
      bindings: { ...bindings, AUTH_MODE: 'open', LOG_LEVEL: 'WARNING' },
      modulesRoot: folder,
      modules: modulesOf(folder),
      resourcePersistencePath: join(state, 'v3'),
      ...{ host: '127.0.0.1', port: 0, cf: false, telemetry: { enabled: false } },
    }),
  )
  return { server, origin: new URL(await server.ready).origin }
}
