import { type SQL, sql } from 'drizzle-orm'
import type { ImportBatch } from '../../../../ports/import-store'
import { changeable } from '../../core/visibility'
import type { Context } from './import-states'

/** Refuses the batch unless what it replaces stands at its version and is the caller's to change, and nothing stands where it adds. */
export function importGuard({ dialect, caller }: Context, { entries, deleted }: ImportBatch): SQL {
  const replaced = [
    ...entries.flatMap(({ id, replaces }) => (replaces === null ? [] : [[id, replaces]])),
    ...deleted.map(({ id, version }) => [id, version]),
  ]
  const added = entries.filter(({ replaces }) => replaces === null).map(({ id }) => id)
  const expected = dialect.jsonTable(sql`${JSON.stringify(replaced)}`, { id: 'integer', version: 'integer' })
  return sql`INSERT INTO guards (holds) SELECT (SELECT count(*) FROM ${expected} expected
      ${dialect.plan.follow('entries', 'e', sql`e.id = expected.id`)}
      WHERE e.version = expected.version AND ${changeable(dialect, caller, 0)}) = ${replaced.length}
    AND NOT EXISTS (SELECT 1 FROM entries e
      WHERE e.id ${dialect.plan.oneOf(sql`SELECT value FROM ${dialect.jsonNumbers(sql`${JSON.stringify(added)}`)} AS added`)})`
}
