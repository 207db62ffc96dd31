// What stands in entries that are known by their ids, and which units of a query do long ones hold?

import { type SQL, sql } from 'drizzle-orm'
import type { Scope } from '../../domain/identity/scope'
import type { Analyzer } from '../../domain/search/analysis'
import type { Clock } from '../../ports/clock'
import { type FullText, SCORED_LENGTH } from '../../ports/full-text'
import { Batch } from '../sql/core/batch'
import type { SqlConnection } from '../sql/core/connection'
import { asRows } from '../sql/core/rows'
import { listed } from '../sql/core/visibility'
import { entriesById } from '../sql/tables/entries/read-statements'
import { ALIASES_LENGTH, isLong, toStanding } from '../sql/tables/search/candidates'
import { beginningOf } from '../sql/tables/texts/long-texts'
import { scopeQuery } from './full-text-index'
import { createTextCompiler } from './text-query'

/** Where metadata hold code and the path of a file; and other names, as the JSON of their list. */
export const CODE_COLUMNS = sql`${sql.join(
  [sql`e.metadata_json -> 'codeBlock' -> 'code'`, sql`e.metadata_json -> 'fileContext' -> 'path'`].map(
    (value) =>
      sql`CASE WHEN jsonb_typeof(${value}) = 'string' THEN substr(${value} #>> '{}', 1, ${SCORED_LENGTH}) ELSE '' END`,
  ),
  sql` || chr(10) || `,
)} AS code, CASE WHEN jsonb_typeof(e.metadata_json -> 'aliases') = 'array'
    AND length((e.metadata_json -> 'aliases')::text) <= ${ALIASES_LENGTH}
  THEN (e.metadata_json -> 'aliases')::text END AS aliases`

/** Each long one is asked about by itself, by its row of the index. */
export const createStanding =
  (connection: SqlConnection, analyzer: Analyzer, clock: Clock): FullText['standing'] =>
  async (scope: Scope, { units, columns }, ids) => {
    const { dialect } = connection
    const now = clock.now()
    const compiler = createTextCompiler(analyzer, columns)
    const from = (columns: SQL, where: SQL): SQL =>
      sql`SELECT ${columns} FROM ${entriesById(dialect, ids)} WHERE ${listed(dialect, scope, now)}${where}`
    const held = sql.join(
      units.map(
        (unit, place) => sql`SELECT long.id, ${sql.raw(String(place))} AS place FROM long CROSS JOIN LATERAL (
          SELECT 1 FROM entries_fts f
          WHERE f.entry_id = long.id AND ${compiler.within({ op: 'unit', unit }, scopeQuery(scope, {}))} OFFSET 0
        ) AS found`,
      ),
      sql` UNION ALL `,
    )
    const batch = new Batch()
    const rows = batch.add(
      from(sql`e.id, e.title, ${beginningOf(dialect, SCORED_LENGTH)} AS text, ${CODE_COLUMNS}`, sql``),
      asRows,
    )
    const places =
      units.length === 0
        ? null
        : batch.add(sql`WITH long AS MATERIALIZED (${from(sql`e.id`, sql` AND (${isLong})`)}) ${held}`, asRows)
    const result = await batch.read(connection)
    return toStanding(result.of(rows), places === null ? [] : result.of(places))
  }
