import { type SQL, sql } from 'drizzle-orm'
import type { Caller } from '../../../../domain/identity/scope'
import { scheduler } from '../../../../domain/scheduler'
import type { Millis } from '../../../../domain/time'
import type { UnfinishedDeletes } from '../../../../ports/unfinished-deletes'
import { Batch, runOne } from '../../core/batch'
import type { Row, SqlConnection } from '../../core/connection'
import type { SqlDialect } from '../../core/dialect'
import { firstRow, flag, num, numOrNull, str, strOrNull } from '../../core/rows'
import { LEASE_MS } from '../outbox/outbox-rows'
import { GATHERED_MS, queueForgetting } from '../vectors/index-writer'
import { changesOf, OLDEST_FIRST } from './change-rows'
import { runInFrame } from './publish-changes'

/** Rows of the change log that one transaction blanks. */
const BLANKED = 5_000
/** Retained versions that one transaction removes, and their bytes; the first one is always removed. */
const FORGOTTEN = 250
const FORGOTTEN_BYTES = 4_000_000
/** Links from other entries that one transaction removes. */
const UNLINKED = 2_000

/**
 * Removes a bounded part of the remaining data of entries without rows: links to them, receipts with their content, content in the change
 * log,
 * retained versions, and the state of their sessions or recalls.
 *
 * @param call whose own receipt is retained
 * @param part a condition on `pending_deletes`, which selects the entries
 */
function eraseStatements(dialect: SqlDialect, { org, changeId }: Pick<Caller, 'org' | 'changeId'>, part: SQL): SQL[] {
  const gone = sql`SELECT entry_id FROM pending_deletes WHERE ${part}`
  const ofEntry = sql`c.entry_id = l.entry_id AND ${dialect.plan.filterOnly(sql`${dialect.plan.unordered(sql`c.org`)} = ${org}`)}`
  const changes = sql`FROM (${gone}) l ${dialect.plan.follow('changes', 'c', ofEntry)}`
  const forget = sql`erased = 1, answer = NULL, notes = NULL, batch_output = NULL, text = NULL
    WHERE org = ${org} AND erased = 0 AND change_id <> ${changeId}`
  // Receipts older than the change log list their entries themselves, as do receipts with entries that the call did not change (version 0).
  const oldest = sql`(SELECT c.at FROM ${changesOf(org)} ${OLDEST_FIRST} LIMIT 1)`
  const effects = dialect.jsonTable(sql`receipts.effect`, { id: 'integer' })
  return [
    sql`
      DELETE FROM links WHERE (org, from_id, relation, to_id, origin) IN (
        SELECT l.org, l.from_id, l.relation, l.to_id, l.origin
        FROM (${gone}) g ${dialect.plan.follow('links', 'l', sql`l.to_id = g.entry_id`)} LIMIT ${UNLINKED}
      )`,
    sql`UPDATE receipts SET ${forget} AND change_id IN (SELECT c.change_id ${changes} WHERE c.erased = 0)`,
    sql`
      UPDATE receipts SET ${forget} AND effect IS NOT NULL AND (at <= ${oldest} OR effect LIKE '%0]%')
        AND EXISTS (SELECT 1 FROM ${effects} done WHERE done.id IN (${gone}))`,
    sql`DELETE FROM capture_sessions WHERE org = ${org} AND entry_id IN (${gone})`,
    sql`
      UPDATE ${dialect.plan.tableBy('capture_events', 'capture_events_output_idx')} SET output = NULL
      WHERE org = ${org} AND output IS NOT NULL AND EXISTS (${gone})`,
    sql`
      UPDATE changes SET erased = 1, thread_id = NULL, was_thread = NULL, kind = NULL, was_kind = NULL, agent = NULL
      WHERE org = ${org} AND seq IN (SELECT c.seq ${changes} WHERE c.erased = 0 LIMIT ${BLANKED})`,
    sql`
      DELETE FROM entry_versions WHERE id IN (
        SELECT sized.id FROM (
          SELECT few.id, few.bytes, sum(few.bytes) OVER (ORDER BY few.id) AS up_to_here
          FROM (
            SELECT v.id, v.bytes FROM (${gone}) l ${dialect.plan.follow('entry_versions', 'v', sql`v.entry_id = l.entry_id`)}
            LIMIT ${FORGOTTEN}
          ) few
        ) sized WHERE sized.up_to_here = sized.bytes OR sized.up_to_here <= ${FORGOTTEN_BYTES}
      )`,
  ]
}

/** Returns whether no data remains of an entry of `pending_deletes`. */
export const nothingLeft = (dialect: SqlDialect): SQL => sql`
  NOT ${dialect.plan.exists(sql`SELECT 1 FROM entry_versions v WHERE v.entry_id = pending_deletes.entry_id`)}
  AND NOT ${dialect.plan.exists(sql`SELECT 1 FROM links l WHERE l.to_id = pending_deletes.entry_id`)}
  AND NOT ${dialect.plan.exists(sql`
    SELECT 1 FROM changes c
    WHERE c.entry_id = pending_deletes.entry_id AND c.erased = 0 AND ${dialect.plan.filterOnly(sql`c.org = pending_deletes.org`)}`)}`

/**
 * Deletes thousands of entries, or texts with thousands of vectors, without blocking others for long. The call's own transaction removes a
 * first part and lists the others, which are invisible from then on. They are removed part by part afterwards, before the call returns, or
 * by the outbox if the call died.
 */

/** Entries of one part. Each has some twenty rows and index entries, and D1 merges its search index for each. */
export const PART_ENTRIES = 100
/** Bytes of entries of one part. Their vectors cost far more than the text. */
export const PART_BYTES = 4_000_000

export const ofCall = (org: string, changeId: string): SQL => sql`org = ${org} AND change_id = ${changeId}`

/** The selection of a delete. */
export interface Deletion {
  /** Query of the IDs to delete, as `value`, before the delete. */
  readonly ids: SQL
  /** Removes the entries, or their first part. */
  readonly remove: readonly SQL[]
}

/** A delete in parts: its entries are listed once, so that its conditions are evaluated once. */
interface PendingDeletion extends Deletion {
  /** Lists all entries to delete. */
  readonly name: SQL
  /** Queues the removal of all but the first part; returns a row if there are any. */
  readonly queue: SQL
}

/** Returns a delete of at most one entry, which is removed immediately whatever its size. */
export const soleDeletion = (where: SQL): Deletion => ({
  ids: sql`SELECT id AS value FROM entries WHERE ${where}`,
  remove: [sql`DELETE FROM entries WHERE ${where}`],
})

interface Manner {
  readonly now: Millis
  /** Maximum number of entries to delete, those with the lowest IDs. */
  readonly most: number
  /** For an erasure: a query of IDs, as `id`, whose entries were deleted before. */
  readonly erases?: SQL
}

/** Removes a part (or, for an erasure, as much as one transaction can), and its list items once no data remains. */
const removeStatements = (
  dialect: SqlDialect,
  call: Pick<Caller, 'org' | 'changeId'>,
  part: SQL,
  /** Time of the erasure; null for a delete. */
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
 * Deletes the entries that match a condition: the first part immediately, the others later. Belongs inside a write frame (`runInFrame`).
 *
 * @param where a condition on `entries` that excludes those pending deletion
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
        SELECT org, 'delete', change_id, ${now}, ${now + LEASE_MS} FROM pending_deletes WHERE ${own} LIMIT 1
        RETURNING 1 AS leaving`,
  }
}

/** Converts the remaining part of a delete. */
const toLeft = (row: Row) => ({
  part: num(row, 'part'),
  keyId: str(row, 'key_id'),
  agent: strOrNull(row, 'agent'),
  at: numOrNull(row, 'at'),
  keeps: flag(row, 'retain_versions'),
  erases: flag(row, 'erase_history'),
})
type Left = ReturnType<typeof toLeft>

export function createUnfinishedDeletes(connection: SqlConnection): UnfinishedDeletes {
  const next = (org: string, changeId: string): SQL =>
    sql`SELECT part, key_id, agent, at, retain_versions, erase_history FROM pending_deletes
      WHERE ${ofCall(org, changeId)} ORDER BY part LIMIT 1`

  /** Removes a part. @returns the next part, or the same if data remains of it */
  async function remove(org: string, changeId: string, left: Left): Promise<Left | null> {
    const caller = { org, changeId, keyId: left.keyId, agent: left.agent }
    const part = sql`${ofCall(org, changeId)} AND part = ${left.part}`
    const batch = new Batch(
      ...removeStatements(connection.dialect, caller, part, left.erases ? (left.at ?? 0) : null),
      sql`
        DELETE FROM outbox WHERE org = ${org} AND topic = 'delete' AND key = ${changeId}
          AND NOT EXISTS (SELECT 1 FROM pending_deletes WHERE ${ofCall(org, changeId)})`,
    )
    const following = batch.add(next(org, changeId), firstRow(toLeft))
    const manner = { keeps: left.keeps, ...(left.at === null ? {} : { at: left.at }) }
    return (await runInFrame(connection, caller, manner, () => batch, { org, usesReserve: true })).of(following)
  }

  return {
    async finish(org, changeId) {
      let left = await runOne(connection, next(org, changeId), firstRow(toLeft))
      while (left !== null) {
        await scheduler.yield()
        left = await remove(org, changeId, left)
      }
    },
  }
}
