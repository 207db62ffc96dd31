import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { convertV4MiniflareOptions, Miniflare, Response as Told } from 'miniflare'
import { modulesOf } from '../../scripts/serve/bundle.mjs'
import { WORKER_DIR } from './build'

export interface RunningServer {
  /** Of the MCP endpoint. */
  readonly url: URL
  stop(): Promise<void>
}

/** A server whose database a test can reach. */
export interface ServerWithSql extends RunningServer {
  /** Runs a statement directly on the database, for tests that would otherwise wait. */
  sql(statement: string): Promise<unknown>
}

/** A server whose stores a test can reach. */
export interface OpenedServer extends ServerWithSql {
  /** Runs the schedule of every five minutes, or another one, once. */
  schedule(cron?: string): Promise<void>
  /** The names and values in the OAuth store. */
  grants(): Promise<string>
}

export interface Surroundings {
  /** Receives each log line of the Worker. */
  readonly onLog?: (line: string) => void
  /** Replaces the web for the Worker. */
  readonly web?: (request: { readonly url: string }) => Promise<Response>
  /** The Worker's own origin, if it is not the socket's. */
  readonly origin?: string
  /** Answers in place of the model process next to the Worker. */
  readonly model?: (request: Request) => Promise<Response>
  /** Receives the name of each module of the bundle when workerd loads it. */
  readonly onModule?: (name: string) => void
  /** The folder of another bundle than this checkout's. */
  readonly worker?: string
  /** A folder that keeps the data after the server has stopped, and the port it had. */
  readonly kept?: { readonly folder: string; readonly port: number }
}

/** Modules of bundles by file, shared by all servers of a process. */
const modules = new Map<string, string>()

/** Answers the request of workerd for a module of a bundle. */
async function answerModule(
  worker: string,
  asked: { json(): Promise<unknown> },
  onModule?: (name: string) => void,
): Promise<Told> {
  const { specifier } = (await asked.json()) as { specifier: string }
  const file = join(worker, basename(specifier))
  // workerd's own modules: it logs any other refusal.
  if (!specifier.startsWith('file:')) return new Told(null, { status: 301, headers: { location: specifier } })
  if (!existsSync(file)) return new Told(null, { status: 404 })
  onModule?.(basename(file))
  const code = modules.get(file) ?? readFileSync(file, 'utf8')
  modules.set(file, code)
  return new Told(JSON.stringify({ name: specifier, esModule: code }))
}

/** A module that re-exports a bundle unchanged. */
const WHOLE = `export * from './index.js'\nexport { default } from './index.js'\n`

/**
 * The Worker with options that all servers share, on a free port. workerd loads the bundle itself, because Miniflare
 * copies a bundle in its configuration many times.
 * @param entry module that can import the bundle as `./index.js`
 * @param worker folder of the bundle
 * @param onModule receives the name of each module when workerd loads it
 */
export const handedOver = (entry = WHOLE, worker = WORKER_DIR, onModule?: (name: string) => void) => ({
  modules: [
    { type: 'ESModule' as const, path: join(worker, 'entry.js'), contents: entry },
    ...modulesOf(worker).filter(({ type }) => type !== 'ESModule'),
  ],
  modulesRoot: worker,
  unsafeUseModuleFallbackService: true,
  unsafeModuleFallbackService: (asked: { json(): Promise<unknown> }) => answerModule(worker, asked, onModule),
  compatibilityDate: '2026-10-01',
  compatibilityFlags: ['global_fetch_strictly_public', 'new_module_registry'],
  host: '127.0.0.1',
  port: 0,
  cf: false as const,
})

/** Converts between Miniflare's requests and responses and the global ones. */
const answering = (model: (request: Request) => Promise<Response>) => async (request: unknown) => {
  const { url, method } = request as Request
  const body = method === 'POST' ? await (request as Request).arrayBuffer() : null
  const answer = await model(new Request(url, { method, body }))
  return new Told(await answer.arrayBuffer(), { status: answer.status })
}

/** Names and values of a KV. */
export async function everythingIn(kv: Awaited<ReturnType<Miniflare['getKVNamespace']>>): Promise<string> {
  const { keys } = await kv.list()
  return JSON.stringify(await Promise.all(keys.map(async (key) => [key, await kv.get(key.name)])))
}

/**
 * The bundled Worker in plain workerd on a free port, with empty D1, R2 and KV.
 * @param hyperdrive URL of a PostgreSQL database in place of D1
 */
export async function startServer(
  vars: Record<string, string> = {},
  hyperdrive?: string,
  surroundings: Surroundings = {},
): Promise<OpenedServer> {
  const { onLog, onModule, web, origin, model, worker = WORKER_DIR, kept } = surroundings
  const server = new Miniflare(
    convertV4MiniflareOptions({
      ...handedOver(WHOLE, worker, onModule),
      ...(hyperdrive === undefined ? { d1Databases: { DB: 'db' } } : { hyperdrives: { HYPERDRIVE: hyperdrive } }),
      kvNamespaces: { OAUTH_KV: 'oauth' },
      durableObjects: {
        VECTORS: { className: 'VectorObject', useSQLite: true },
        GATES: { className: 'GateObject', useSQLite: true },
        FEEDS: { className: 'FeedObject', useSQLite: true },
      },
      r2Buckets: { IMAGES: 'images' },
      // Requests are only logged for tests that listen.
      bindings: {
        AUTH_MODE: 'open',
        ...(onLog === undefined && { LOG_LEVEL: 'WARNING' }),
        ...(hyperdrive && { STORAGE_BACKEND: 'postgresql' }),
        ...vars,
      },
      ...(kept === undefined ? {} : { port: kept.port, resourcePersistencePath: kept.folder }),
      ...(onLog === undefined ? {} : { handleStructuredLogs: ({ message }) => onLog(message) }),
      ...(origin === undefined ? {} : { upstream: origin }),
      ...(model && { serviceBindings: { BUILTIN_MODEL: answering(model) } }),
      ...(web === undefined ? {} : { outboundService: web as never }),
    }),
  )
  return {
    url: new URL('/mcp', await server.ready),
    sql: async (statement) => (await server.getD1Database('DB')).prepare(statement).run(),
    grants: async () => everythingIn(await server.getKVNamespace('OAUTH_KV')),
    schedule: async (cron = '*/5 * * * *') => {
      await (await server.getWorker()).scheduled({ cron })
    },
    stop: () => server.dispose(),
  }
}
