import type { SqlConnection } from '../adapters/sql/core/connection'
import { createSqlDirectory } from '../adapters/sql/stores/identity/directory'
import { createSqlEndedSessions } from '../adapters/sql/stores/identity/ended-sessions'
import { createSqlStoreOverview } from '../adapters/sql/stores/overview/store-overview'
import type { Config } from '../config'
import { createSessionSeal, type SessionSeal } from '../domain/identity/session'
import type { Clock } from '../ports/clock'
import type { Settings } from '../ports/settings'
import type { Services } from '../services/services'
import type { Bindings } from './bindings'

/** What pages for people need: names of threads and projects, what stands under them, and who looks at them. */

/** Drawn by a migration, and never changed; an isolate asks once. */
const SECRET = 'feed_secret'
const seals = new WeakMap<object, Promise<SessionSeal>>()

/** Signs by a secret of the database and one of the Worker: a change of ADMIN_TOKEN ends all sessions. */
function sealOf({ DB, HYPERDRIVE }: Bindings, { adminToken }: Config, settings: Settings): Promise<SessionSeal> {
  const database = HYPERDRIVE ?? DB ?? settings
  const known = seals.get(database)
  if (known !== undefined) return known
  const make = async () => {
    const secret = await settings.read(SECRET)
    if (secret === null) throw new Error(`the setting ${SECRET} is missing`)
    return createSessionSeal(secret, adminToken)
  }
  const seal = make()
  seals.set(database, seal)
  seal.catch(() => seals.delete(database))
  return seal
}

export const composeDashboard = (
  bindings: Bindings,
  config: Config,
  given: { connection: SqlConnection; settings: Settings; clock: Clock },
): Pick<Services, 'directory' | 'overview' | 'sessions' | 'endedSessions'> => ({
  directory: createSqlDirectory(given.connection, given.clock),
  overview: createSqlStoreOverview(given.connection, given.clock),
  endedSessions: createSqlEndedSessions(given.connection, given.clock),
  sessions: () => sealOf(bindings, config, given.settings),
})
