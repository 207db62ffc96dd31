import { type SQL, sql } from 'drizzle-orm'
import type { Caller, Scope } from '../../domain/scope'
import type { SqlDialect } from './dialect'
import { tell } from './telling'
import { circle, writable } from './visibility'

function deletedBefore(dialect: SqlDialect, scope: Scope, ids: readonly number[]): SQL {
  const own = writable(dialect, scope, 'v')
  const wanted = sql`(SELECT value FROM ${dialect.jsonNumbers(sql`${JSON.stringify(ids)}`)})`
  return sql`
    SELECT v.entry_id FROM entry_versions v
    WHERE v.entry_id IN ${wanted} AND v.deleted = 1 AND v.org = ${scope.org} AND ${circle(dialect, scope, 'v')}
      ${own ? sql`AND ${own}` : sql``} AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.id = v.entry_id)`
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
  const touched = sql`EXISTS (
    SELECT 1 FROM ${dialect.jsonTable(sql`receipts.effect`, { id: 'integer' })} done WHERE done.id IN (${gone})
  )`
  const leaving = sql`(SELECT count(*) FROM leaving WHERE org = ${org} AND change_id = ${changeId})`
  const count = sql`(SELECT CAST(count(*) + ${leaving} AS text) FROM (${gone}) erased)`
  return [
    ...(named === null ? [] : [tell(org, count)]),
    sql`
      UPDATE receipts SET erased = 1, answer = NULL, notes = NULL, told = NULL, text = NULL
      WHERE org = ${org} AND effect IS NOT NULL AND ${touched}`,
    sql`
      UPDATE changes SET erased = 1, thread_id = NULL, was_thread = NULL, kind = NULL, was_kind = NULL, agent = NULL
      WHERE org = ${org} AND entry_id IN (${gone})`,
    sql`DELETE FROM entry_versions WHERE org = ${org} AND entry_id IN (${gone})`,
  ]
}
