// Plain workerd: the bundle as it would be uploaded, D1 and R2 simulated, and a socket that leads straight to the worker.
import { join } from 'node:path'
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare'
import { unstable_getMiniflareWorkerOptions } from 'wrangler'
import { publishLine } from './log-lines.mjs'
import { killAll, workerdOf } from './processes.mjs'

/** @type {(options: import('./server.mjs').ServerOptions) => Promise<import('./server.mjs').Server>} */
export async function startWorkerd({ workspace, state, vars, port, hyperdrive, without = [], inspected = false }) {
  const { bundle, modules } = workspace
  /** @type {{ workerOptions: Record<string, any> }} */
  const { workerOptions } = unstable_getMiniflareWorkerOptions(join(workspace.sources, 'wrangler.toml'))
  const { modulesRules: _, bindings, ...fromConfig } = workerOptions
  for (const name of without) delete fromConfig.durableObjects?.[name]
  const listeners = new Set()
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      ...fromConfig,
      bindings: { ...bindings, ...vars },
      ...(hyperdrive === undefined ? {} : { hyperdrives: { HYPERDRIVE: hyperdrive } }),
      modulesRoot: bundle,
      modules: [
        { type: /** @type {const} */ ('ESModule'), path: join(bundle, 'index.js') },
        ...modules.map((name) => ({ type: moduleType(name), path: join(bundle, name) })),
      ],
      resourcePersistencePath: state,
      host: '127.0.0.1',
      port,
      // The socket above passes through miniflare's own entry worker; this one does not.
      ...(inspected ? { inspectorPort: port + 2 } : {}),
      unsafeDirectSockets: [{ host: '127.0.0.1', port: port + 1 }],
      cf: false,
      telemetry: { enabled: false },
      log: new Log(LogLevel.ERROR),
      handleStructuredLogs: ({ message }) => publishLine(listeners, String(message)),
    }),
  )
  await miniflare.ready
  return {
    origin: `http://127.0.0.1:${port + 1}`,
    onLog: (listener) => listeners.add(listener),
    stop: () => miniflare.dispose(),
    async schedule() {
      const worker = await miniflare.getWorker()
      await worker.scheduled({ cron: '*/5 * * * *' })
    },
    async crash() {
      await killAll(workerdOf(port))
      await miniflare.dispose()
    },
  }
}

/** @param {string} name @returns {'ESModule' | 'CompiledWasm' | 'Text'} */
const moduleType = (name) => (name.endsWith('.js') ? 'ESModule' : name.endsWith('.wasm') ? 'CompiledWasm' : 'Text')
