// Which entries does a query mean, and how much does each weigh? The tables of that statement.

import { type SQL, sql } from 'drizzle-orm'
import type { Expression } from '../../domain/search/query-unit'
import type { ScoredTerm } from '../../domain/search/score'
import { COMMON, COUNTED_ALL, ENOUGH, isSampled, type ManyMatch, SAMPLE } from '../sql/tables/search/candidate-rules'
import { type AnySearch, isForFewWords } from '../sql/tables/search/candidates'
import { tellingWeights } from './telling-words'
import type { TextCompiler } from './text-query'

/** What leads to the candidates of a search. */
export interface Chosen {
  /** Up to `counted`, of `term` and `n`, and what `few` needs. */
  readonly tables: SQL[]
  /** The best as `id`, `held` and `key`. */
  readonly few: SQL
  /** The ids of all entries with a term, as `id`. */
  readonly idsOf: (term: SQL) => SQL
}

/** A term that the index knows by its stem; null for what is looked for as it is written. */
const stemOf = ({ term, by }: ScoredTerm): string | null => (by === 'stem' ? term : null)

const stemsOf = (terms: readonly ScoredTerm[]): string =>
  `{${terms.map(stemOf).map((stem) => (stem === null ? 'NULL' : `"${stem}"`))}}`

/** `terms`: what the index is asked for each of them, by its place; `word` as `stemOf`. */
export const termsOf = (
  terms: readonly ScoredTerm[],
  compiler: TextCompiler,
  scope: SQL,
): SQL => sql`terms AS MATERIALIZED (
    SELECT (given.place - 1)::integer AS term, ${scope} && given.query AS query, given.word
    FROM unnest(ARRAY[${sql.join(terms.map(compiler.term), sql`, `)}]::tsquery[], ${stemsOf(terms)}::text[])
      WITH ORDINALITY AS given (query, word, place)
  )`

/** The index rows of each term, in the order of the terms. */
export const eachTerm = (terms: readonly ScoredTerm[], compiler: TextCompiler, scope: SQL, none: SQL): SQL =>
  terms.length === 0
    ? none
    : sql.join(
        terms.map(
          (term, i) => sql`(SELECT ${sql.raw(String(i))} AS term, f.entry_id AS id, f.length
            FROM entries_fts f WHERE f.words @@ (${scope} && ${compiler.term(term)}) AND ${compiler.among(sql`${stemOf(term)}::text`)})`,
        ),
        sql` UNION ALL `,
      )

export const NO_TERM = sql`SELECT 0 AS term, 0::bigint AS id, 0 AS length WHERE false`

/**
 * In how many entries a term is told to stand, as an aggregate over all of them: SQLite counts no more one by one than a sample
 * (`adapters/sql/tables/search/candidate-rules.ts`).
 */
export const howMany = (id: SQL): SQL => {
  const [all, enough, sample, common] = [COUNTED_ALL, ENOUGH, SAMPLE, COMMON].map((n) => sql.raw(String(n)))
  const sampled = sql`count(*) FILTER (WHERE ${isSampled(id)})`
  return sql`CASE WHEN ${sampled} < ${enough} THEN least(${all}, count(*)) ELSE least(${common}, ${sample} * ${sampled}) END`
}

/** `counted`: in how many rows of `found` each term stands. */
export const countedOf = (terms: number, of: SQL = howMany(sql`id`)): SQL => sql`counted AS MATERIALIZED (
    SELECT place AS term, coalesce(of_term.n, 0) AS n
    FROM generate_series(0, ${terms - 1}::integer) AS place
      LEFT JOIN (SELECT term, ${of} AS n FROM found GROUP BY term) AS of_term ON of_term.term = place
  )`

export const idsFound = (term: SQL): SQL => sql`SELECT id FROM found WHERE found.term = ${term}`

/**
 * `weights`: what each term weighs by its rarity within the scope, in the order of the terms. `ts_rank()` knows nothing of rarity,
 * and reads the whole tsvector of every entry that it ranks. Weights are whole numbers, so that both databases add them up to the
 * same, as doubles: tens of thousands are added up, and sums of integers would be decimal numbers.
 */
export const WEIGHTS: SQL = sql`weights AS MATERIALIZED (
    SELECT array_agg(weight ORDER BY term) AS of_terms
    FROM (
      SELECT term, round(1e6 * ln(1 + 10.0::double precision * max(n) OVER () / nullif(n, 0))) AS weight
      FROM counted
    ) AS rare
  )`

/** How many of these places the rows of an entry in `found` have, which are all of so many or some. */
export const heldOf = (places: readonly number[], all: number): SQL =>
  places.length === all ? sql`count(*)` : sql`count(*) FILTER (WHERE found.term = ANY (${`{${places}}`}::integer[]))`

/**
 * `ranked`: what the expression means, each entry with the weight of the words that it holds, with that of those which follow (`next`), and
 * with how many terms it holds; behind `many`, which says whether candidates are chosen by `few` words.
 *
 * @param admitted what scope and filter ask of an entry `e`; null where nothing but a place is asked
 */
export function rankedTables(
  request: AnySearch,
  compiler: TextCompiler,
  scope: SQL,
  { many, admitted }: { readonly many: ManyMatch; readonly admitted: SQL | null },
): SQL[] {
  const { query, terms } = request
  const expression = query.expression as Expression
  const mayBeFew = isForFewWords(request)
  const weightOf = (weights: string) => sql`weights.${sql.raw(weights)}[found.term + 1]`
  const sumOf = (weights: string) => sql`coalesce(sum(${weightOf(weights)}), 0)`
  const heldBy = (weights: string) => (request.units === undefined ? sql`0` : sql`count(${weightOf(weights)})`)
  const weighed = [
    sql`found AS MATERIALIZED (${eachTerm(terms, compiler, scope, NO_TERM)})`,
    countedOf(terms.length),
    ...(mayBeFew ? tellingWeights(many, admitted) : [WEIGHTS]),
    sql`weighed AS MATERIALIZED (
      SELECT id, max(length) AS length, count(*) AS terms, ${sumOf('of_terms')} AS weight,
        ${mayBeFew ? sumOf('of_next') : sql`0::double precision`} AS next,
        ${heldBy('of_terms')} AS held, ${mayBeFew ? heldBy('of_next') : sql`0`} AS next_held
      FROM found CROSS JOIN weights GROUP BY id
    )`,
  ]
  if (request.units !== undefined || compiler.isAnyOf(expression, terms))
    return [...weighed, sql`ranked AS NOT MATERIALIZED (SELECT *, terms = ${terms.length} AS complete FROM weighed)`]

  const meant = (part: Expression, complete: boolean) =>
    sql`SELECT f.entry_id, f.length, 0, 0::double precision, 0::double precision, true, ${sql.raw(String(complete))}
      FROM entries_fts f WHERE ${compiler.within(part, scope)}`
  return [
    ...weighed,
    sql`ranked AS MATERIALIZED (
      SELECT id, max(length) AS length, sum(weight) AS weight, sum(next) AS next, bool_or(complete) AS complete,
        0 AS held, 0 AS next_held
      FROM (
        SELECT id, length, terms, weight, next, false AS meant, false AS complete FROM weighed
        UNION ALL ${meant(expression, false)}
        ${query.preferred === null ? sql`` : sql`UNION ALL ${meant(query.preferred, true)}`}
      ) AS every
      GROUP BY id HAVING bool_or(meant)
    )`,
  ]
}
