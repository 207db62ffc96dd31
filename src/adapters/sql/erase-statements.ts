import { type SQL, sql } from 'drizzle-orm'
import type { Caller, Scope } from '../../domain/scope'
import type { SqlDialect } from './dialect'
import { tell } from './telling'
import { circle, writable } from './visibility'

/** By what is kept of them; of those whose deletion kept nothing, or not so long, by the change log, which receipts may outlive too. */
function deletedBefore(dialect: SqlDialect, scope: Scope, ids: readonly number[]): SQL {
  const { org } = scope
  const wanted = sql`(SELECT value FROM ${dialect.jsonNumbers(sql`${JSON.stringify(ids)}`)})`
  const own = (alias: string, side: '' | 'was_' = '') => {
    const writes = writable(dialect, scope, alias, side)
    return sql`${circle(dialect, scope, alias, 'null', side)}${writes ? sql` AND ${writes}` : sql``}`
  }
  const gone = (alias: string) => sql`NOT EXISTS (SELECT 1 FROM entries e WHERE e.id = ${sql.raw(alias)}.entry_id)`
  return sql`
    SELECT v.entry_id FROM entry_versions v
    WHERE v.entry_id IN ${wanted} AND v.deleted = 1 AND v.org = ${org} AND ${own('v')} AND ${gone('v')}
    UNION
    SELECT b.entry_id FROM changes b
    WHERE b.entry_id IN ${wanted} AND b.action = 'delete' AND b.erased = 0 AND b.org = ${org} AND ${own('b', 'was_')} AND ${gone('b')}`
}

/**
 * What is left of entries once their rows are gone, and of entries that were deleted before: kept states, the answers of calls
 * that are about them, and what the change log says beside that there was a change. The first statement tells how many
 * entries the batch erases.
 *
 * @param named who names which ids, beside what the batch deletes; those deleted before count where their last state was the
 *   caller's to write. Then the first statement tells how many the call erases. Null behind the call's own batch
 * @param since of the batch, whose deletions are erased
 */
export function eraseStatements(
  dialect: SqlDialect,
  { org, changeId }: Pick<Caller, 'org' | 'changeId'>,
  named: { readonly scope: Scope; readonly ids: readonly number[] } | null,
  since: SQL,
): SQL[] {
  const deleted = sql`SELECT c.entry_id FROM changes c WHERE c.org = ${org} AND c.seq > ${since}`
  const gone = named === null ? deleted : sql`${deleted} UNION ${deletedBefore(dialect, named.scope, named.ids)}`
  const told = sql`
    effect IS NOT NULL
    AND EXISTS (SELECT 1 FROM ${dialect.jsonTable(sql`receipts.effect`, { id: 'integer' })} done WHERE done.id IN (${gone}))`
  // What a call did beyond what its receipt tells.
  const did = sql`change_id IN (SELECT m.change_id FROM changes m WHERE m.org = ${org} AND m.entry_id IN (${gone}))`
  const leaving = sql`(SELECT count(*) FROM leaving WHERE org = ${org} AND change_id = ${changeId})`
  const count = sql`(SELECT CAST(count(*) + ${leaving} AS text) FROM (${gone}) erased)`
  return [
    ...(named === null ? [] : [tell(org, count)]),
    sql`
      UPDATE receipts SET erased = 1, answer = NULL, notes = NULL, told = NULL, text = NULL
      WHERE org = ${org} AND change_id <> ${changeId} AND (${did} OR ${told})`,
    sql`
      UPDATE changes SET erased = 1, thread_id = NULL, was_thread = NULL, kind = NULL, was_kind = NULL, agent = NULL
      WHERE org = ${org} AND entry_id IN (${gone})`,
    sql`DELETE FROM entry_versions WHERE org = ${org} AND entry_id IN (${gone})`,
  ]
}
