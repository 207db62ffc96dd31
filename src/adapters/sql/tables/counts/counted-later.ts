import { type SQL, sql } from 'drizzle-orm'
import type { SqlDialect } from '../../core/dialect'

/** From so many on: of fewer, what it saves is less than a row each, and rows are read for it. */
const WORTH_IT = 10

/** Statements that stand around those that store entries; none where nothing is saved by them. */
interface Around {
  readonly before: readonly SQL[]
  readonly after: readonly SQL[]
}

/**
 * Counts the entries that a batch stores in between once for all, where each row would count for itself.
 *
 * @param stored how many entries; none of them may be changed or deleted in between, since it is not counted yet
 */
export const countedLater = (dialect: SqlDialect, org: string, stored: number): Around =>
  dialect.countsRows && stored >= WORTH_IT
    ? {
        before: [sql`INSERT INTO deferred_counts (org, above_id) SELECT ${org}, coalesce(max(id), 0) FROM entries`],
        after: [sql`DELETE FROM deferred_counts WHERE org = ${org}`],
      }
    : { before: [], after: [] }
