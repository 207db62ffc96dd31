import type { Bindings } from './composition/isolate'
import { D1_MIGRATIONS } from './composition/migrations'
import { withBuiltinModel } from './composition/models'
import { loadModules } from './composition/modules'
import { prepareDatabase } from './composition/storage'
import { composeServices } from './composition/worker'
import { type Config, type Environment, parseConfig } from './config'
import { createApp } from './http/app'
import { createLog } from './http/log'
import { createMeasure, type DataPoint } from './http/measure'
import { createOAuth } from './http/oauth/server'
import { grantsStep } from './services/maintenance/steps'
import { unknownTools } from './tools/catalogue'

export { FeedObject } from './adapters/feed-object/object'
export { GateObject } from './adapters/rate-limit-object/object'
export { VectorObject } from './adapters/vector-object/object'

/** The entry point of the Worker: handles requests, and runs the schedule that completes their background work. */
type Env = Bindings &
  Environment & {
    /** Stores grants of OAuth; without it, clients can only use keys. */
    readonly OAUTH_KV?: KVNamespace
    /** Analytics Engine dataset for measurements of requests; optional. */
    readonly METRICS?: AnalyticsEngineDataset
  }

/** Parsed configurations, shared by all requests of an isolate. */
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

/** Name of the schedule that runs when the model next to the Worker is ready (scripts/serve/schedule.mjs). */
const MODEL_IS_READY = 'the built-in model is ready'

/** Creates the services of a request. @param isNews whether the built-in model is known to have changed */
async function prepare(env: Env, ctx: Pick<ExecutionContext, 'waitUntil'>, isNews = false) {
  const config = await withBuiltinModel(configOf(env), env, isNews)
  const measure = createMeasure(createLog(config.logLevel), () => Date.now())
  const { log } = measure
  await loadModules(config)
  const ahead = await prepareDatabase(env, config, D1_MIGRATIONS)
  const services = composeServices(env, config, { log, waitUntil: (work) => ctx.waitUntil(work) })
  const { OAUTH_KV: kv, METRICS: metrics } = env
  // In open mode grants are not needed, and clients that discover OAuth would request one.
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

/** Runs the schedule, and counts its rows: it is the largest part of an idle deployment. */
async function runSchedule(cron: string, env: Env, ctx: Pick<ExecutionContext, 'waitUntil'>): Promise<void> {
  const isNews = cron === MODEL_IS_READY
  const { services, oauth, measure, log } = await prepare(env, ctx, isNews)
  try {
    if (isNews) await services.schedule.beginAgain('vectors')
    await services.schedule.run(oauth === null ? [] : [grantsStep(oauth.purge)])
    const used = { ...measure.usage('schedule', () => {}), keyId: 'schedule' }
    await services.usage.add([used]).catch(() => log('WARNING', 'usage_not_written', { counts: 1 }))
  } finally {
    await services.close()
  }
}

/** Whether `npm start` requests the schedule (scripts/serve/schedule.mjs). Deployments have no token. */
const isScheduleRequest = ({ headers }: Request, { SCHEDULE_TOKEN: token }: Env): boolean =>
  typeof token === 'string' && token.length >= 32 && headers.get('x-schedule-token') === token

export default {
  async fetch(request, env, ctx) {
    if (!isScheduleRequest(request, env)) return app.fetch(request, env, ctx)
    await runSchedule(request.headers.get('x-cron') ?? '', env, ctx)
    return new Response('ok')
  },
  scheduled: ({ cron }, env, ctx) => runSchedule(cron, env, ctx),
} satisfies ExportedHandler<Env>
