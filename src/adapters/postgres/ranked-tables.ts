// Which entries does a query mean, and how much does each weigh? The tables of that statement.
import { type SQL, sql } from 'drizzle-orm'
import type { Expression } from '../../domain/search/query-unit'
import type { ScoredTerm } from '../../domain/search/score'
import type { TextRequest } from '../../ports/full-text'
import { brevity, COMMON, keyOfOthers, splitUnits, type Units, unitKey } from '../sql/search/candidates'
import type { TextCompiler } from './text-query'

export const keyOf = ({ first }: Units): SQL => unitKey(first, sql`held`, sql`weight`, brevity(sql`length`))

/** The index rows of each term, in the order of the terms. */
export const eachTerm = (terms: readonly ScoredTerm[], compiler: TextCompiler, scope: SQL, none: SQL): SQL =>
  terms.length === 0
    ? none
    : sql.join(
        terms.map(
          (term, i) => sql`(SELECT ${sql.raw(String(i))} AS term, f.entry_id AS id, f.length
            FROM entries_fts f WHERE f.words @@ (${scope} && ${compiler.term(term)}) AND ${compiler.among(sql`${term.term}::text`)})`,
        ),
        sql` UNION ALL `,
      )

export const NO_TERM = sql`SELECT 0 AS term, 0::bigint AS id, 0 AS length WHERE false`

/** `counted`: how many rows of `found` each term has, and the highest id among them; null where there is none. */
export const countedOf = (terms: number): SQL => sql`counted AS MATERIALIZED (
    SELECT place AS term, coalesce(of_term.n, 0) AS n, of_term.highest
    FROM generate_series(0, ${terms - 1}::integer) AS place
      LEFT JOIN (SELECT term, count(*) AS n, max(id) AS highest FROM found GROUP BY term) AS of_term ON of_term.term = place
  )`

/**
 * `ranked`: what the expression means, each entry with the weight of the words that it holds and how many terms those are.
 * Candidates are weighed as in D1, by rarity within the scope: `ts_rank()` knows nothing of rarity, and reads the whole tsvector
 * of every entry that it ranks. Weights are whole numbers, so that both databases add them up to the same, as doubles: tens of thousands
 * are added up, and sums of integers would be decimal numbers.
 */
export function rankedTables(
  { query, terms, units, depth }: TextRequest,
  compiler: TextCompiler,
  scope: SQL,
  bestOf: (from: SQL, key: SQL, limit: number) => SQL,
): SQL[] {
  const expression = query.expression as Expression
  const { alone, composed } = splitUnits(query.units, terms)
  // Units that are no single word follow the words, under places of their own.
  const apart = units ? composed : []
  const whole = apart.map(
    (unit, i) => sql` UNION ALL SELECT ${sql.raw(String(terms.length + i))}, f.entry_id, f.length
      FROM entries_fts f WHERE ${compiler.within({ op: 'unit', unit }, scope)}`,
  )
  const places = [...alone, ...apart.map((_, i) => terms.length + i)]
  const isEach = places.length === terms.length + apart.length
  const held = isEach ? sql`count(*)` : sql`count(*) FILTER (WHERE found.term = ANY (${`{${places}}`}::integer[]))`
  const counted = [
    sql`found AS MATERIALIZED (${eachTerm(terms, compiler, scope, NO_TERM)}${sql.join(whole)})`,
    countedOf(terms.length),
    sql`weights AS MATERIALIZED (
      SELECT array_agg(weight ORDER BY term) AS of_terms
      FROM (
        SELECT term, round(1e6 * ln(1 + 10.0::double precision * max(n) OVER () / nullif(n, 0))) AS weight
        FROM (SELECT term, least(n, ${COMMON}) AS n FROM counted) AS up_to_common
      ) AS rare
    )`,
  ]
  const weigh = (where: SQL) => sql`weighed AS MATERIALIZED (
      SELECT id, max(length) AS length, count(*) AS terms, coalesce(sum(weights.of_terms[found.term + 1]), 0) AS weight, ${held} AS held
      FROM found CROSS JOIN weights ${where} GROUP BY id
    )`
  if (units) {
    // Those that hold all units stand before. Where they are enough, and none of the others can be among the best, those are not weighed.
    const all = sql.raw(String(query.units.length))
    const together: Expression = { op: 'and', of: query.units.map((unit) => ({ op: 'unit', unit })) }
    const whole = sql`(
      SELECT f.entry_id AS id, f.length, everything.weight, ${all} AS held
      FROM everything CROSS JOIN entries_fts f WHERE ${compiler.within(together, scope)}
    ) AS f`
    return [
      ...counted,
      sql`everything AS MATERIALIZED (
        SELECT sum(weight) AS weight, min(weight) AS lightest FROM weights CROSS JOIN unnest(weights.of_terms) AS weight
      )`,
      sql`complete AS MATERIALIZED (${bestOf(whole, keyOf(units), depth.candidates)})`,
      sql`missing AS MATERIALIZED (
        SELECT ${sql.raw(String(units.atLeast < query.units.length))} AND (
          count(*) < ${depth.candidates}
          OR min(key) <= (SELECT ${keyOfOthers(units.first, query.units.length, composed)} FROM everything)
        ) AS yes FROM complete
      )`,
      weigh(sql`WHERE (SELECT yes FROM missing)`),
      sql`ranked AS NOT MATERIALIZED (SELECT *, false AS complete FROM weighed WHERE held >= ${units.atLeast})`,
    ]
  }
  const weighed = [...counted, weigh(sql``)]
  if (compiler.isAnyOf(expression, terms))
    return [...weighed, sql`ranked AS NOT MATERIALIZED (SELECT *, terms = ${terms.length} AS complete FROM weighed)`]

  const meant = (part: Expression, complete: boolean) =>
    sql`SELECT f.entry_id, f.length, 0, 0::double precision, true, ${sql.raw(String(complete))}
      FROM entries_fts f WHERE ${compiler.within(part, scope)}`
  return [
    ...weighed,
    sql`ranked AS MATERIALIZED (
      SELECT id, max(length) AS length, sum(weight) AS weight, bool_or(complete) AS complete, 0 AS held
      FROM (
        SELECT id, length, terms, weight, false AS meant, false AS complete FROM weighed
        UNION ALL ${meant(expression, false)}
        ${query.preferred === null ? sql`` : sql`UNION ALL ${meant(query.preferred, true)}`}
      ) AS every
      GROUP BY id HAVING bool_or(meant)
    )`,
  ]
}
