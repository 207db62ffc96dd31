import { type SQL, sql } from 'drizzle-orm'
import type { Place, VisibilityChange } from '../../../../domain/history/feed'
import type { Row } from '../../core/connection'
import type { SqlDialect } from '../../core/dialect'
import { flag, num, strOrNull } from '../../core/rows'

/**
 * The rows of `changes` of one organization. On D1 their numbers are its own and the primary key begins with it. On PostgreSQL numbers are
 * those of all organizations: a planner that knows only one expects each row to belong to it, and would read those of the others by the
 * primary key. So the organization is in the order and in the comparison, as in the index that begins with it.
 */

/** The rows `c` of an org, newest first; further conditions go between the two. */
export const changesOf = (org: string): SQL => sql`changes c WHERE c.org BETWEEN ${org} AND ${org}`
export const NEWEST_FIRST = sql.raw('ORDER BY c.org DESC, c.seq DESC')
export const OLDEST_FIRST = sql.raw('ORDER BY c.org, c.seq')

/** The number of the newest row of an org, as a query. */
export const newestChange = (org: string): SQL => sql`SELECT c.seq FROM ${changesOf(org)} ${NEWEST_FIRST} LIMIT 1`

/** A condition on `c`: of an org, and behind a number; in the order of `OLDEST_FIRST`. */
export const changedSince = (dialect: SqlDialect, org: string, seq: SQL): SQL =>
  dialect.plan.beyond([sql`c.org`, sql`${org}`], sql`c.seq`, seq)

/** What a row of `changes` called `c` says of places and of who may see them: what `toSight` reads. */
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

/** Who could see the entry of a row of `changes` before and after. */
export const toVisibilityChange = (row: Row): VisibilityChange => ({
  entryId: num(row, 'entry_id'),
  before: place(row, 'was_'),
  after: place(row, ''),
  erased: flag(row, 'erased'),
})
