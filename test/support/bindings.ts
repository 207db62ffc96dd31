import { env } from 'cloudflare:workers'
import { createD1Connection } from '../../src/adapters/d1/connection'
import { migrateD1 } from '../../src/adapters/d1/migrate'
import { createSqlEntryStore } from '../../src/adapters/sql/stores/entries/entry-store'
import { createSqlAuditLog } from '../../src/adapters/sql/stores/identity/audit-log'
import { createSqlIdentityStore } from '../../src/adapters/sql/stores/identity/identity-store'
import { createSqlProjectDirectory } from '../../src/adapters/sql/stores/identity/project-directory'
import { createSqlOutbox } from '../../src/adapters/sql/stores/maintenance/outbox'
import { createSqlEntryTexts } from '../../src/adapters/sql/stores/texts/entry-texts'
import { createD1Dialect } from '../../src/adapters/sqlite/dialect'
import { createD1FullText } from '../../src/adapters/sqlite/full-text'
import { indexedFieldTypes } from '../../src/adapters/sqlite/migrations'
import type { Bindings } from '../../src/composition/isolate'
import { D1_MIGRATIONS } from '../../src/composition/migrations'
import { parseConfig } from '../../src/config'
import { createAnalyzer } from '../../src/domain/search/analysis'
import type { Clock } from '../../src/ports/clock'

/** Bindings of the Worker, and unused stores (vitest.config.ts). */
const given = env as unknown as Bindings &
  Required<Pick<Bindings, 'DB' | 'IMAGES' | 'VECTORS'>> &
  Record<`DB_${number}`, D1Database> &
  Record<`IMAGES_${number}`, R2Bucket>

/** The simulated D1 and R2, or the PostgreSQL database, of this test file. */
export const bindings = { ...given }

let files = 0

/**
 * Creates new stores before each test file, because files share a process and modules cache by store.
 *
 * @param connectionString PostgreSQL database of the file; without it, the file runs on D1
 */
export function renewBindings(connectionString?: string): void {
  const [DB, IMAGES] = [given[`DB_${files}`], given[`IMAGES_${files}`]]
  if (DB === undefined) throw new Error(`A process plays more files than it has stores: ${files}`)
  files++
  Object.assign(bindings, { DB, IMAGES })
  delete bindings.HYPERDRIVE
  if (connectionString !== undefined) Object.assign(bindings, { HYPERDRIVE: { connectionString } })
}

export const config = parseConfig({ AUTH_MODE: 'open' })

export const migrate = async (): Promise<void> =>
  void (await migrateD1(bindings.DB, D1_MIGRATIONS, config.indexedFields))

export interface Costs {
  roundTrips: number
  statements: number
  rowsRead: number
}

/** The adapters over one database; `costs` has their costs since its last reset. */
export function d1Adapters(clock: Clock, database: D1Database = bindings.DB, language = 'english') {
  const costs: Costs = { roundTrips: 0, statements: 0, rowsRead: 0 }
  const analyzer = createAnalyzer(language)
  const connection = createD1Connection(database, createD1Dialect(analyzer), (cost) => {
    costs.roundTrips++
    costs.statements += cost.statements
    costs.rowsRead += cost.rowsRead
  })
  return {
    analyzer,
    connection,
    costs,
    entries: createSqlEntryStore(connection, analyzer, clock, indexedFieldTypes(config.indexedFields)),
    texts: createSqlEntryTexts(connection, clock, indexedFieldTypes(config.indexedFields)),
    fullText: createD1FullText(connection, analyzer, clock, {
      indexedFields: indexedFieldTypes(config.indexedFields),
    }),
    outbox: createSqlOutbox(connection, clock),
    identity: createSqlIdentityStore(connection, clock),
    directory: createSqlProjectDirectory(connection, clock),
    audit: createSqlAuditLog(connection, clock),
  }
}

export function resetCosts(costs: Costs): void {
  costs.roundTrips = 0
  costs.statements = 0
  costs.rowsRead = 0
}
