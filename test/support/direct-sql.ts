import type { SQL } from 'drizzle-orm'
import type { Row, SqlConnection } from '../../src/adapters/sql/core/connection'
import { d1Adapters } from './bindings'
import { postgresAdapters } from './bindings-postgres'
import { DATABASE } from './database'
import { TestClock } from './scope'

/** Whether the Vitest project of this file runs on PostgreSQL. */
export const onPostgres = (): boolean => DATABASE === 'postgresql'

/** Runs a function with a direct connection to the database of these tests. */
export async function withSqlConnection<T>(run: (connection: SqlConnection) => Promise<T>): Promise<T> {
  if (!onPostgres()) return run(d1Adapters(new TestClock()).connection)
  const { connection } = postgresAdapters(new TestClock())
  try {
    return await run(connection)
  } finally {
    await connection.close()
  }
}

/** Runs one statement directly on the database. Numbers are returned as numbers. */
export const runSql = (statement: SQL): Promise<Row[]> =>
  withSqlConnection(async (connection) => {
    const [rows = []] = await connection.batch([statement])
    if (!onPostgres()) return [...rows]
    return rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          name,
          /^(id|version)$/.test(name) && value !== null ? Number(value) : value,
        ]),
      ),
    )
  })
