import type { Bindings } from '../../../src/composition/bindings'
import { D1_MIGRATIONS } from '../../../src/composition/migrations'
import { prepareDatabase } from '../../../src/composition/storage'
import { composeServices } from '../../../src/composition/worker'
import { type Environment, parseConfig } from '../../../src/config'
import { toBase64 } from '../../../src/domain/meaning/vector'
import { createApp } from '../../../src/http/app'
import { createLog } from '../../../src/http/log'
import type { FindCandidates, Found } from '../../../src/services/pack/find-candidates'

// Its Durable Objects, whichever they are.
export * from '../../../src/index'

/** Of the last pack. */
let last: Found | null = null

const watching =
  (find: FindCandidates): FindCandidates =>
  async (...given) => {
    last = await find(...given)
    return last
  }

/** What a store has of JSON: vectors as base64, maps as pairs. */
const asJson = (found: Found) => ({
  ...found,
  held: [...found.held],
  vectors: found.vectors.map(({ vector, ...one }) => ({ ...one, data: toBase64(vector) })),
  query: found.query === null ? null : toBase64(found.query),
})

/** The worker of `clock-worker`, which also tells at `/bench/found` from which candidates it made the last pack. */
export default {
  async fetch(request: Request, env: Bindings & Environment, ctx: ExecutionContext): Promise<Response> {
    if (new URL(request.url).pathname === '/bench/found') return Response.json(last === null ? null : asJson(last))
    const at = Date.parse(request.headers.get('x-bench-now') ?? '')
    const clock = { now: () => (Number.isNaN(at) ? Date.now() : at) }
    const app = createApp(async () => {
      const config = parseConfig(env)
      const log = createLog(config.logLevel)
      await prepareDatabase(env, config, D1_MIGRATIONS)
      const waitUntil = (work: Promise<unknown>) => ctx.waitUntil(work)
      const services = composeServices(env, config, { log, waitUntil, clock, watching })
      return { config, log, services, oauth: null }
    })
    return app.fetch(request, env, ctx)
  },
}
