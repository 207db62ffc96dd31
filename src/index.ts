import type { Bindings } from './composition/bindings'
import { withBuiltinModel } from './composition/builtin-model'
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

/** What the schedule is told when the model that runs next to the Worker is ready (scripts/serve/schedule.mjs). */
const MODEL_IS_READY = 'the built-in model is ready'

/** @param isNews whether the built-in model is known to have changed */
async function prepare(env: Env, ctx: Pick<ExecutionContext, 'waitUntil'>, isNews = false) {
  const config = await withBuiltinModel(configOf(env), env, isNews)
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
    oauth: granting ? createOAuth({ kv, identity: services.identity, log }) : null,
  }
}

const app = createApp<Env>(async (env, ctx) => {
  const setup = await prepare(env, ctx)
  await setup.services.catchUp.begin()
  return setup
})

export default {
  fetch: (request, env, ctx) => app.fetch(request, env, ctx),
  async scheduled({ cron }, env, ctx) {
    const isNews = cron === MODEL_IS_READY
    const { services, oauth } = await prepare(env, ctx, isNews)
    try {
      if (isNews) await services.schedule.beginAgain('vectors')
      await services.schedule.run(oauth === null ? [] : [grantsStep(oauth.purge)])
    } finally {
      await services.close()
    }
  },
} satisfies ExportedHandler<Env>
