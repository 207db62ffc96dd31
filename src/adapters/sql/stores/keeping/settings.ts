import { sql } from 'drizzle-orm'
import type { Settings } from '../../../../ports/settings'
import type { SqlConnection } from '../../core/connection'

/** Settings over any SQL connection. */
export const createSqlSettings = (connection: SqlConnection): Settings => ({
  async read(name) {
    const [rows] = await connection.batch([sql`SELECT value FROM settings WHERE name = ${name}`])
    return (rows?.[0]?.value as string | undefined) ?? null
  },
  async write(name, value) {
    await connection.batch([
      sql`INSERT INTO settings (name, value) VALUES (${name}, ${value}) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    ])
  },
})
