// A server that a test can kill at any time and start again with its data.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { killAll, workerdOf } from '../../bench/support/processes.mjs'
import { freePort } from '../../scripts/ports.mjs'
import { startServer } from './server'

export interface MortalServer {
  /** The first time, and after each crash. */
  start(): Promise<{ readonly origin: string; crash(): Promise<void> }>
  /** Deletes the stored data. */
  drop(): Promise<void>
}

/** @param hyperdrive URL of a PostgreSQL database in place of D1, which survives the server */
export async function mortalServer(hyperdrive?: string): Promise<MortalServer> {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-mortal-'))
  const port = await freePort()
  return {
    async start() {
      const vars = { RATE_LIMIT_PER_MINUTE: '0' }
      const server = await startServer(vars, hyperdrive, { kept: { folder, port } })
      return {
        origin: server.url.origin,
        async crash() {
          await killAll(workerdOf(port))
          await server.stop()
        },
      }
    },
    drop: async () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }),
  }
}
