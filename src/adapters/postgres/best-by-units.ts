// Which entries hold the most of a query's units, or its rarest words? The tables of that statement.
//
// Those that hold all units are looked for first. Where they are enough, the rows of each word are counted where they stand: gathering
// thousands of them, and putting together what each entry holds, takes longer than finding them.

import { type SQL, sql } from 'drizzle-orm'
import type { Expression } from '../../domain/search/query-unit'
import { brevity, keyOfOthers, unitKey } from '../sql/tables/search/candidate-rules'
import type { AnySearch } from '../sql/tables/search/candidates'
import { splitUnits } from '../sql/tables/search/candidates'
import { type Chosen, heldOf, howMany, termsOf, WEIGHTS } from './ranked-tables'
import type { TextCompiler } from './text-query'

const SHORTNESS = brevity(sql`length`)

/**
 * @param scope what every entry in the scope fulfils, as a `tsquery`
 * @param bestOf the best of some rows of `id`, `held` and `length` by a key, as far as scope and filter admit them
 */
export function bestByUnits(
  { query, terms, depth }: AnySearch,
  compiler: TextCompiler,
  scope: SQL,
  bestOf: (from: SQL, key: SQL, limit: number) => SQL,
): Chosen {
  const count = query.units.length
  const all = sql.raw(String(count))
  const together: Expression = { op: 'and', of: query.units.map((unit) => ({ op: 'unit', unit })) }
  // Asked of rows one by one, lest the planner starts further processes to share one search.
  const rowsOf = (expression: Expression): SQL => sql`confined CROSS JOIN LATERAL (
      SELECT f.entry_id AS id, f.length FROM entries_fts f WHERE ${compiler.within(expression, sql`confined.query`)} OFFSET 0
    ) AS f`
  const whole = sql`(SELECT f.id, f.length, ${all} AS held FROM ${rowsOf(together)}) AS every`
  const holders = sql`FROM entries_fts f WHERE f.words @@ terms.query AND ${compiler.among(sql`terms.word`)}`
  const idsOf = (term: SQL): SQL => sql`
    SELECT held.id FROM terms CROSS JOIN LATERAL (SELECT f.entry_id AS id ${holders} OFFSET 0) AS held WHERE terms.term = ${term}`
  // These all weigh the same, so the shortest are the best.
  const complete = [
    sql`confined AS MATERIALIZED (SELECT ${scope} AS query)`,
    termsOf(terms, compiler, sql`(SELECT confined.query FROM confined)`),
    sql`complete AS MATERIALIZED (${bestOf(whole, SHORTNESS, depth.candidates)})`,
  ]
  const counted = sql`(SELECT ${howMany(sql`f.entry_id`)} ${holders})`
  if (count === 1)
    return {
      tables: [...complete, sql`counted AS MATERIALIZED (SELECT terms.term, ${counted} AS n FROM terms)`],
      few: sql`SELECT id, held, key FROM complete`,
      idsOf,
    }

  const { alone, composed } = splitUnits(query.units, terms)
  // Units that are no single word follow the words, under places of their own.
  const rowsWhere = (wanted: SQL): SQL => sql`
    SELECT terms.term, f.id, f.length FROM terms CROSS JOIN LATERAL (SELECT f.entry_id AS id, f.length ${holders} OFFSET 0) AS f
    WHERE ${wanted}${sql.join(
      composed.map(
        (
          unit,
          i,
        ) => sql` UNION ALL SELECT ${sql.raw(String(terms.length + i))}, f.id, f.length FROM ${rowsOf({ op: 'unit', unit })}
    WHERE ${wanted}`,
      ),
    )}`
  const places = [...alone, ...composed.map((_, i) => terms.length + i)]
  const [isEnough, isMissing] = [sql`(SELECT yes FROM enough)`, sql`(SELECT yes FROM missing)`]
  const leastComplete = unitKey(sql`everything.weight`, sql`(SELECT min(key) FROM complete)`)
  return {
    tables: [
      ...complete,
      sql`enough AS MATERIALIZED (SELECT count(*) >= ${depth.candidates} AS yes FROM complete)`,
      sql`found AS MATERIALIZED (${rowsWhere(sql`NOT ${isEnough}`)})`,
      sql`counted AS MATERIALIZED (
        SELECT terms.term, CASE WHEN ${isEnough} THEN ${counted} ELSE coalesce(of_term.n, 0) END AS n
        FROM terms LEFT JOIN (SELECT term, ${howMany(sql`id`)} AS n FROM found GROUP BY term) AS of_term ON of_term.term = terms.term
      )`,
      WEIGHTS,
      // Who lacks a unit is behind all who hold them, or may be before some of them because of rarer words.
      sql`missing AS MATERIALIZED (
        SELECT NOT ${isEnough} OR (
          SELECT ${leastComplete} <= ${keyOfOthers(composed)}
          FROM (
            SELECT sum(weight) AS weight, min(weight) AS lightest
            FROM weights CROSS JOIN unnest(weights.of_terms) AS weight
          ) AS everything
        ) AS yes
      )`,
      sql`ranked AS MATERIALIZED (
        SELECT id, max(length) AS length, coalesce(sum(weights.of_terms[found.term + 1]), 0) AS weight,
          ${heldOf(places, terms.length + composed.length)} AS held
        FROM (SELECT * FROM found UNION ALL ${rowsWhere(sql`${isEnough} AND ${isMissing}`)}) AS found
          CROSS JOIN weights
        GROUP BY id
      )`,
    ],
    few: sql`(${bestOf(sql`ranked WHERE held > 0`, unitKey(sql`weight`, SHORTNESS), depth.candidates)})
      UNION ALL SELECT id, held, key FROM complete WHERE NOT ${isMissing}`,
    idsOf,
  }
}
