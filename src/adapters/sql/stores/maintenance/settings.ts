import { sql } from 'drizzle-orm'
import type { Settings } from '../../../../ports/settings'
import { Batch, runOne } from '../../core/batch'
import type { SqlConnection } from '../../core/connection'
import { firstRow, strOrNull } from '../../core/rows'

/** Creates the settings over any SQL connection. */
export const createSqlSettings = (connection: SqlConnection): Settings => ({
  async read(name) {
    return runOne(
      connection,
      sql`SELECT value FROM settings WHERE name = ${name}`,
      firstRow((row) => strOrNull(row, 'value')),
    )
  },
  async write(name, value) {
    await new Batch(
      sql`INSERT INTO settings (name, value) VALUES (${name}, ${value}) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    ).run(connection)
  },
})
