import { type SQL, sql } from 'drizzle-orm'
import type { Caller } from '../../../../domain/identity/scope'
import { jsonText } from '../../../../domain/json/write'
import type { Millis } from '../../../../domain/time'
import type { SqlDialect } from '../../core/dialect'
import { changedSince, OLDEST_FIRST } from './change-rows'

/** Statements that write receipts, in the batch of a write or by themselves. */

/** Name of the precondition that the receipt key of a call is unused. */
export const RECEIPT = 'receipt'
/**
 * Maximum number of entries in a receipt: those whose content the response contains (a summary, and what it replaces).
 */
const EFFECTS = 1_001

type Named = Pick<Caller, 'org' | 'keyId'>

export const ofKey = ({ org, keyId }: Named, key: string): SQL =>
  sql`org = ${org} AND key_id = ${keyId} AND key = ${key}`

/** Returns a precondition that no other call has used the key; a call may write in several batches. */
export const receiptGuard = (caller: Caller, key: string, oldest: number): SQL => sql`
  INSERT INTO guards (holds, precondition) SELECT NOT EXISTS (
    SELECT 1 FROM receipts WHERE ${ofKey(caller, key)} AND at > ${oldest} AND change_id <> ${caller.changeId}
  ), ${RECEIPT}`

/**
 * Returns the receipt of a call, with all that its response is made of; for a call with several batches, it belongs into the first one.
 *
 * @param since of the batch (`runInFrame`)
 */
export function receiptStatement(dialect: SqlDialect, caller: Caller, at: Millis, since: SQL): SQL {
  const { org, keyId, changeId, receipt, action } = caller
  const { values = {}, text = null, mentioned = [] } = receipt?.notes ?? {}
  const named = sql`${dialect.jsonNumbers(sql`${JSON.stringify(mentioned)}`)} mentioned`
  // An entry that the call has read may be erased before it writes; then the receipt stores no content of it.
  const erased =
    mentioned.length === 0
      ? sql`0`
      : sql`CASE WHEN ${dialect.plan.exists(sql`
          SELECT 1 FROM ${named} ${dialect.plan.follow('changes', 'c', sql`c.entry_id = mentioned.value AND c.erased = 1`)}`)}
        OR ${dialect.plan.exists(sql`
          SELECT 1 FROM ${named}
            ${dialect.plan.follow('pending_deletes', 'l', sql`l.entry_id = mentioned.value AND l.erase_history = 1`)}`)}
        THEN 1 ELSE 0 END`
  const unlessErased = (value: string | null): SQL => sql`CASE WHEN ${erased} = 1 THEN NULL ELSE ${value} END`
  const own = sql`
    SELECT c.entry_id, CASE WHEN c.action = 'delete' THEN -c.version ELSE c.version END AS version FROM changes c
    WHERE ${changedSince(dialect, org, since)} ${OLDEST_FIRST} LIMIT ${EFFECTS}`
  const others = sql`
    UNION ALL SELECT value AS entry_id, 0 AS version FROM ${named}`
  const effect = sql`
    SELECT ${dialect.jsonArrays([sql`c.entry_id`, sql`c.version`])}
    FROM (SELECT entry_id, version FROM (${own}) own ${mentioned.length === 0 ? sql`` : others}) c`
  const count = sql`(SELECT count(*) FROM changes c WHERE ${changedSince(dialect, org, since)})`
  const pending = sql`(SELECT count(*) FROM pending_deletes WHERE org = ${org} AND change_id = ${changeId})`
  const output = sql`(SELECT w.batch_output FROM write_context w WHERE w.org = ${org})`
  return sql`
    INSERT INTO receipts (org, key_id, key, tool, digest, change_id, at, effect, changes, notes, batch_output, text, erased)
    VALUES (
      ${org}, ${keyId}, ${receipt?.key}, ${action}, ${receipt?.digest}, ${changeId}, ${at}, (${effect}), ${count} + ${pending},
      ${unlessErased(jsonText(values))}, ${output}, ${unlessErased(text)}, ${erased}
    )
    ON CONFLICT (org, key_id, key) DO UPDATE SET
      tool = excluded.tool, digest = excluded.digest, change_id = excluded.change_id, at = excluded.at,
      effect = excluded.effect, changes = excluded.changes, notes = excluded.notes, batch_output = excluded.batch_output,
      text = excluded.text, answer = NULL, erased = excluded.erased
    WHERE receipts.change_id <> excluded.change_id`
}

export const RECEIPT_COLUMNS = sql.raw(
  'key, tool, digest, change_id, effect, changes, notes, batch_output, text, answer, erased',
)
