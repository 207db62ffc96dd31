import { type SQL, sql } from 'drizzle-orm'
import type { CapturedAt } from '../../../../domain/entry/selection'
import { MOST_DELETED } from '../../../../domain/identity/audit'
import type { Caller } from '../../../../domain/identity/scope'
import type { Millis } from '../../../../domain/time'
import type { SqlDialect } from '../../core/dialect'
import { changeable } from '../../core/visibility'
import { auditDeleteStatement } from './audit-statements'
import { pendingDeletion } from './pending-deletion'

/** Statements on captured entries that a review drops, or replaces with a memory (capture contract §5). */
interface Context {
  readonly dialect: SqlDialect
  readonly scope: Caller
  /** Milliseconds since 1970. */
  readonly now: Millis
}

/**
 * Returns preconditions that all of them exist, are captured, have the given versions, and may be changed by the caller.
 */
export function capturedGuards({ dialect, scope, now }: Context, captured: readonly CapturedAt[]): SQL[] {
  if (captured.length === 0) return []
  const wanted = dialect.jsonTable(sql`${JSON.stringify(captured)}`, { id: 'integer', version: 'integer' })
  return [
    sql`INSERT INTO guards (holds) SELECT (
      SELECT count(*) FROM ${wanted} wanted ${dialect.plan.follow('entries', 'e', sql`e.id = wanted.id`)}
      WHERE e.captured = 1 AND wanted.version IN (0, e.version) AND ${changeable(dialect, scope, now)}
    ) = ${captured.length}`,
  ]
}

/** Deletes them in the batch that stores their replacement; all but a first part are removed after it. */
export function replaceStatements({ dialect, scope, now }: Context, captured: readonly CapturedAt[]): SQL[] {
  if (captured.length === 0) return []
  const ids = sql`${JSON.stringify(captured.map(([id]) => id))}`
  const where = sql`id ${dialect.plan.oneOf(sql`SELECT value FROM ${dialect.jsonNumbers(ids)}`)}`
  const deletion = pendingDeletion(dialect, scope, where, { now, most: MOST_DELETED })
  return [deletion.name, auditDeleteStatement(scope, now, dialect, deletion.ids), ...deletion.remove, deletion.queue]
}
