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
/** Kept states that one transaction removes, and their bytes; the first always goes. */
const FORGOTTEN = 250
const FORGOTTEN_BYTES = 4_000_000
/** Links from other entries that one transaction removes. */
const UNLINKED = 2_000

/**
 * Removes a bounded part of what is left of entries once their rows are gone: links that lead to them, the answers of calls that are about
 * them, what the change log says beside that there was a change, kept states, and what was gathered of their sessions or recalled from
 * entries.
 *
 * @param call whose own receipt stays
 * @param part a condition on `pending_deletes`, which names the entries
 */
export function eraseStatements(
  dialect: SqlDialect,
  { org, changeId }: Pick<Caller, 'org' | 'changeId'>,
  part: SQL,
): SQL[] {
  const gone = sql`SELECT entry_id FROM pending_deletes WHERE ${part}`
  const ofEntry = sql`c.entry_id = l.entry_id AND ${dialect.plan.filterOnly(sql`${dialect.plan.unordered(sql`c.org`)} = ${org}`)}`
  const changes = sql`FROM (${gone}) l ${dialect.plan.follow('changes', 'c', ofEntry)}`
  const forget = sql`erased = 1, answer = NULL, notes = NULL, batch_output = NULL, text = NULL
    WHERE org = ${org} AND erased = 0 AND change_id <> ${changeId}`
  // Receipts that are older than the change log, where they are kept longer, know by themselves what they are about, and so do those
  // that tell of entries which their call did not change: these stand there as version 0 (receipts.ts).
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

/** Whether nothing is left of an entry that `pending_deletes` names. */
export const nothingLeft = (dialect: SqlDialect): SQL => sql`
  NOT ${dialect.plan.exists(sql`SELECT 1 FROM entry_versions v WHERE v.entry_id = pending_deletes.entry_id`)}
  AND NOT ${dialect.plan.exists(sql`SELECT 1 FROM links l WHERE l.to_id = pending_deletes.entry_id`)}
  AND NOT ${dialect.plan.exists(sql`
    SELECT 1 FROM changes c
    WHERE c.entry_id = pending_deletes.entry_id AND c.erased = 0 AND ${dialect.plan.filterOnly(sql`c.org = pending_deletes.org`)}`)}`

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
        SELECT org, 'delete', change_id, ${now}, ${now + LEASE_MS} FROM pending_deletes WHERE ${own} LIMIT 1
        RETURNING 1 AS leaving`,
  }
}

/** A part of what a call deletes that has not been removed yet. */
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

  /** @returns the part that follows, which is the same where something is left of it */
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
