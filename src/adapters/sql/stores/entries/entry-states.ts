import { sql } from 'drizzle-orm'
import type { EntryStates } from '../../../../ports/entry-state'
import { runOne } from '../../core/batch'
import type { SqlConnection } from '../../core/connection'
import { firstRow, flag, numOrNull } from '../../core/rows'
import { isActive, visibleThen } from '../../core/visibility'

/** Every entry has not expired at this instant. */
const BEFORE_ALL = -1

/** The state of entries that explains misses. One round trip. */
export function createSqlEntryStates(connection: SqlConnection): EntryStates {
  const { dialect } = connection
  return {
    stateOf: (scope, id, model) =>
      runOne(
        connection,
        sql`SELECT e.expires_at,
            CASE WHEN EXISTS (
              SELECT 1 FROM outbox o WHERE o.org = e.org AND o.topic = 'index' AND o.key = ${String(id)}
            ) THEN 0 ELSE 1 END AS has_words,
            CASE WHEN EXISTS (
              SELECT 1 FROM entry_vectors v WHERE v.entry_id = e.id AND v.model = ${model ?? ''}
            ) THEN 1 ELSE 0 END AS has_vectors
          FROM entries e
          WHERE e.id = ${id} AND ${visibleThen(dialect, scope, BEFORE_ALL)} AND ${isActive('e')}`,
        firstRow((row) => ({
          expiresAt: numOrNull(row, 'expires_at'),
          hasWords: flag(row, 'has_words'),
          hasVectors: model === null ? null : flag(row, 'has_vectors'),
        })),
      ),
  }
}
