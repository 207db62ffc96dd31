import { type SQL, sql } from 'drizzle-orm'
import type { Quotas } from '../../../../domain/quota'
import { HOUR_MS } from '../../../../domain/time'
import { BACKUP_LATE_MS, BACKUP_STEP, FIRST_BACKUP_FAILURES } from '../../../../domain/transfer/backup-age'
import type { Clock } from '../../../../ports/clock'
import type { Notice, Notices } from '../../../../ports/notices'
import { Batch } from '../../core/batch'
import type { SqlConnection } from '../../core/connection'
import { each, numOrNull, oneOf, str } from '../../core/rows'
import { expired } from '../../core/visibility'
import { nearQuota } from '../../tables/changes/key-quota'

const EVENTS = ['review.waiting', 'work.failed', 'quota.entries', 'quota.bytes', 'quota.key', 'backup.late'] as const
const eventOf = oneOf(EVENTS)

/** The part of a quota from which it is reported. */
const NEARLY_FULL = 0.8

/**
 * Creates the finder of conditions over any SQL connection. The organization '' stands for the deployment.
 *
 * @param hasBackups whether a bucket for backups is bound
 */
export function createSqlNotices(
  connection: SqlConnection,
  quotas: Quotas,
  clock: Clock,
  hasBackups: boolean,
): Notices {
  const { dialect } = connection

  function conditions(): SQL {
    const quota = (event: string, limit: number | null, value: SQL): SQL[] =>
      limit === null
        ? []
        : [
            sql`SELECT u.org, ${event} AS event, '' AS key_id, ${value} AS value, ${limit} AS quota FROM org_usage u
              GROUP BY u.org HAVING ${value} >= ${Math.ceil(limit * NEARLY_FULL)}`,
          ]
    const items = sql`coalesce(sum(CASE WHEN u.part = 'entries' THEN u.items ELSE 0 END), 0)`
    const parts = [
      // The first part sets the types of the columns on PostgreSQL.
      sql`SELECT k.org, 'quota.key' AS event, k.id AS key_id, u.entries AS value, k.max_entries AS quota ${nearQuota(clock.now())}`,
      // Nested, because D1 refuses a UNION of more than five.
      sql`SELECT waits.org, waits.event, waits.key_id, waits.value, waits.quota FROM (
        SELECT e.org, 'review.waiting' AS event, '' AS key_id, count(*) AS value, CAST(NULL AS bigint) AS quota FROM entries e
          WHERE e.captured = 1 AND NOT ${dialect.falseWhenNull(expired(clock.now()))} GROUP BY e.org
        UNION ALL SELECT o.org, 'work.failed', '', count(*), NULL FROM outbox o WHERE o.state = 'failed' GROUP BY o.org) waits`,
      ...(hasBackups
        ? [
            sql`SELECT '' AS org, 'backup.late' AS event, '' AS key_id,
                CAST((${clock.now()} - s.finished_at) / ${sql.raw(String(HOUR_MS))} AS bigint) AS value,
                ${BACKUP_LATE_MS / HOUR_MS} AS quota FROM schedule s
              WHERE s.step = ${BACKUP_STEP} AND (s.finished_at < ${clock.now() - BACKUP_LATE_MS}
                OR s.finished_at IS NULL AND s.failures >= ${FIRST_BACKUP_FAILURES})`,
          ]
        : []),
      ...quota('quota.entries', quotas.entries, items),
      ...quota('quota.bytes', quotas.bytes, sql`coalesce(sum(u.bytes), 0)`),
    ]
    return sql.join(parts, sql` UNION ALL `)
  }

  return {
    async due(since, limit) {
      const batch = new Batch(
        sql`DELETE FROM sent_notices WHERE NOT EXISTS (
          SELECT 1 FROM (${conditions()}) holds WHERE holds.org = sent_notices.org AND holds.event = sent_notices.event
            AND holds.key_id = sent_notices.key_id)`,
      )
      const due = batch.add(
        sql`SELECT holds.org, holds.event, holds.key_id, holds.value, holds.quota FROM (${conditions()}) holds
          WHERE NOT EXISTS (
            SELECT 1 FROM sent_notices s WHERE s.org = holds.org AND s.event = holds.event AND s.key_id = holds.key_id
              AND s.at > ${since})
          ORDER BY holds.org, holds.event, holds.key_id LIMIT ${limit}`,
        each(
          (row): Notice => ({
            ...{ org: str(row, 'org') || null, event: eventOf(row, 'event') },
            ...(row.key_id === '' ? {} : { key: str(row, 'key_id') }),
            ...{ value: numOrNull(row, 'value'), limit: numOrNull(row, 'quota') },
          }),
        ),
      )
      return (await batch.run(connection, 'all')).of(due)
    },

    async markSent(notices) {
      const rows = JSON.stringify(notices.map(({ org, event, key = '' }) => [org ?? '', event, key]))
      const sent = dialect.jsonTable(sql`${rows}`, { org: 'text', event: 'text', key_id: 'text' })
      await new Batch(
        sql`INSERT INTO sent_notices (org, event, key_id, at) SELECT sent.org, sent.event, sent.key_id, ${clock.now()} FROM ${sent} sent WHERE 1 = 1
          ON CONFLICT (org, event, key_id) DO UPDATE SET at = excluded.at`,
      ).run(connection)
    },
  }
}
