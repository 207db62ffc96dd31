import type { Bindings } from './composition/bindings'
import { D1_MIGRATIONS } from './composition/migrations'
import { prepareDatabase } from './composition/storage'
import { composeServices } from './composition/worker'
import { type Config, type Environment, parseConfig } from './config'
import { createApp } from './http/app'
import { createLog } from './http/log'
import { createMeasure, type DataPoint } from './http/measure'
import { createOAuth } from './http/oauth/server'
import { grantsStep } from './services/keeping/steps'
import { unknownTools } from './tools/catalogue'

export { FeedObject } from './adapters/feed-object/object'
export { GateObject } from './adapters/gate-object/object'
export { VectorObject } from './adapters/vector-object/object'

/** The Worker: requests, and the schedule that finishes what requests left to be done. */
type Env = Bindings &
  Environment & {
    /** Without it there is no OAuth, and keys only. */
    readonly OAUTH_KV?: KVNamespace
    /** A dataset of Analytics Engine, for what each request was and cost; optional. */
    readonly METRICS?: AnalyticsEngineDataset
  }

/** The same for all requests of an isolate. */
const configs = new WeakMap<Env, Config>()

function configOf(env: Env): Config {
  const known = configs.get(env)
  if (known !== undefined) return known
  const config = parseConfig(env)
  configs.set(env, config)
  const names = unknownTools(config)
  if (names.length > 0) createLog(config.logLevel)('WARNING', 'unknown_disabled_tools', { names })
  return config
}

async function prepare(env: Env, ctx: Pick<ExecutionContext, 'waitUntil'>) {
  const config = configOf(env)
  const measure = createMeasure(createLog(config.logLevel), () => Date.now())
  const { log } = measure
  const ahead = await prepareDatabase(env, config, D1_MIGRATIONS)
  const services = composeServices(env, config, { log, waitUntil: (work) => ctx.waitUntil(work) })
  const { OAUTH_KV: kv, METRICS: metrics } = env
  // On one machine nobody needs a grant, and clients that find OAuth described would ask for one.
  const granting = kv !== undefined && config.authMode === 'required'
  return {
    config,
    log,
    measure,
    ...(metrics && { record: (point: DataPoint) => metrics.writeDataPoint(point) }),
    services,
    ahead,
    addressHeader: env.CLIENT_ADDRESS_HEADER,
    oauth: granting ? createOAuth({ kv, identity: services.identity, turns: services.grantTurns, log }) : null,
  }
}

const app = createApp<Env>(async (env, ctx) => {
  const setup = await prepare(env, ctx)
  await setup.services.catchUp.begin()
  return setup
})

export default {
  fetch: (request, env, ctx) => app.fetch(request, env, ctx),
  async scheduled(_, env, ctx) {
    const { services, oauth } = await prepare(env, ctx)
    try {
      await services.schedule.run(oauth === null ? [] : [grantsStep(oauth.purge)])
    } finally {
      await services.close()
    }
  },
} satisfies ExportedHandler<Env>
