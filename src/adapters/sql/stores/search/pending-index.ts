import { sql } from 'drizzle-orm'
import type { Pace } from '../../../../domain/pace'
import type { Analyzer } from '../../../../domain/search/analysis'
import type { Clock } from '../../../../ports/clock'
import { PENDING_AT_ONCE, type PendingIndex } from '../../../../ports/pending-index'
import type { SqlConnection } from '../../core/connection'
import { visible } from '../../core/visibility'
import { CLAIM_MS } from '../../tables/outbox/claim'
import { createIndexWriter } from '../../tables/vectors/index-writer'

/** What is still to be written of search indexes stands in the outbox, from the commit on that needs it. */
export function createSqlPendingIndex(
  connection: SqlConnection,
  analyzer: Analyzer,
  clock: Clock,
  pace: Pace,
): PendingIndex {
  const { dialect } = connection
  const writer = createIndexWriter(connection, analyzer, pace)
  return {
    async look(scope, since) {
      const now = clock.now()
      // Whoever queues what it does itself, or claims it, has so long from then on.
      const abandoned = Math.max(now, since + CLAIM_MS - 1)
      const [rows = []] = await connection.read([
        sql`SELECT o.topic, e.id, e.bytes,
            CASE WHEN o.state <> 'failed' AND o.due_at <= ${abandoned} THEN 1 ELSE 0 END AS abandoned
          FROM outbox o ${dialect.follow('entries', 'e', sql`e.id = CAST(o.key AS BIGINT)`)}
          WHERE o.org = ${scope.org} AND o.topic IN ('index', 'embed') AND ${visible(dialect, scope, now)}
          LIMIT ${PENDING_AT_ONCE}`,
      ])
      return rows.map((row) => ({
        topic: row.topic as 'index' | 'embed',
        id: Number(row.id),
        bytes: Number(row.bytes),
        abandoned: Number(row.abandoned) === 1,
      }))
    },

    writeWords: (org, ids) =>
      writer.complete(
        org,
        ids.map((id) => ({ id, textHash: '', vectors: null })),
      ),
  }
}
