import { type SQL, sql } from 'drizzle-orm'
import { HOUR_MS } from '../../../../domain/time'
import type { Clock } from '../../../../ports/clock'
import { type Outbox, WORK_TOPICS, type WorkItem } from '../../../../ports/outbox'
import { Batch, runOne } from '../../core/batch'
import type { Row, SqlConnection } from '../../core/connection'
import { each, howMany, num, numbersOf, oneOf, str } from '../../core/rows'
import { imageInUse, writeTombstones } from '../../tables/outbox/image-use'
import { LEASE_MS } from '../../tables/outbox/outbox-rows'

const MAX_ATTEMPTS = 10
const FIRST_DELAY_MS = 30_000
const LONGEST_DELAY_MS = 6 * HOUR_MS

const topicOf = oneOf(WORK_TOPICS)

const toItem = (row: Row): WorkItem => ({
  id: num(row, 'id'),
  org: str(row, 'org'),
  topic: topicOf(row, 'topic'),
  key: str(row, 'key'),
  attempts: num(row, 'attempts'),
  token: str(row, 'token'),
})

/** Creates the outbox over any SQL connection, for all organizations: no caller sees its rows. */
export function createSqlOutbox(connection: SqlConnection, clock: Clock): Outbox {
  const { dialect } = connection

  /**
   * Matches the rows of these items that the lease still includes. A row that was queued again is pending. The token is compared in the row
   * itself, so that PostgreSQL checks it again after waiting for another lease.
   */
  const held = (items: readonly WorkItem[]): SQL => {
    const ids = dialect.jsonNumbers(sql`${JSON.stringify(items.map(({ id }) => id))}`)
    return sql`state = 'claimed' AND token = ${items[0]?.token ?? null} AND id IN (SELECT value FROM ${ids})`
  }

  return {
    async claim(lanes) {
      const now = clock.now()
      const token = crypto.randomUUID()
      const claim = ({ topic, limit }: (typeof lanes)[number]): SQL => sql`
          UPDATE outbox SET state = 'claimed', attempts = attempts + 1, token = ${token}, due_at = ${now + LEASE_MS}
          WHERE due_at <= ${now} AND id IN (
            SELECT id FROM outbox WHERE topic = ${topic} AND due_at <= ${now} ORDER BY due_at, id LIMIT ${limit}
          )
          RETURNING id, org, topic, key, attempts, token`
      const images = lanes.some(({ topic }) => topic === 'image_delete')
      const used = sql`
        DELETE FROM outbox
        WHERE topic = 'image_delete' AND due_at <= ${now} AND ${imageInUse(sql`outbox.org`, sql`outbox.key`)}`
      const batch = new Batch(...(images ? [used] : []))
      const claimed = lanes.map((lane) => batch.add(claim(lane), each(toItem)))
      if (images) batch.do(writeTombstones(token, now))
      const result = await batch.run(connection)
      return claimed.flatMap((items) => result.of(items))
    },

    async hold(items) {
      if (items.length === 0) return []
      const still = await runOne(
        connection,
        sql`UPDATE outbox SET due_at = ${clock.now() + LEASE_MS} WHERE ${held(items)} RETURNING id`,
        numbersOf('id'),
      )
      const ids = new Set(still)
      return items.filter(({ id }) => ids.has(id))
    },

    async finish(items) {
      if (items.length > 0) await new Batch(sql`DELETE FROM outbox WHERE ${held(items)}`).run(connection)
    },

    async retry(items, error) {
      const statements = items.map((item) => {
        const delay = Math.min(FIRST_DELAY_MS * 2 ** (item.attempts - 1), LONGEST_DELAY_MS)
        const state = item.attempts >= MAX_ATTEMPTS ? 'failed' : 'pending'
        return sql`
          UPDATE outbox SET state = ${state}, due_at = ${clock.now() + delay}, last_error = ${error.slice(0, 500)}
          WHERE ${held([item])}`
      })
      await new Batch(...statements).run(connection)
    },

    async putOff(items, until) {
      await new Batch(
        sql`UPDATE outbox SET state = 'pending', attempts = attempts - 1, due_at = ${until} WHERE ${held(items)}`,
      ).run(connection)
    },

    async missed({ org, topic, key }, error) {
      await new Batch(sql`
        UPDATE outbox SET attempts = attempts + 1, due_at = ${clock.now() + FIRST_DELAY_MS}, last_error = ${error.slice(0, 500)}
        WHERE org = ${org} AND topic = ${topic} AND key = ${key} AND state = 'pending'`).run(connection)
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
      return runOne(connection, statement, howMany, 'all')
    },
  }
}
