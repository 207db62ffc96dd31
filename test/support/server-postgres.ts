// A server on PostgreSQL for tests in Node: a database of its own for each, gone when the server stops.
import type { Backend } from '../contracts/endpoint/session'
import { mortalServer } from './mortal'
import { freshDatabase } from './postgres'
import { execute } from './postgres-server'
import { type OpenedServer, type ServerWithSql, type Surroundings, startServer } from './server'

export async function startPostgresServer(
  vars: Record<string, string> = {},
  surroundings: Surroundings = {},
): Promise<ServerWithSql & Pick<OpenedServer, 'schedule' | 'backups'>> {
  const database = await freshDatabase()
  const server = await startServer(vars, database.url, surroundings)
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
    const server = await mortalServer(database.url)
    return { ...server, drop: () => server.drop().finally(database.drop) }
  },
}
