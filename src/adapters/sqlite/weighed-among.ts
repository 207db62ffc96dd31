// Of a few entries that are known by their ids, which hold the words of a search, and how much do these weigh?

import { type SQL, sql } from 'drizzle-orm'
import { unitKey } from '../sql/tables/search/candidate-rules'
import { placed } from './best-by-units'

/**
 * `weighed` behind `counts`: of some entries those that hold one of the words, each with what these weigh by how rare they are, and with
 * how many it holds under this name. FTS5 looks up each for each word.
 */
export const weighedAmong = (ids: readonly number[], units: 'terms' | 'held'): SQL[] => [
  sql`rarity AS MATERIALIZED (
    SELECT words, CAST(round(1e6 * ln(1 + 10.0 * max(n) OVER () / n)) AS INTEGER) AS weight
    FROM (SELECT words, json_extract(count, '$[0]') AS n FROM counts) WHERE n > 0
  )`,
  sql`weighed AS MATERIALIZED (
    SELECT led.value AS id, sum(rarity.weight) AS weight, count(*) AS ${sql.raw(units)}
    FROM json_each(${JSON.stringify(ids)}) led CROSS JOIN rarity CROSS JOIN entries_fts
    WHERE entries_fts MATCH rarity.words AND entries_fts.rowid = led.value
    GROUP BY led.value
  )`,
]

/**
 * `best` behind `weighed` of `held`: those that hold enough words, in their places.
 *
 * @param admitted what scope and filter ask of an entry `e`
 */
export const bestOfWeighed = ({ atLeast, admitted, shortness, most }: BestOfWeighed): SQL =>
  placed(
    sql`SELECT weighed.id, weighed.held, ${unitKey(sql`weighed.weight`, shortness)} AS key
      FROM weighed CROSS JOIN entries e ON e.id = weighed.id WHERE weighed.held >= ${atLeast} AND ${admitted}`,
    most,
  )

/** `admitted` behind `weighed` of `terms`: those that hold all of so many. */
export const allOfWeighed = ({ terms, admitted, shortness }: { terms: number; admitted: SQL; shortness: SQL }): SQL =>
  sql`admitted AS NOT MATERIALIZED (
    SELECT e.id, ${shortness} AS shortness
    FROM weighed CROSS JOIN entries e ON e.id = weighed.id WHERE weighed.terms = ${terms} AND ${admitted}
  )`

interface BestOfWeighed {
  readonly atLeast: number
  readonly admitted: SQL
  readonly shortness: SQL
  readonly most: number
}
