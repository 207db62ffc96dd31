// Of words that stand in many entries, each entry is met once for three of them: a step through the index is a row, however it is asked.

import { type SQL, sql } from 'drizzle-orm'
import { COUNTED_ALL } from '../sql/tables/search/candidate-rules'

/** Words of a group: of three there are seven classes of entries that hold the same of them. */
const GROUP = 3

/**
 * Tables up to `classed`, of `words`, `weight` and `units`: what an entry is met by, each with what that adds to its weight and how many
 * units it holds by it.
 *
 * @param parts rows of `words`, a MATCH expression, `n`, in how many entries it stands, `weight` and `unit`, 1 where it is a unit
 */
export function wordClasses(parts: SQL): SQL[] {
  const size = sql.raw(String(GROUP))
  const classes = JSON.stringify(Array.from({ length: 2 ** GROUP - 1 }, (_, i) => i + 1))
  const present = sql`(class.value >> (many.at % ${size})) & 1`
  return [
    sql`parts AS MATERIALIZED (${parts})`,
    sql`many AS MATERIALIZED (
      SELECT words, weight, unit, row_number() OVER (ORDER BY n, words) - 1 AS at FROM parts WHERE n >= ${COUNTED_ALL}
    )`,
    sql`classed AS MATERIALIZED (
      SELECT words, weight, unit AS units FROM parts WHERE n < ${COUNTED_ALL}
      UNION ALL
      SELECT '((' || group_concat(words, ') AND (') FILTER (WHERE ${present}) || ')'
          || coalesce(' NOT ((' || group_concat(words, ') OR (') FILTER (WHERE NOT ${present}) || '))', '') || ')',
        sum(weight) FILTER (WHERE ${present}), sum(unit) FILTER (WHERE ${present})
      FROM json_each(${classes}) class CROSS JOIN many
      GROUP BY many.at / ${size}, class.value
      HAVING class.value < 1 << count(*)
    )`,
  ]
}

/** `weighed` of `id` and `weight` behind them, and of how many units each entry holds by them, under this name. */
export const weighed = (units: 'terms' | 'held'): SQL => sql`weighed AS MATERIALIZED (
    SELECT entries_fts.rowid AS id, sum(classed.weight) AS weight, sum(classed.units) AS ${sql.raw(units)}
    FROM classed CROSS JOIN entries_fts
    WHERE entries_fts MATCH classed.words
    GROUP BY entries_fts.rowid
  )`

/** `weighed` of `terms` behind `counts`: what holds a word of the query, by what its words weigh by how rare they are. */
export const WEIGHED_BY_WORDS: readonly SQL[] = [
  ...wordClasses(sql`
    SELECT words, n, 1 AS unit, CAST(round(1e6 * ln(1 + 10.0 * max(n) OVER () / n)) AS INTEGER) AS weight
    FROM (SELECT place, words, json_extract(count, '$[0]') AS n FROM counts) WHERE n > 0`),
  weighed('terms'),
]
