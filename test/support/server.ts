import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { WORKER_DIR } from './build'

export interface RunningServer {
  /** Of the MCP endpoint. */
  readonly url: URL
  /** The same Worker as the web would ask it, under any host name. */
  ask(url: string, init?: RequestInit): Promise<Response>
  stop(): Promise<void>
}

/** The bundle's modules: the script, and the SQL files as text. */
const modules = () => [
  { type: 'ESModule' as const, path: join(WORKER_DIR, 'index.js') },
  ...readdirSync(WORKER_DIR)
    .filter((name) => name.endsWith('.sql'))
    .map((name) => ({ type: 'Text' as const, path: join(WORKER_DIR, name) })),
]

export interface Surroundings {
  /** Hears every line that the Worker logs. */
  readonly onLog?: (line: string) => void
  /** The web as the Worker sees it; without it, the real one. */
  readonly web?: (request: { readonly url: string }) => Promise<Response>
  /** False: a deployment without a store for OAuth. */
  readonly oauth?: boolean
}

/** The bundled Worker in plain workerd on a port of its own, with empty D1, R2 and KV. */
export async function startServer(
  vars: Record<string, string> = {},
  { onLog, web, oauth = true }: Surroundings = {},
): Promise<RunningServer> {
  const server = new Miniflare(
    convertV4MiniflareOptions({
      modules: modules(),
      modulesRoot: WORKER_DIR,
      compatibilityDate: '2026-10-01',
      compatibilityFlags: ['global_fetch_strictly_public'],
      d1Databases: { DB: 'db' },
      kvNamespaces: oauth ? { OAUTH_KV: 'oauth' } : {},
      durableObjects: {
        VECTORS: { className: 'VectorObject', useSQLite: true },
        GATES: { className: 'GateObject', useSQLite: true },
      },
      r2Buckets: { IMAGES: 'images' },
      bindings: { AUTH_MODE: 'open', ...vars },
      host: '127.0.0.1',
      port: 0,
      cf: false,
      ...(onLog === undefined ? {} : { handleStructuredLogs: ({ message }) => onLog(message) }),
      ...(web === undefined ? {} : { outboundService: web as never }),
    }),
  )
  const origin = await server.ready
  return {
    url: new URL('/mcp', origin),
    ask: (url, init) => server.dispatchFetch(url, init as never) as unknown as Promise<Response>,
    stop: () => server.dispose(),
  }
}
