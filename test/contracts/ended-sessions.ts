import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import type { SqlConnection } from '../../src/adapters/sql/core/connection'
import { createSqlEndedSessions } from '../../src/adapters/sql/stores/identity/directory'
import type { TestClock } from '../support/scope'

/** Behavior of the store of ended sessions on every database. */
export function endedSessionsContract(name: string, make: () => { connection: SqlConnection; clock: TestClock }): void {
  describe(`${name} remembers sessions that were ended`, () => {
    const nonce = () => crypto.randomUUID().replaceAll('-', '')

    it('knows each of them until it would have ended by itself, and no other', async () => {
      const { connection, clock } = make()
      const sessions = createSqlEndedSessions(connection, clock)
      const names = async () => {
        const [rows = []] = await connection.batch([sql`SELECT name FROM settings ORDER BY name`])
        return rows.map(({ name: one }) => String(one))
      }
      const before = (await names()).filter((one) => !one.startsWith('ended session '))
      const [short, long, never] = [nonce(), nonce(), nonce()]
      await Promise.all([sessions.add(short, clock.ms + 1_000), sessions.add(long, clock.ms + 60_000)])
      await sessions.add(short, clock.ms + 1_000)
      const known = () => Promise.all([short, long, never].map((one) => sessions.has(one)))
      expect(await known()).toEqual([true, true, false])
      clock.ms += 1_001
      const last = nonce()
      await sessions.add(last, clock.ms + 60_000)
      expect(await known()).toEqual([false, true, false])
      const after = await names()
      expect(after.filter((one) => !one.startsWith('ended session '))).toEqual(before)
      expect(after).toEqual(expect.arrayContaining([`ended session ${long}`, `ended session ${last}`]))
    })
  })
}
