// Which entries hold any of a query's terms, the rarest and the most, and which of them all? The tables of that statement.

import { type SQL, sql } from 'drizzle-orm'
import { TRUE } from '../sql/core/compile-filter'
import { MOST_BREVITY, unitKey } from '../sql/tables/search/candidate-rules'
import type { AnySearch } from '../sql/tables/search/candidates'
import { leastOfLeading } from './best-by-units'

interface Wanted {
  readonly request: Pick<AnySearch, 'terms' | 'depth'>
  /** What scope and filter ask of an entry `e`. */
  readonly admitted: SQL
  readonly shortness: SQL
}

/** Tables up to `admitted`, of `id`, `complete`, `key` and `shortness`, and `whole`, those that hold all terms; behind `weighed`. */
export function admittedByTerms({ request: { terms, depth }, admitted, shortness }: Wanted): SQL[] {
  const byWord = sql`
      SELECT e.id, weighed.terms = ${terms.length} AS complete, weighed.weight * ${shortness} AS key, ${shortness} AS shortness
      FROM least CROSS JOIN weighed CROSS JOIN entries e ON e.id = weighed.id
      WHERE ${unitKey(sql`weighed.weight`, MOST_BREVITY)} >= least.key AND ${admitted}`
  return [
    // None is above who holds all of them, so those are all looked up.
    ...leastOfLeading({ among: TRUE, admitted, shortness, most: depth.candidates }),
    sql`admitted AS MATERIALIZED (${byWord})`,
    sql`whole AS NOT MATERIALIZED (SELECT id, shortness FROM admitted WHERE complete)`,
  ]
}

/**
 * `best` behind `admitted`: those with the highest keys, and where wanted the shortest of those that hold all terms (`whole`), which are
 * `complete`.
 */
export const bestOfAdmitted = ({ depth }: Pick<AnySearch, 'depth'>, isWhole: boolean): SQL => {
  const orWhole = sql`UNION ALL SELECT * FROM (SELECT id, 1 FROM whole ORDER BY shortness DESC, id DESC LIMIT ${depth.complete})`
  return sql`best AS (
      SELECT id, max(complete) AS complete FROM (
        SELECT * FROM (SELECT id, 0 AS complete FROM admitted ORDER BY key DESC, id DESC LIMIT ${depth.candidates})
        ${isWhole ? orWhole : sql``}
      ) GROUP BY id
    )`
}
