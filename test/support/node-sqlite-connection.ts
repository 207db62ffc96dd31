// A connection to a SQLite file or an in-memory database, through Node's own module.
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import type { SQL } from 'drizzle-orm'
import { isReading, sharingReads } from '../../src/adapters/sql/core/batch'
import {
  failedPrecondition,
  PreconditionFailed,
  type Row,
  type SqlConnection,
} from '../../src/adapters/sql/core/connection'
import type { SqlDialect } from '../../src/adapters/sql/core/dialect'
import { toQuery } from '../../src/adapters/sqlite/match'
import { type Migration, splitStatements } from '../../src/adapters/sqlite/migrations'
import { limitExceeded, unavailable } from '../../src/domain/errors'

/** How long a statement waits for another program that writes to the file. */
const BUSY_MS = 5_000
/** Maximum number of cached compiled statements; most calls repeat earlier texts. */
const KEPT = 500

/** SQLite's result codes, https://sqlite.org/rescode.html. */
const CODES: ReadonlyMap<number, string> = new Map([
  [5, 'The database is being written to by another program'],
  [8, 'The database cannot be written to'],
  [10, 'The database cannot be read from its disk'],
  [11, 'The database is damaged'],
  [13, 'The disk of the database is full'],
  [26, 'The file is not a database'],
])
const TOO_BIG = 18

const codeOf = (error: object): number => ('errcode' in error ? Number(error.errcode) & 0xff : 0)

/**
 * Converts a SQLite failure to an error for callers; an invalid statement remains a bug. The transaction is rolled back
 * by then.
 */
function translate(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  if (/precondition failed/.test(error.message)) return new PreconditionFailed(failedPrecondition(error.message))
  const code = codeOf(error)
  if (code === TOO_BIG)
    return limitExceeded('An entry of this size does not fit into the database; nothing was changed')
  const what = CODES.get(code)
  return what === undefined ? error : unavailable(`${what}; nothing was changed, try again`, error)
}

const toInput = (value: unknown): SQLInputValue => {
  if (typeof value === 'boolean') return Number(value)
  if (value === undefined || value === null) return null
  if (typeof value === 'string' || typeof value === 'number') return value
  throw new Error(`a value that no statement takes: ${typeof value}`)
}

interface NodeSqliteConnection extends SqlConnection {
  /** Applies migrations, each in its own transaction. */
  migrate(migrations: readonly Migration[]): void
  close(): void
}

/** @param path path of a file, or `:memory:` */
export function createNodeSqliteConnection(path: string, dialect: SqlDialect): NodeSqliteConnection {
  const db = new DatabaseSync(path, { timeout: BUSY_MS })
  db.exec('PRAGMA foreign_keys = ON')
  const compiled = new Map<string, StatementSync>()

  const prepare = (text: string): StatementSync => {
    const statement = compiled.get(text) ?? db.prepare(text)
    if (compiled.size >= KEPT) compiled.clear()
    compiled.set(text, statement)
    return statement
  }

  /** Runs work in a transaction. The work is synchronous, so other work cannot run in between. */
  function transaction<T>(begin: string, work: () => T): T {
    db.exec(begin)
    try {
      const outcome = work()
      db.exec('COMMIT')
      return outcome
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK')
      throw error
    }
  }

  const batch = async (statements: readonly SQL[]): Promise<Row[][]> => {
    const queries = statements.map(toQuery)
    const begin = queries.every(({ sql }) => isReading(sql)) ? 'BEGIN' : 'BEGIN IMMEDIATE'
    try {
      return transaction(begin, () => queries.map(({ sql, params }) => prepare(sql).all(...params.map(toInput))))
    } catch (error) {
      throw translate(error)
    }
  }

  return {
    dialect,
    batch,
    read: sharingReads(batch),
    migrate(migrations) {
      db.exec('CREATE TABLE IF NOT EXISTS schema_migrations (name TEXT PRIMARY KEY)')
      const done = new Set(
        prepare('SELECT name FROM schema_migrations')
          .all()
          .map((row) => row.name),
      )
      for (const { name, sql } of migrations.filter((one) => !done.has(one.name)))
        transaction('BEGIN IMMEDIATE', () => {
          for (const statement of splitStatements(sql)) db.exec(statement)
          prepare('INSERT INTO schema_migrations (name) VALUES (?)').run(name)
        })
    },
    close: () => db.close(),
  }
}
