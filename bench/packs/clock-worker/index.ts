import type { Bindings } from '../../../src/composition/isolate'
import { D1_MIGRATIONS } from '../../../src/composition/migrations'
import { loadModules } from '../../../src/composition/modules'
import { prepareDatabase } from '../../../src/composition/storage'
import { composeServices } from '../../../src/composition/worker'
import { type Environment, parseConfig } from '../../../src/config'
import { createApp } from '../../../src/http/app'
import { createLog } from '../../../src/http/log'

// Its Durable Objects, whichever they are.
export * from '../../../src/index'

/** The Worker as it is, on a day that each request names: a history of months is stored in minutes, and "yesterday" stays yesterday. */
export default {
  async fetch(request: Request, env: Bindings & Environment, ctx: ExecutionContext): Promise<Response> {
    const at = Date.parse(request.headers.get('x-bench-now') ?? '')
    const clock = { now: () => (Number.isNaN(at) ? Date.now() : at) }
    const app = createApp(async () => {
      const config = parseConfig(env)
      const log = createLog(config.logLevel)
      await loadModules(config)
      await prepareDatabase(env, config, D1_MIGRATIONS)
      const services = composeServices(env, config, { log, waitUntil: (work) => ctx.waitUntil(work), clock })
      return { config, log, services, oauth: null }
    })
    return app.fetch(request, env, ctx)
  },
}
