import { type SQL, sql } from 'drizzle-orm'
import type { Caller } from '../../domain/scope'
import type { SqlDialect } from './dialect'
import { circle, writable } from './visibility'

/**
 * What is left of entries once their rows are gone, and of entries that were deleted before: kept states, the answers of calls
 * that are about them, and what the change log says beside that there was a change. The first statement returns how many
 * entries the batch erases, as `erased`.
 *
 * @param ids that the caller names; those deleted before count where their last state was the caller's to write
 * @param since of the batch, whose deletions are erased too
 */
export function eraseStatements(dialect: SqlDialect, caller: Caller, ids: readonly number[], since: SQL): SQL[] {
  const { org } = caller
  const own = writable(dialect, caller, 'v')
  const mine = sql`v.org = ${org} AND ${circle(dialect, caller, 'v')}${own ? sql` AND ${own}` : sql``}`
  const wanted = sql`(SELECT value FROM ${dialect.jsonNumbers(sql`${JSON.stringify(ids)}`)})`
  const gone = sql`
    SELECT c.entry_id FROM changes c WHERE c.org = ${org} AND c.seq > ${since}
    UNION SELECT v.entry_id FROM entry_versions v WHERE v.entry_id IN ${wanted} AND v.deleted = 1 AND ${mine}
      AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.id = v.entry_id)`
  const touched = sql`EXISTS (
    SELECT 1 FROM ${dialect.jsonTable(sql`receipts.effect`, { id: 'integer' })} done WHERE done.id IN (${gone})
  )`
  return [
    sql`SELECT count(*) AS erased FROM (${gone}) erased`,
    sql`UPDATE receipts SET erased = 1, answer = NULL WHERE org = ${org} AND effect IS NOT NULL AND ${touched}`,
    sql`
      UPDATE changes SET erased = 1, thread_id = NULL, was_thread = NULL, kind = NULL, was_kind = NULL, agent = NULL
      WHERE org = ${org} AND entry_id IN (${gone})`,
    sql`DELETE FROM entry_versions WHERE org = ${org} AND entry_id IN (${gone})`,
  ]
}
