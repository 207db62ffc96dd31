import { sql } from 'drizzle-orm'
import type { SqlDialect } from '../sql/core/dialect'

/**
 * The highest ID that an entry ever had, or that an import has reserved. The change log always retains a row of the entry with the highest
 * ID (`forgetChanges`), so that no ID is reused. AUTOINCREMENT is not used, because it writes a row for each entry.
 */
const HIGHEST = sql`max(
  coalesce((SELECT max(id) FROM entries), 0),
  coalesce((SELECT max(entry_id) FROM changes), 0),
  coalesce((SELECT last_id FROM reserved_entry_ids), 0)
)`

/** Query of the highest ID of a database. */
export const highestEntryId = sql`SELECT ${HIGHEST} AS id`

const reserve = (to: ReturnType<typeof sql>) => sql`
  INSERT INTO reserved_entry_ids (only_row, last_id) VALUES (1, max(${HIGHEST}, ${to}))
  ON CONFLICT (only_row) DO UPDATE SET last_id = excluded.last_id`

/** Assigns IDs to entries in SQLite. */
export const entryIds: Pick<SqlDialect, 'entryId' | 'entryIds'> = {
  entryId: (known) => sql`coalesce(${known}, ${HIGHEST} + 1)`,
  entryIds: {
    raise: (to) => [reserve(sql`${to}`)],
    fresh: (place) => sql`(SELECT last_id FROM reserved_entry_ids) + ${place}`,
    pass: (count) => [sql`UPDATE reserved_entry_ids SET last_id = last_id + ${count}`],
  },
}
