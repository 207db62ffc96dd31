import { type SQL, sql } from 'drizzle-orm'
import type { TextVector } from '../../../../domain/entry/entry'
import type { SqlDialect } from '../../core/dialect'
import { jsonGroups } from '../../core/json-groups'

const VECTOR = { model: 'text', chunk: 'integer', start: 'integer', length: 'integer', data: 'text' } as const

const INTO = sql`
  INSERT INTO entry_vectors (org, entry_id, layer, project, reader, model, chunk, start, length, data)
  SELECT e.org, e.id, CASE WHEN e.listed = 1 THEN e.layer END, coalesce(e.project, ''), e.reader,
    made.model, made.chunk, made.start, made.length, made.data`

/** Adds the vectors of the entry that `row` names (a condition on `e`); one statement as a rule. */
export function insertVectors(dialect: SqlDialect, vectors: readonly TextVector[], row: SQL): SQL[] {
  const rows = vectors.map(({ model, chunk, start, length, data }) => [model, chunk, start, length, data])
  return jsonGroups(rows).map(
    (json) => sql`${INTO}
      FROM ${dialect.jsonTable(sql`${json}`, VECTOR)} made ${dialect.plan.follow('entries', 'e', sql`${row}`)}`,
  )
}

/** Adds vectors of many entries that still have the named versions. A chunk that is stored stays. Few statements. */
export function insertVectorsOf(
  dialect: SqlDialect,
  entries: readonly { readonly id: number; readonly version: number; readonly vectors: readonly TextVector[] }[],
): SQL[] {
  const rows = entries.flatMap(({ id, version, vectors }) =>
    vectors.map(({ model, chunk, start, length, data }) => [model, chunk, start, length, data, id, version]),
  )
  const columns = { ...VECTOR, id: 'integer', version: 'integer' } as const
  return jsonGroups(rows).map(
    (json) => sql`${INTO}
      FROM ${dialect.jsonTable(sql`${json}`, columns)} made
        ${dialect.plan.follow('entries', 'e', sql`e.id = made.id AND e.version = made.version`)}
      WHERE 1 = 1 ON CONFLICT (entry_id, model, chunk) DO NOTHING`,
  )
}
