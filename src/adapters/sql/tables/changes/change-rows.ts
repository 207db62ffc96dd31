import { type SQL, sql } from 'drizzle-orm'
import type { SqlDialect } from '../../core/dialect'

/**
 * Where do the rows of `changes` of one org begin and end? Numbers are those of all orgs, and so is the index of the primary key: a
 * planner that knows only one org expects every row to be of it, and would walk those of the others. Hence the org stands in the order
 * and in the comparison, as the index has it that begins with the org.
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
