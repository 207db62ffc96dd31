// A server on PostgreSQL for tests in Node: a database of its own for each, gone when the server stops.
import type { Backend } from '../contracts/endpoint/session'
import { mortalServer } from './mortal'
import { freshDatabase, type TestDatabase } from './postgres'
import { execute } from './postgres-server'
import { type OpenedServer, type ServerWithSql, type Surroundings, startServer } from './server'

/** As Hyperdrive pools in production, which also spares each request a session of its own; directly where there is no pooler. */
const pooled = ({ url, pooledUrl }: TestDatabase): string => pooledUrl ?? url

export async function startPostgresServer(
  vars: Record<string, string> = {},
  surroundings: Surroundings = {},
): Promise<ServerWithSql & Pick<OpenedServer, 'schedule' | 'backups'>> {
  const database = await freshDatabase()
  const server = await startServer(vars, pooled(database), surroundings)
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
