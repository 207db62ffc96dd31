// A server on PostgreSQL for tests in Node: a separate database for each, deleted when the server stops.
import type { Backend } from '../contracts/endpoint/session'
import { mortalServer } from './mortal'
import { type Furnishing, type PlacedServer, startPlace } from './places'
import { freshDatabase, type TestDatabase } from './postgres'
import { execute } from './postgres-server'
import type { ServerWithSql } from './server'

/** Pooled like Hyperdrive in production, which also avoids a new session per request; direct without a pooler. */
const pooled = ({ url, pooledUrl }: TestDatabase): string => pooledUrl ?? url

export async function startPostgresServer(
  vars: Record<string, string> = {},
  furnishing: Furnishing = {},
): Promise<ServerWithSql & Pick<PlacedServer, 'schedule' | 'backups'>> {
  const database = await freshDatabase()
  const server = await startPlace(vars, { ...furnishing, hyperdrive: pooled(database) })
  return {
    url: server.url,
    schedule: server.schedule,
    backups: server.backups,
    sql: (statement) => execute(database.url, statement),
    stop: async () => {
      await server.stop()
      await database.drop()
    },
  }
}

export const POSTGRES: Backend = {
  database: 'postgresql',
  vectors: 'pgvector',
  fullText: 'tsvector',
  start: startPostgresServer,
  async mortal() {
    const database = await freshDatabase()
    const server = await mortalServer(pooled(database))
    return { ...server, drop: () => server.drop().finally(database.drop) }
  },
}
