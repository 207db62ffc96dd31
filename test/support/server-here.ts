import { DATABASE } from './database'
import { startPlace } from './places'
import { startPostgresServer } from './server-postgres'

/** Starts a server on the database of this Vitest project. */
export const startServerHere: typeof startPostgresServer = DATABASE === 'd1' ? startPlace : startPostgresServer
