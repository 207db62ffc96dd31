import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { WORKER_DIR } from './build'

export interface RunningServer {
  /** Of the MCP endpoint. */
  readonly url: URL
  stop(): Promise<void>
}

/** The bundle's modules: the script, and the SQL files as text. */
const modules = () => [
  { type: 'ESModule' as const, path: join(WORKER_DIR, 'index.js') },
  ...readdirSync(WORKER_DIR)
    .filter((name) => name.endsWith('.sql'))
    .map((name) => ({ type: 'Text' as const, path: join(WORKER_DIR, name) })),
]

/**
 * The bundled Worker in plain workerd on a port of its own, with empty D1 and R2.
 *
 * @param hyperdrive URL of a PostgreSQL database, in the place of D1
 */
export async function startServer(vars: Record<string, string> = {}, hyperdrive?: string): Promise<RunningServer> {
  const server = new Miniflare(
    convertV4MiniflareOptions({
      modules: modules(),
      modulesRoot: WORKER_DIR,
      compatibilityDate: '2026-10-01',
      ...(hyperdrive === undefined ? { d1Databases: { DB: 'db' } } : { hyperdrives: { HYPERDRIVE: hyperdrive } }),
      durableObjects: {
        VECTORS: { className: 'VectorObject', useSQLite: true },
        GATES: { className: 'GateObject', useSQLite: true },
      },
      r2Buckets: { IMAGES: 'images' },
      bindings: { AUTH_MODE: 'open', ...(hyperdrive && { STORAGE_BACKEND: 'postgresql' }), ...vars },
      host: '127.0.0.1',
      port: 0,
      cf: false,
    }),
  )
  const origin = await server.ready
  return { url: new URL('/mcp', origin), stop: () => server.dispose() }
}
