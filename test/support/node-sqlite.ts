import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SQL } from 'drizzle-orm'
import type { SqlConnection } from '../../src/adapters/sql/core/connection'
import { createSqlEntryStore } from '../../src/adapters/sql/stores/entries/entry-store'
import { createSqlAuditLog } from '../../src/adapters/sql/stores/identity/audit-log'
import { createSqlIdentityStore } from '../../src/adapters/sql/stores/identity/identity-store'
import { createSqlProjectDirectory } from '../../src/adapters/sql/stores/identity/project-directory'
import { createSqlOutbox } from '../../src/adapters/sql/stores/maintenance/outbox'
import { createSqlEntryTexts } from '../../src/adapters/sql/stores/texts/entry-texts'
import { createD1Dialect } from '../../src/adapters/sqlite/dialect'
import { createD1FullText } from '../../src/adapters/sqlite/full-text'
import { createAnalyzer } from '../../src/domain/search/analysis'
import { ROOT } from './build'
import { createNodeSqliteConnection } from './node-sqlite-connection'
import { TestClock } from './scope'

const folder = join(ROOT, 'migrations', 'd1')
const MIGRATIONS = readdirSync(folder)
  .filter((name) => name.endsWith('.sql'))
  .sort()
  .map((name) => ({ name, sql: readFileSync(join(folder, name), 'utf8') }))

/** A SQLite database in this process, in memory or in a file, without a Worker. */
export function openNodeSqlite(path = ':memory:') {
  const analyzer = createAnalyzer('english')
  const connection = createNodeSqliteConnection(path, createD1Dialect(analyzer))
  connection.migrate(MIGRATIONS)
  return { analyzer, connection }
}

/** The adapters over it; `costs` has their costs since its last reset. */
export function nodeSqliteAdapters({ analyzer, connection: bare }: ReturnType<typeof openNodeSqlite>) {
  const clock = new TestClock()
  const costs = { roundTrips: 0, statements: 0, rowsRead: 0 }
  const counted = (statements: readonly SQL[]) => {
    costs.roundTrips++
    costs.statements += statements.length
    return statements
  }
  const connection: SqlConnection = {
    ...bare,
    batch: (statements, lock) => bare.batch(counted(statements), lock),
    read: (statements) => bare.read(counted(statements)),
  }
  return {
    ...{ clock, analyzer, connection, costs },
    entries: createSqlEntryStore(connection, analyzer, clock, new Map()),
    texts: createSqlEntryTexts(connection, clock, new Map()),
    fullText: createD1FullText(connection, analyzer, clock, { indexedFields: new Map() }),
    outbox: createSqlOutbox(connection, clock),
    identity: createSqlIdentityStore(connection, clock),
    directory: createSqlProjectDirectory(connection, clock),
    audit: createSqlAuditLog(connection, clock),
  }
}
