import { type SQL, sql } from 'drizzle-orm'
import { HOUR_MS } from '../../../../domain/time'
import type { Clock } from '../../../../ports/clock'
import type { Outbox, WorkItem } from '../../../../ports/outbox'
import type { Row, SqlConnection } from '../../core/connection'
import { CLAIM_MS } from '../../tables/outbox/claim'
import { imageInUse, markRemovals } from '../../tables/outbox/image-use'

const MAX_ATTEMPTS = 10
const FIRST_DELAY_MS = 30_000
const LONGEST_DELAY_MS = 6 * HOUR_MS

const toItem = (row: Row): WorkItem => ({
  id: Number(row.id),
  org: row.org as string,
  topic: row.topic as WorkItem['topic'],
  key: row.key as string,
  attempts: Number(row.attempts),
  token: row.token as string,
})

/** Outbox rows over any SQL connection. Works across orgs: it is maintenance, and no caller sees its rows. */
export function createSqlOutbox(connection: SqlConnection, clock: Clock): Outbox {
  const { dialect } = connection

  /**
   * The rows of items of one claim that it still holds; a row that was queued again is pending, and nobody's. The token is
   * compared in the row itself, so that PostgreSQL looks at it again when it waited for another claim.
   */
  const held = (items: readonly WorkItem[]): SQL => {
    const ids = dialect.jsonNumbers(sql`${JSON.stringify(items.map(({ id }) => id))}`)
    return sql`state = 'claimed' AND token = ${items[0]?.token ?? null} AND id IN (SELECT value FROM ${ids})`
  }

  return {
    async claim(lanes) {
      const now = clock.now()
      const token = crypto.randomUUID()
      const claimed = lanes.map(
        ({ topic, limit }) => sql`
          UPDATE outbox SET state = 'claimed', attempts = attempts + 1, token = ${token}, due_at = ${now + CLAIM_MS}
          WHERE due_at <= ${now} AND id IN (
            SELECT id FROM outbox WHERE topic = ${topic} AND due_at <= ${now} ORDER BY due_at, id LIMIT ${limit}
          )
          RETURNING id, org, topic, key, attempts, token`,
      )
      const images = lanes.some(({ topic }) => topic === 'image_delete')
      const used = sql`
        DELETE FROM outbox
        WHERE topic = 'image_delete' AND due_at <= ${now} AND ${imageInUse(sql`outbox.org`, sql`outbox.key`)}`
      const rows = await connection.batch([
        ...(images ? [used] : []),
        ...claimed,
        ...(images ? markRemovals(token, now) : []),
      ])
      const start = images ? 1 : 0
      return rows.slice(start, start + lanes.length).flatMap((part) => part.map(toItem))
    },

    async hold(items) {
      if (items.length === 0) return []
      const [rows] = await connection.batch([
        sql`UPDATE outbox SET due_at = ${clock.now() + CLAIM_MS} WHERE ${held(items)} RETURNING id`,
      ])
      const ids = new Set((rows ?? []).map((row) => Number(row.id)))
      return items.filter(({ id }) => ids.has(id))
    },

    async finish(items) {
      if (items.length > 0) await connection.batch([sql`DELETE FROM outbox WHERE ${held(items)}`])
    },

    async retry(items, error) {
      const statements = items.map((item) => {
        const delay = Math.min(FIRST_DELAY_MS * 2 ** (item.attempts - 1), LONGEST_DELAY_MS)
        const state = item.attempts >= MAX_ATTEMPTS ? 'failed' : 'pending'
        return sql`
          UPDATE outbox SET state = ${state}, due_at = ${clock.now() + delay}, last_error = ${error.slice(0, 500)}
          WHERE ${held([item])}`
      })
      if (statements.length > 0) await connection.batch(statements)
    },

    async queueUnused(objects) {
      if (objects.length === 0) return 0
      const json = JSON.stringify(objects.map(({ org, hash }) => [org, hash]))
      const statement = sql`
        INSERT INTO outbox (org, topic, key, created_at, due_at)
        SELECT o.org, 'image_delete', o.hash, ${clock.now()}, 0
        FROM ${dialect.jsonTable(sql`${json}`, { org: 'text', hash: 'text' })} o
        WHERE NOT ${imageInUse(sql`o.org`, sql`o.hash`)}
        ON CONFLICT (org, topic, key) DO NOTHING
        RETURNING id`
      const [rows] = await connection.batch([statement], 'all')
      return rows?.length ?? 0
    },
  }
}
