// A separate server for demonstrations and trials: the Worker in plain workerd, with an empty store that the script can access.
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare'
import { bundleWorker, modulesOf } from '../serve/bundle.mjs'

/**
 * @typedef {object} OwnServer
 * @property {string} url
 * @property {(minutes: number) => Promise<void>} pass advances the time of sessions, and runs the five-minute schedule
 * @property {() => Promise<void>} stop
 */

/** @returns {Promise<OwnServer>} */
export async function startOwnServer() {
  const bundle = await bundleWorker()
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modules: modulesOf(bundle),
      modulesRoot: bundle,
      compatibilityDate: '2026-10-01',
      compatibilityFlags: ['global_fetch_strictly_public'],
      d1Databases: { DB: 'db' },
      durableObjects: {
        VECTORS: { className: 'VectorObject', useSQLite: true },
        GATES: { className: 'GateObject', useSQLite: true },
        FEEDS: { className: 'FeedObject', useSQLite: true },
      },
      r2Buckets: { IMAGES: 'images' },
      bindings: { AUTH_MODE: 'open' },
      host: '127.0.0.1',
      port: 0,
      cf: false,
      telemetry: { enabled: false },
      log: new Log(LogLevel.ERROR),
      handleStructuredLogs: () => {},
    }),
  )
  const { origin } = await miniflare.ready
  await fetch(`${origin}/ready`)
  return {
    url: origin,
    async pass(minutes) {
      const database = await miniflare.getD1Database('DB')
      await database
        .prepare('UPDATE capture_sessions SET due_at = due_at - ?1, seen_at = seen_at - ?1')
        .bind(minutes * 60_000)
        .run()
      const worker = await miniflare.getWorker()
      await worker.scheduled({ cron: '*/5 * * * *' })
    },
    stop: () => miniflare.dispose(),
  }
}
