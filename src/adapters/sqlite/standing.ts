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
import { isLong, toStanding } from '../sql/tables/search/candidates'
import { beginningOf } from '../sql/tables/texts/long-texts'
import { CODE_COLUMNS } from './candidate-columns'
import { createCompiler } from './match'

/** FTS5 looks up where an entry stands among those with a word, so each long one is asked about by itself. */
export const createStanding =
  (connection: SqlConnection, analyzer: Analyzer, clock: Clock): FullText['standing'] =>
  async (scope: Scope, { units, columns }, ids) => {
    const { dialect } = connection
    const now = clock.now()
    const compiler = createCompiler(analyzer, columns)
    const from = (columns: SQL, where: SQL): SQL =>
      sql`SELECT ${columns} FROM ${entriesById(dialect, ids)} WHERE ${listed(dialect, scope, now)}${where}`
    const asked = JSON.stringify(units.map(compiler.unit))
    const batch = new Batch()
    const rows = batch.add(
      from(sql`e.id, e.title, ${beginningOf(dialect, SCORED_LENGTH)} AS text, ${CODE_COLUMNS}`, sql``),
      asRows,
    )
    const held = batch.add(
      sql`SELECT long.id, unit.key AS place
        FROM (${from(sql`e.id`, sql` AND (${isLong})`)}) long CROSS JOIN json_each(${asked}) unit CROSS JOIN entries_fts
        WHERE entries_fts MATCH unit.value AND entries_fts.rowid = long.id`,
      asRows,
    )
    const result = await batch.read(connection)
    return toStanding(result.of(rows), result.of(held))
  }
