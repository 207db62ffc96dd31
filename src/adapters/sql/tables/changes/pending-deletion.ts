import { type SQL, sql } from 'drizzle-orm'
import type { Caller } from '../../../../domain/identity/scope'
import type { Millis } from '../../../../domain/time'
import type { SqlDialect } from '../../core/dialect'
import { CLAIM_MS } from '../outbox/claim'
import { GATHERED_MS, queueForgetting } from '../vectors/forgetting'
import { eraseStatements, nothingLeft } from './erase-statements'

/**
 * How does a call delete thousands of entries, or texts with thousands of vectors, without holding everybody up? Its own transaction
 * removes a first part and notes the others, which nobody sees from then on; they are removed part by part behind it, before the
 * call answers, or by the outbox when the caller died.
 */

/**
 * Entries of one part. Some twenty rows and index entries go with each, and D1 pays for each with some pages of merging its index of words.
 */
export const PART_ENTRIES = 100
/** Bytes of entries of one part: their vectors are a thousand a megabyte, and cost far more than the text. */
export const PART_BYTES = 4_000_000

export const ofCall = (org: string, changeId: string): SQL => sql`org = ${org} AND change_id = ${changeId}`

/** What a call deletes. */
export interface Deletion {
  /** A query of the ids that go, as `value`, before they do. */
  readonly ids: SQL
  /** Removes them, or their first part. */
  readonly remove: readonly SQL[]
}

/** What goes in parts is named once, so that its conditions are looked at once. */
interface PendingDeletion extends Deletion {
  /** Names everything that goes. */
  readonly name: SQL
  /** Leaves all but the first part to be removed behind the commit; returns a row where there are any. */
  readonly queue: SQL
}

/** Deletes one entry at most, which goes at once whatever its size: what names it costs more rows than it saves. */
export const soleDeletion = (where: SQL): Deletion => ({
  ids: sql`SELECT id AS value FROM entries WHERE ${where}`,
  remove: [sql`DELETE FROM entries WHERE ${where}`],
})

interface Manner {
  readonly now: Millis
  /** Entries that go at most, those with the lowest ids. */
  readonly most: number
  /** For good: a query of further ids, as `id`, of entries whose rows are gone already. */
  readonly erases?: SQL
}

/** Removes a part, or of what is erased as much as one transaction takes, and its names where nothing is left of it. */
export const removeStatements = (
  dialect: SqlDialect,
  call: Pick<Caller, 'org' | 'changeId'>,
  part: SQL,
  /** When it is erased; null for a deletion. */
  erasedAt: Millis | null,
): SQL[] => [
  sql`DELETE FROM entries WHERE id ${dialect.plan.oneOf(sql`SELECT entry_id FROM pending_deletes WHERE ${part}`)}`,
  ...(erasedAt === null ? [] : eraseStatements(dialect, call, part)),
  ...(erasedAt === null || dialect.mergeIndex === null
    ? []
    : [queueForgetting(sql`SELECT org FROM pending_deletes WHERE ${part} LIMIT 1`, erasedAt + GATHERED_MS)]),
  sql`DELETE FROM pending_deletes WHERE ${part}${erasedAt === null ? sql`` : sql` AND ${nothingLeft(dialect)}`}`,
]

/**
 * Deletes what fulfils a condition: the first part at once, the others by name. Stands in a batch between the statements of
 * `writing`.
 *
 * @param where a condition on `entries`, which admits nothing that is leaving
 */
export function pendingDeletion(
  dialect: SqlDialect,
  { org, changeId }: Pick<Caller, 'org' | 'changeId'>,
  where: SQL,
  { now, most, erases }: Manner,
): PendingDeletion {
  const part = sql`(row_number() OVER (ORDER BY picked.id) - 1) / ${sql.raw(String(PART_ENTRIES))}
    + (sum(picked.bytes) OVER (ORDER BY picked.id) - picked.bytes) / ${sql.raw(String(PART_BYTES))}`
  const further = erases === undefined ? sql`` : sql` UNION ALL SELECT further.id, 0 FROM (${erases}) further`
  const own = ofCall(org, changeId)
  return {
    name: sql`
      INSERT INTO pending_deletes (entry_id, org, part, change_id, key_id, agent, at, retain_versions, erase_history)
      SELECT sized.id, w.org, sized.part, w.change_id, w.key_id, w.agent, w.at, w.retain_versions, ${erases === undefined ? 0 : 1}
      FROM (
        SELECT picked.id, ${part} AS part
        FROM (SELECT id, bytes FROM entries WHERE ${where}${further} ORDER BY id LIMIT ${most}) picked
      ) sized CROSS JOIN write_context w
      WHERE w.org = ${org}`,
    ids: sql`SELECT entry_id AS value FROM pending_deletes WHERE ${own}`,
    remove: removeStatements(dialect, { org, changeId }, sql`${own} AND part = 0`, erases === undefined ? null : now),
    queue: sql`
        INSERT INTO outbox (org, topic, key, created_at, due_at)
        SELECT org, 'delete', change_id, ${now}, ${now + CLAIM_MS} FROM pending_deletes WHERE ${own} LIMIT 1
        RETURNING 1 AS leaving`,
  }
}
