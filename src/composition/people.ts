import type { SqlConnection } from '../adapters/sql/core/connection'
import { createSqlAuditLog } from '../adapters/sql/stores/identity/audit-log'
import { createSqlIdentityStore } from '../adapters/sql/stores/identity/identity-store'
import { createSqlProjectDirectory } from '../adapters/sql/stores/identity/project-directory'
import type { Clock } from '../ports/clock'
import type { ProjectDirectory } from '../ports/project-directory'
import { createAdministration } from '../services/people/administration'
import { createIdentity } from '../services/people/identity'
import { createResolveNames, type NamesCache, type ResolveNames } from '../services/people/project-names'
import { createProjects } from '../services/people/projects'
import type { Services } from '../services/services'

/** Which projects names mean. @param cache of the isolate */
export function composeNames(connection: SqlConnection, clock: Clock, cache: NamesCache) {
  const directory = createSqlProjectDirectory(connection, clock)
  return { directory, names: createResolveNames({ directory, cache }) }
}

/** The part of the composition that knows callers by their keys, and makes and revokes these. */
export function composePeople(given: {
  readonly connection: SqlConnection
  readonly clock: Clock
  readonly directory: ProjectDirectory
  readonly names: ResolveNames
  readonly adminToken: string | null
  readonly afterwards: Services['afterwards']
  /** Wakes what waits for changes of an organization. */
  readonly wake: (org: string) => Promise<unknown>
}): Pick<Services, 'identity' | 'administration' | 'projects' | 'names'> {
  const { connection, clock, adminToken, afterwards, wake } = given
  const store = createSqlIdentityStore(connection, clock)
  const administration = createAdministration({
    ...{ store, clock, names: given.names },
    audit: createSqlAuditLog(connection, clock),
  })
  return {
    projects: createProjects({ directory: given.directory }),
    names: given.names,
    identity: createIdentity({ store, adminToken, clock, afterwards }),
    administration: {
      ...administration,
      // Streams of a key end with it: those that wait are woken to find that out.
      async revokeKey(...named) {
        const outcome = await administration.revokeKey(...named)
        afterwards(wake(outcome.key.org))
        return outcome
      },
    },
  }
}
