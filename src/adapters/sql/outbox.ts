import { sql } from 'drizzle-orm'
import type { Clock } from '../../ports/clock'
import type { Outbox, WorkItem } from '../../ports/outbox'
import type { Row, SqlConnection } from './connection'

const MAX_ATTEMPTS = 10
/** A claim that is older than this belongs to a worker that died. */
const CLAIM_MS = 60_000
const FIRST_DELAY_MS = 30_000
/** Removed vectors that are remembered; an index farther behind keeps a few that searches drop. */
const REMOVALS = 50_000
const LONGEST_DELAY_MS = 6 * 3_600_000

const toItem = (row: Row): WorkItem => ({
  id: Number(row.id),
  org: row.org as string,
  topic: row.topic as WorkItem['topic'],
  key: row.key as string,
  attempts: Number(row.attempts),
})

/** Outbox rows over any SQL connection. Works across orgs: it is maintenance, and no caller sees its rows. */
export function createSqlOutbox(connection: SqlConnection, clock: Clock): Outbox {
  const { dialect } = connection
  const idList = (items: readonly WorkItem[]) =>
    sql`(SELECT value FROM ${dialect.jsonNumbers(sql`${JSON.stringify(items.map(({ id }) => id))}`)})`
  const inUse = sql`EXISTS (SELECT 1 FROM image_uses u WHERE u.org = outbox.org AND u.hash = outbox.key)`

  return {
    async claim(limit) {
      const now = clock.now()
      const [, claimed] = await connection.batch([
        sql`DELETE FROM outbox WHERE topic = 'image_delete' AND due_at <= ${now} AND ${inUse}`,
        sql`UPDATE outbox SET state = 'claimed', attempts = attempts + 1, due_at = ${now + CLAIM_MS} WHERE due_at <= ${now} AND id IN (SELECT id FROM outbox WHERE due_at <= ${now} ORDER BY due_at, id LIMIT ${limit}) RETURNING id, org, topic, key, attempts`,
      ])
      return (claimed ?? []).map(toItem)
    },

    async finish(items) {
      if (items.length > 0)
        await connection.batch([sql`DELETE FROM outbox WHERE state = 'claimed' AND id IN ${idList(items)}`])
    },

    async retry(item, error) {
      const delay = Math.min(FIRST_DELAY_MS * 2 ** (item.attempts - 1), LONGEST_DELAY_MS)
      const state = item.attempts >= MAX_ATTEMPTS ? 'failed' : 'pending'
      await connection.batch([
        sql`UPDATE outbox SET state = ${state}, due_at = ${clock.now() + delay}, last_error = ${error.slice(0, 500)} WHERE id = ${item.id}`,
      ])
    },

    async queueUnused(objects) {
      if (objects.length === 0) return 0
      const json = JSON.stringify(objects.map(({ org, hash }) => [org, hash]))
      const statement = sql`INSERT INTO outbox (org, topic, key, created_at, due_at) SELECT o.org, 'image_delete', o.hash, ${clock.now()}, 0 FROM ${dialect.jsonTable(sql`${json}`, { org: 'text', hash: 'text' })} o WHERE NOT EXISTS (SELECT 1 FROM image_uses u WHERE u.org = o.org AND u.hash = o.hash) ON CONFLICT (org, topic, key) DO NOTHING RETURNING id`
      const [rows] = await connection.batch([statement], 'all')
      return rows?.length ?? 0
    },

    async sweep(changesBefore) {
      const statements = [
        sql`DELETE FROM entries WHERE id IN (SELECT id FROM entries WHERE expires_at IS NOT NULL AND expires_at <= ${clock.now()} LIMIT 1000) RETURNING id`,
        sql`DELETE FROM vector_removals WHERE id <= (SELECT max(id) FROM vector_removals) - ${REMOVALS}`,
        sql`DELETE FROM changes WHERE at < ${changesBefore} AND seq < (SELECT max(seq) FROM changes)`,
      ]
      const [expired] = await connection.batch(statements, 'all')
      return expired?.length ?? 0
    },
  }
}
