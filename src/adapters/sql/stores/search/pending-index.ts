import { sql } from 'drizzle-orm'
import type { Analyzer } from '../../../../domain/search/analysis'
import type { Clock } from '../../../../ports/clock'
import { PENDING_AT_ONCE, type PendingIndex } from '../../../../ports/retention'
import { readOne } from '../../core/batch'
import type { SqlConnection } from '../../core/connection'
import { each, flag, num, oneOf } from '../../core/rows'
import { visible } from '../../core/visibility'
import { LEASE_MS } from '../../tables/outbox/outbox-rows'
import { createIndexWriter } from '../../tables/vectors/index-writer'

const topicOf = oneOf(['index', 'embed'] as const)

/** Creates the store of pending index writes, which are in the outbox from the commit on that needs them. */
export function createSqlPendingIndex(connection: SqlConnection, analyzer: Analyzer, clock: Clock): PendingIndex {
  const { dialect } = connection
  const writer = createIndexWriter(connection, analyzer)
  return {
    async pending(scope, since) {
      const now = clock.now()
      // A call that queued its own work, or leased it, has this long from then on.
      const abandoned = Math.max(now, since + LEASE_MS - 1)
      return readOne(
        connection,
        sql`SELECT o.topic, e.id, e.bytes,
            CASE WHEN o.state <> 'failed' AND o.due_at <= ${abandoned} THEN 1 ELSE 0 END AS abandoned
          FROM outbox o ${dialect.plan.follow('entries', 'e', sql`e.id = CAST(o.key AS BIGINT)`)}
          WHERE o.org = ${scope.org} AND o.topic IN ('index', 'embed') AND ${visible(dialect, scope, now)}
          LIMIT ${PENDING_AT_ONCE}`,
        each((row) => ({
          topic: topicOf(row, 'topic'),
          id: num(row, 'id'),
          bytes: num(row, 'bytes'),
          abandoned: flag(row, 'abandoned'),
        })),
      )
    },

    writeWords: (org, ids) =>
      writer.complete(
        org,
        ids.map((id) => ({ id, textHash: '', vectors: null })),
      ),
  }
}
