import { type SQL, sql } from 'drizzle-orm'
import type { Decode } from '../../core/batch'
import type { Row } from '../../core/connection'
import { countOf } from '../../core/rows'

/** What is counted by name: threads, tags. */
export interface Groups {
  /** Tables, and a query of one row a name. */
  readonly tables: readonly SQL[]
  readonly query: SQL
  readonly order: SQL
}

/** The first names behind those that are skipped, each with how many there are as `names`. */
export const groupsStatement = ({ tables, query, order }: Groups, most: number, skipped = 0): SQL => sql`
  WITH ${sql.join([...tables], sql`, `)}
  SELECT named.*, count(*) OVER () AS names FROM (${query}) AS named ORDER BY ${order} LIMIT ${most} OFFSET ${skipped}`

/** How many names there are in all; none told where all are skipped. */
export const namesOf = countOf('names')

export const toGroups =
  <T>(one: (row: Row) => T): Decode<{ readonly count: number; readonly first: readonly T[] }> =>
  (rows) => ({ count: namesOf(rows), first: rows.map(one) })
