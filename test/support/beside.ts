import type { SQL } from 'drizzle-orm'
import type { Row } from '../../src/adapters/sql/core/connection'
import { bindings, d1Adapters } from './bindings'
import { postgresAdapters } from './bindings-postgres'
import { TestClock } from './scope'

/** Whether the test file plays on PostgreSQL: then it has its binding. */
export const onPostgres = (): boolean => bindings.HYPERDRIVE !== undefined

/** One statement beside the product, on whichever database these tests play. Numbers come back as numbers. */
export async function beside(statement: SQL): Promise<Row[]> {
  if (!onPostgres()) return (await d1Adapters(new TestClock()).connection.batch([statement]))[0] ?? []
  const { connection } = postgresAdapters(new TestClock())
  try {
    const [rows] = await connection.batch([statement])
    return (rows ?? []).map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          name,
          /^(id|version)$/.test(name) && value !== null ? Number(value) : value,
        ]),
      ),
    )
  } finally {
    await connection.close()
  }
}
