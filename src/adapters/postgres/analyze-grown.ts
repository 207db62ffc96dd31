// What does the planner know of tables that batches fill faster than the server looks after them? Without statistics it expects
// one row wherever it looks, and finds all indexes equally good.

import { sql } from 'drizzle-orm'
import type { EntryStore } from '../../ports/entry-store'
import { Batch, runOne } from '../sql/core/batch'
import type { SqlConnection } from '../sql/core/connection'
import { firstRow, strOrNull } from '../sql/core/rows'

const TABLES = ['entries', 'entries_fts', 'entry_tags', 'entry_vectors', 'thread_counters']
/** Entries stored at once from which on it is worth a look. */
const LARGE = 50

/**
 * Has the tables analysed that have more than doubled since they last were: so often while a store is filled, and never
 * afterwards. The size of a table is known at once, unlike the counts by which autovacuum goes, which may also be off.
 */
async function analyzeGrown(connection: SqlConnection): Promise<void> {
  const grown = await runOne(
    connection,
    sql`SELECT string_agg(quote_ident(relname), ', ') AS grown FROM pg_class
      WHERE relnamespace = current_schema()::regnamespace AND relname = ANY (string_to_array(${TABLES.join(' ')}, ' '))
        AND pg_relation_size(oid) / current_setting('block_size')::integer > 2 * greatest(relpages, 0) + 8`,
    firstRow((row) => strOrNull(row, 'grown')),
  )
  if (grown) await new Batch(sql`ANALYZE ${sql.raw(grown)}`).run(connection)
}

/** A store that takes stock after large batches, when its caller has the answer. */
export const analyzingGrown = (
  store: EntryStore,
  connection: SqlConnection,
  afterwards: (work: Promise<unknown>) => void,
): EntryStore => ({
  ...store,
  save: async (...batch) => {
    const saved = await store.save(...batch)
    if (saved.length >= LARGE) afterwards(analyzeGrown(connection))
    return saved
  },
})
