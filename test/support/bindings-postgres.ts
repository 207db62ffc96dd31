// The adapters over PostgreSQL as a Worker reaches it, for tests in workerd.

import { createPostgresConnection } from '../../src/adapters/postgres/connection'
import { createPostgresDialect } from '../../src/adapters/postgres/dialect'
import { createPostgresFullText } from '../../src/adapters/postgres/full-text'
import { workerSocketsTo } from '../../src/adapters/postgres/worker-socket'
import { createSqlEntryStore } from '../../src/adapters/sql/stores/entries/entry-store'
import { createSqlAuditLog } from '../../src/adapters/sql/stores/identity/audit-log'
import { createSqlIdentityStore } from '../../src/adapters/sql/stores/identity/identity-store'
import { createSqlProjectDirectory } from '../../src/adapters/sql/stores/identity/project-directory'
import { createSqlOutbox } from '../../src/adapters/sql/stores/maintenance/outbox'
import { createSqlEntryTexts } from '../../src/adapters/sql/stores/texts/entry-texts'
import { indexedFieldTypes } from '../../src/adapters/sqlite/migrations'
import { createAnalyzer } from '../../src/domain/search/analysis'
import type { Clock } from '../../src/ports/clock'
import { bindings, type Costs, config } from './bindings'

const connectionString = (): string => (bindings.HYPERDRIVE as Pick<Hyperdrive, 'connectionString'>).connectionString

/** The adapters over the migrated database of this run; `costs` has their costs since its last reset. */
export function postgresAdapters(clock: Clock, language = 'english', schema = 'public') {
  const costs: Costs = { roundTrips: 0, statements: 0, rowsRead: 0 }
  const analyzer = createAnalyzer(language)
  const connection = createPostgresConnection(
    { connectionString: connectionString(), schema, stream: workerSocketsTo(connectionString()) },
    createPostgresDialect(analyzer),
    ({ statements }) => {
      costs.roundTrips++
      costs.statements += statements
    },
  )
  return {
    analyzer,
    connection,
    costs,
    entries: createSqlEntryStore(connection, analyzer, clock, indexedFieldTypes(config.indexedFields)),
    texts: createSqlEntryTexts(connection, clock, indexedFieldTypes(config.indexedFields)),
    fullText: createPostgresFullText(connection, analyzer, clock),
    outbox: createSqlOutbox(connection, clock),
    identity: createSqlIdentityStore(connection, clock),
    directory: createSqlProjectDirectory(connection, clock),
    audit: createSqlAuditLog(connection, clock),
  }
}
