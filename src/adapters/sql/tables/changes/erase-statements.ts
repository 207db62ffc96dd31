import { type SQL, sql } from 'drizzle-orm'
import type { Caller } from '../../../../domain/identity/scope'
import type { SqlDialect } from '../../core/dialect'
import { changesOf, OLDEST_FIRST } from './change-rows'

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
