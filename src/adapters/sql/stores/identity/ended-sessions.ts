import { sql } from 'drizzle-orm'
import type { Clock } from '../../../../ports/clock'
import type { EndedSessions } from '../../../../ports/ended-sessions'
import { Batch, readOne } from '../../core/batch'
import type { SqlConnection } from '../../core/connection'
import { howMany } from '../../core/rows'

/** Rows of `settings`: this and the session's nonce, with the time up to which the session would have lasted. */
const PREFIX = 'ended session '
/** The name that follows all of them in the order of bytes. */
const BEHIND = 'ended session!'

/** Ended sessions over any SQL connection. Each one that is added removes those that are over. */
export const createSqlEndedSessions = (connection: SqlConnection, clock: Clock): EndedSessions => ({
  async has(nonce) {
    return (await readOne(connection, sql`SELECT 1 AS one FROM settings WHERE name = ${PREFIX + nonce}`, howMany)) > 0
  },

  async add(nonce, until) {
    await new Batch(
      sql`DELETE FROM settings WHERE name > ${PREFIX} AND name < ${BEHIND} AND CAST(value AS bigint) < ${clock.now()}`,
      sql`INSERT INTO settings (name, value) VALUES (${PREFIX + nonce}, ${String(until)}) ON CONFLICT (name) DO NOTHING`,
    ).run(connection)
  },
})
