import { type SQL, sql } from 'drizzle-orm'
import type { Place, VisibilityChange } from '../../../../domain/history/feed'
import type { Row } from '../../core/connection'
import type { SqlDialect } from '../../core/dialect'
import { flag, num, strOrNull } from '../../core/rows'

/**
 * Access to the rows of `changes` of one organization. On D1 the primary key begins with the organization. On PostgreSQL numbers are
 * global: a planner that sees the number only would read the rows of all organizations by the primary key. So the order and the comparison
 * include the organization, as the index does.
 */

/** Returns the rows `c` of an organization; ends before further conditions and the order. */
export const changesOf = (org: string): SQL => sql`changes c WHERE c.org BETWEEN ${org} AND ${org}`
export const NEWEST_FIRST = sql.raw('ORDER BY c.org DESC, c.seq DESC')
export const OLDEST_FIRST = sql.raw('ORDER BY c.org, c.seq')

/** Returns a query of the number of the newest row of an organization. */
export const newestChange = (org: string): SQL => sql`SELECT c.seq FROM ${changesOf(org)} ${NEWEST_FIRST} LIMIT 1`

/** Returns a condition on `c`: of an organization, and after a number; for the order `OLDEST_FIRST`. */
export const changedSince = (dialect: SqlDialect, org: string, seq: SQL): SQL =>
  dialect.plan.beyond([sql`c.org`, sql`${org}`], sql`c.seq`, seq)

/** Columns of a row `c` of `changes` that `toVisibilityChange` reads. */
export const VISIBILITY_COLUMNS = sql.raw(
  'c.entry_id, c.erased, c.thread_id, c.project, c.reader, c.was_thread, c.was_project, c.was_reader',
)

const place = (row: Row, was: 'was_' | ''): Place | null => {
  const reader = strOrNull(row, `${was}reader`)
  return reader === null
    ? null
    : {
        threadId: strOrNull(row, `${was}${was === '' ? 'thread_id' : 'thread'}`),
        project: strOrNull(row, `${was}project`),
        reader,
      }
}

/** Returns who could read the entry of a row of `changes`, before and after. */
export const toVisibilityChange = (row: Row): VisibilityChange => ({
  entryId: num(row, 'entry_id'),
  before: place(row, 'was_'),
  after: place(row, ''),
  erased: flag(row, 'erased'),
})
