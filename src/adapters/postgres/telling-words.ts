// By which words of a query are its candidates chosen, and how much do these weigh?

import { type SQL, sql } from 'drizzle-orm'
import { ADMITS_MANY, isSampled, type ManyMatch, TELLING_WORDS } from '../sql/tables/search/candidate-rules'

/**
 * `weights`: of the terms that candidates are chosen by, and of those that follow where these lead to too few; behind `many`, which says
 * whether those are but a `few` of the terms: where many match and the filter admits many.
 */
export const tellingWeights = (many: ManyMatch, admitted: SQL | null): SQL[] => {
  const numbers = [many.sampled, TELLING_WORDS, ADMITS_MANY.asked, ADMITS_MANY.admitted]
  const [sampled, words, asked, enough] = numbers.map((n) => sql.raw(String(n)))
  const admitsMany =
    admitted === null
      ? sql``
      : sql` AND (
        SELECT count(*) >= ${enough}
        FROM (SELECT DISTINCT id FROM found WHERE ${isSampled(sql`id`)} ORDER BY id DESC LIMIT ${asked}) AS newest
          CROSS JOIN LATERAL (SELECT 1 FROM entries e WHERE e.id = newest.id AND ${admitted} OFFSET 0) AS e
      )`
  return [
    sql`many AS MATERIALIZED (
      SELECT count(DISTINCT id) FILTER (WHERE ${isSampled(sql`id`)}) >= ${sampled}${admitsMany} AS few FROM found
    )`,
    sql`telling AS MATERIALIZED (
      SELECT term, n, CASE WHEN few THEN (row_number() OVER (ORDER BY n, term) - 1) / ${words} ELSE 0 END AS part
      FROM many CROSS JOIN counted WHERE n > 0
    )`,
    sql`weights AS MATERIALIZED (SELECT ${weightsOf(0)} AS of_terms, ${weightsOf(1)} AS of_next)`,
  ]
}

/** As `WEIGHTS`, of the terms of one part, the others without. */
const weightsOf = (part: 0 | 1): SQL => sql`(
    SELECT array_agg(weight ORDER BY counted.term)
    FROM counted LEFT JOIN (
      SELECT term, round(1e6 * ln(1 + 10.0::double precision * max(n) OVER () / n)) AS weight
      FROM telling WHERE part = ${sql.raw(String(part))}
    ) AS of_part ON of_part.term = counted.term
  )`
