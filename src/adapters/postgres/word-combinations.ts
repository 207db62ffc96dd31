// Finds candidates by word combinations: entries with the same words of a query have the same weight apart from their length. A frequent
// combination is found by walking the entries from the shortest and newest on until there are enough, a rare one by the GIN index.

import { type SQL, sql } from 'drizzle-orm'
import type { Expression } from '../../domain/search/query'
import type { ScoredTerm } from '../../domain/search/score'
import {
  ADMITS_MANY,
  type AnySearch,
  BREVITIES,
  brevity,
  COMMON,
  COUNTED_ALL,
  demandsAll,
  ENOUGH,
  LENGTH_STEPS,
  SAMPLE,
  splitUnits,
} from '../sql/tables/search/candidates'
import { lengthTerm, sampleTerm } from '../sql/tables/search/scope-terms'
import { scopeTerm } from './full-text-index'
import type { TextCompiler } from './text-query'

/** Maximum number of words of one expression, each of which is a bit of an integer. */
const MOST_BITS = 29

/** Thresholds of a search by combinations. */
export interface CombinationBounds {
  /** Words of a query up to which its combinations are distinguished: three have seven. */
  readonly words: number
  /** Matches of the sample up to which all matches are read. */
  readonly sampled: number
  /** Matches of the sample up to which a combination is read completely. */
  readonly rare: number
}
export const COMBINATION_BOUNDS: CombinationBounds = { words: 3, sampled: 256, rare: 12 }

/** How a query is searched by combinations: for entries with any of its words, or with an expression that demands all of them. */
type Kind = 'any' | 'all'

/** Returns how the query can be searched by combinations; null if it cannot. */
export function combinationsOf({ query, terms, units, rare }: AnySearch, compiler: TextCompiler): Kind | null {
  if (rare !== undefined || terms.length === 0 || terms.length > MOST_BITS) return null
  if (units !== undefined) {
    const { alone, composed } = splitUnits(query.units, terms)
    return composed.length === 0 && alone.length === terms.length ? 'any' : null
  }
  const expression = query.expression as Expression
  if (compiler.isAnyOf(expression, terms))
    return query.preferred === null || terms.length === query.units.length ? 'any' : null
  return query.preferred === null && demandsAll(expression, terms) ? 'all' : null
}

/** The thresholds of the length steps after the first; the index `entries_length_idx` has the same. */
const THRESHOLDS = sql.raw(`'{${LENGTH_STEPS.slice(1).join(',')}}'::integer[]`)
const stepOfLength = (words: SQL): SQL => sql`width_bucket(${words}, ${THRESHOLDS})`
const SHORTNESS = sql.raw(`'{${BREVITIES.join(',')}}'::double precision[]`)

/** Joins `e`, the entry of an ID, if it is admitted. The ID is looked up first, whatever the planner expects of an index of the filter. */
export const admittedEntry = (id: SQL, admitted: SQL): SQL => sql`CROSS JOIN LATERAL (
  SELECT e.id FROM (SELECT * FROM entries e WHERE e.id = ${id} OFFSET 0) AS e WHERE ${admitted} OFFSET 0
) AS e`

interface Asked {
  readonly request: AnySearch
  readonly kind: Kind
  readonly org: string
  readonly compiler: TextCompiler
  /** Condition that every entry of the scope fulfils, as a `tsquery`. */
  readonly scope: SQL
  /** Condition of scope and filter on a listed entry `e`. */
  readonly admitted: SQL
  /** Whether the filter only restricts the scope. */
  readonly isOfPlace: boolean
  readonly bounds: CombinationBounds
}

/** The candidates of a search by combinations. */
interface Candidates {
  /** Tables up to `counted` (`term`, `n`), and those that the queries need. */
  readonly tables: SQL[]
  /** The best entries, as `id`, `held` and `key`. */
  readonly best: SQL
  /** The shortest entries with all words, if the query prefers them. */
  readonly whole: SQL | null
  /** Returns the IDs of the sampled entries with a term, as `id`. */
  readonly idsOf: (term: SQL) => SQL
}

const number = (value: number): SQL => sql.raw(String(value))
const hasBit = (words: string, place: SQL): SQL => sql`(${sql.raw(words)} >> ${place}::integer) & 1 = 1`
const bitSum = (words: string, terms: number, value: (place: number) => SQL): SQL =>
  sql`(${sql.join(
    Array.from({ length: terms }, (_, i) => sql`CASE WHEN ${hasBit(words, number(i))} THEN ${value(i)} ELSE 0 END`),
    sql` + `,
  )})`

/** Returns each combination of the words as its bits and its query; one for an expression that demands all words. */
function classesOf({ request: { terms }, kind, compiler, bounds }: Asked): readonly [bits: number, query: string][] {
  if (kind === 'all' || terms.length > bounds.words) return []
  const texts = terms.map((term) => `(${compiler.termText(term)})`)
  return Array.from({ length: 2 ** terms.length - 1 }, (_, i) => {
    const bits = i + 1
    const isIn = (place: number) => ((bits >> place) & 1) === 1
    // Where the index is not exact, the bits of each row decide.
    const without = compiler.isExact ? texts.filter((_, place) => !isIn(place)).map((text) => `!${text}`) : []
    return [bits, [...texts.filter((_, place) => isIn(place)), ...without].join(' & ')]
  })
}

/** Returns the candidates of a search by combinations, after the tables that choose them. */
export function byCombinations(asked: Asked): Candidates {
  const { request, kind, org, compiler, scope, admitted, isOfPlace, bounds } = asked
  const { query, terms, units, depth } = request
  const most = depth.candidates
  const isWhole = units === undefined && query.preferred !== null
  const every = 2 ** terms.length - 1
  const all = kind === 'all' ? compiler.partsOf(query.expression as Expression, scope) : null
  const exactly = all?.exactly ?? sql`true`
  const stemOf = ({ term, by }: ScoredTerm): SQL => sql`${by === 'stem' ? term : null}::text`
  const bits = sql`(${sql.join(
    terms.map((term, i) => {
      const isHeld = sql`f.words @@ ${compiler.term(term)}`
      const inColumns = compiler.isExact ? sql`` : sql` AND ${compiler.inSearchedColumns(stemOf(term))}`
      return sql`(${isHeld}${inColumns})::integer * ${number(2 ** i)}`
    }),
    sql` + `,
  )})`
  const anyWord = sql`(${sql.join(terms.map(compiler.term), sql` || `)})`
  const sample = sql`${scopeTerm(sampleTerm(org))}::tsquery`
  /** Bits of the entries that match: all, with one more, if the expression demands all words. */
  const matching = all === null ? sql`words > 0` : sql`words = ${number(2 * every + 1)}`
  const bitsOfMatch = all === null ? bits : number(2 * every + 1)
  const found =
    all === null ? bits : sql`(${bits} + (f.words @@ ${all.query} AND ${exactly})::integer * ${number(every + 1)})`
  const weight =
    all === null
      ? (words: string) => bitSum(words, terms.length, (i) => sql`coalesce(weights.of_terms[${number(i + 1)}], 0)`)
      : () => sql`1::double precision`

  // Each combination, or the one of the expression.
  const given: SQL =
    all === null
      ? sql`(SELECT (value ->> 0)::integer AS words, (value ->> 1)::tsquery AS query FROM jsonb_array_elements(${JSON.stringify(classesOf(asked))}::jsonb))`
      : sql`(SELECT ${number(2 * every + 1)} AS words, ${all.query} AS query)`
  const isForClasses = all !== null || terms.length <= bounds.words
  const isAdmitting = isOfPlace
    ? sql``
    : sql` AND (
        SELECT count(*) >= ${number(ADMITS_MANY.admitted)}
        FROM (SELECT id FROM sampled WHERE ${matching} ORDER BY id DESC LIMIT ${number(ADMITS_MANY.asked)}) AS newest
          ${admittedEntry(sql`newest.id`, admitted)}
      )`
  /** Number of sampled entries that the index finds for a combination. */
  const readByIndex =
    all === null
      ? sql`of_step.n`
      : sql`(SELECT coalesce(sum(g.n), 0) FROM groups g WHERE g.step = step.place - 1 AND g.words & ${number(every)} = ${number(every)})`
  const tables = [
    sql`sampled AS MATERIALIZED (
      SELECT id, words, ${stepOfLength(sql`length`)} AS step
      FROM (
        SELECT f.entry_id AS id, f.length, ${found} AS words FROM entries_fts f
        WHERE f.words @@ (${scope} && ${sample} && ${anyWord}) OFFSET 0
      ) AS f WHERE words > 0
    )`,
    sql`groups AS MATERIALIZED (SELECT words, step, count(*)::double precision AS n FROM sampled GROUP BY words, step)`,
    sql`counted AS MATERIALIZED (
      SELECT given.term, CASE
        WHEN of_sample.n >= ${number(ENOUGH)} THEN least(${number(COMMON)}, ${number(SAMPLE)} * of_sample.n)::bigint
        ELSE (SELECT count(*) FROM (
          SELECT 1 FROM entries_fts f WHERE f.words @@ given.query AND ${compiler.inSearchedColumns(sql`given.word`)}
          LIMIT ${number(COUNTED_ALL)}) AS few)
        END AS n
      FROM (${sql.join(
        terms.map(
          (term, i) =>
            sql`SELECT ${number(i)} AS term, ${scope} && ${compiler.term(term)} AS query, ${stemOf(term)} AS word`,
        ),
        sql` UNION ALL `,
      )}) AS given
        CROSS JOIN LATERAL (SELECT coalesce(sum(n), 0) AS n FROM groups WHERE ${hasBit('groups.words', sql`given.term`)}) AS of_sample
    )`,
    sql`weights AS MATERIALIZED (
      SELECT array_agg(weight ORDER BY term) AS of_terms
      FROM (
        SELECT term, round(1e6 * ln(1 + 10.0::double precision * max(n) OVER () / nullif(n, 0))) AS weight FROM counted
      ) AS rare
    )`,
    // Reading all matches is fast for few, and necessary if the filter admits few of many.
    sql`held AS MATERIALIZED (
      SELECT CASE WHEN ${isForClasses ? sql`(SELECT sum(n) FROM groups) > ${number(bounds.sampled)}` : sql`false`}
        THEN true${isAdmitting} ELSE false END AS many,
        (SELECT coalesce(sum(c.entries), 0) FROM entry_counters c WHERE c.org = ${org})::double precision AS entries
    )`,
    sql`classes AS MATERIALIZED (
      SELECT given.words, given.query, ${weight('given.words')} AS weight, of_sample.n
      FROM held CROSS JOIN weights CROSS JOIN ${given} AS given
        CROSS JOIN LATERAL (SELECT coalesce(sum(n), 0) AS n FROM groups WHERE groups.words = given.words) AS of_sample
      WHERE held.many AND NOT EXISTS (SELECT 1 FROM counted WHERE n = 0 AND ${hasBit('given.words', sql`counted.term`)})
    )`,
    // Combinations with equal keys are read together, newest first.
    sql`steps AS MATERIALIZED (
      SELECT key, shortness, place, array_agg(words) AS words, string_agg('(' || query::text || ')', ' | ')::tsquery AS query,
        ${number(most)} * max(entries) < sum(n) * ${number(SAMPLE)} * sum(reads) * ${number(SAMPLE)} AS dense
      FROM (
        SELECT classes.words, classes.query, classes.weight * step.shortness AS key, step.shortness, step.place - 1 AS place,
          of_step.n, ${readByIndex} AS reads
        FROM classes CROSS JOIN unnest(${SHORTNESS}) WITH ORDINALITY AS step (shortness, place)
          CROSS JOIN LATERAL (
            SELECT coalesce(sum(n), 0) AS n FROM groups WHERE groups.words = classes.words AND groups.step = step.place - 1
          ) AS of_step
        WHERE classes.n > ${number(bounds.rare)}
      ) AS every CROSS JOIN held
      GROUP BY key, shortness, place
    )`,
    sql`read AS MATERIALIZED (
      SELECT f.id, f.words, ${weight('f.words')} * f.shortness AS key, f.shortness
      FROM weights CROSS JOIN (
        SELECT ${all === null ? sql`${scope} && ${anyWord}` : all.query} AS query, NULL::integer AS words FROM held WHERE NOT many
        UNION ALL SELECT ${scope} && query, words FROM classes WHERE n <= ${number(bounds.rare)}
      ) AS wanted CROSS JOIN LATERAL (
        SELECT f.entry_id AS id, ${bitsOfMatch} AS words, ${brevity(sql`f.length`)} AS shortness FROM entries_fts f
        WHERE f.words @@ wanted.query AND ${exactly} OFFSET 0
      ) AS f
      WHERE f.words > 0 AND (wanted.words IS NULL OR f.words = wanted.words)
    )`,
  ]

  /** Returns the best rows of `read` that the filter admits. Rows are looked up in this order, only as many as needed. */
  const bestOfRead = (where: SQL, order: SQL, limit: number): SQL => sql`
    SELECT o.id, o.words, o.key, o.shortness
    FROM (SELECT * FROM read WHERE ${where} ORDER BY ${order} DESC, id DESC) AS o
      ${admittedEntry(sql`o.id`, admitted)}
    ORDER BY o.${order} DESC, o.id DESC LIMIT ${number(limit)}`
  const isOfStep = all === null ? sql`f.words = ANY (steps.words)` : sql`true`
  const lengthTerms = LENGTH_STEPS.map((_, step) => `"${scopeTerm(lengthTerm(org, step))}"`)
  const ofLength = sql`(${`{${lengthTerms}}`}::tsquery[])[steps.place + 1]`
  /** Returns the best rows of `steps` that the filter admits. Each step is read until there are enough. */
  const bestOfSteps = (where: SQL, limit: number): SQL => sql`
    SELECT one.id, one.words, steps.key, steps.shortness
    FROM (SELECT * FROM steps WHERE ${where} ORDER BY key DESC OFFSET 0) AS steps CROSS JOIN LATERAL (
      SELECT * FROM (
        SELECT e.id, f.words FROM entries e CROSS JOIN LATERAL (
          SELECT ${bitsOfMatch} AS words FROM entries_fts f
          WHERE f.entry_id = e.id AND f.words @@ (${scope} && steps.query) AND ${exactly} OFFSET 0
        ) AS f
        WHERE steps.dense AND ${isOfStep} AND e.org BETWEEN ${org} AND ${org}
          AND ${stepOfLength(sql`e.text_words`)} = steps.place AND ${admitted}
        ORDER BY e.org, ${stepOfLength(sql`e.text_words`)}, e.id DESC LIMIT ${number(limit)}
      ) AS walked
      UNION ALL SELECT * FROM (
        SELECT f.id, f.words FROM (
          SELECT f.entry_id AS id, ${bitsOfMatch} AS words FROM entries_fts f
          WHERE NOT steps.dense AND f.words @@ (${scope} && steps.query && ${ofLength}) AND ${exactly}
          ORDER BY f.entry_id DESC
        ) AS f ${admittedEntry(sql`f.id`, admitted)}
        WHERE ${isOfStep} LIMIT ${number(limit)}
      ) AS found
    ) AS one LIMIT ${number(limit)}`

  const held = units === undefined ? sql`0` : bitSum('words', terms.length, () => sql`1`)
  tables.push(sql`chosen AS MATERIALIZED (
    SELECT * FROM (
      SELECT * FROM (${bestOfRead(sql`true`, sql`key`, most)}) AS few UNION ALL SELECT * FROM (${bestOfSteps(sql`true`, most)}) AS many
    ) AS every ORDER BY key DESC, id DESC LIMIT ${number(most)}
  )`)
  const best = sql`SELECT id, ${held} AS held, key FROM chosen`
  const idsOf = (term: SQL) => sql`SELECT id FROM sampled WHERE ${hasBit('sampled.words', term)}`
  if (!isWhole) return { tables, best, whole: null, idsOf }

  // Of those with all words, the best are the shortest. If there were more than the best, some may be missing.
  const isLacking = sql`(SELECT count(*) = ${number(most)} AND count(*) FILTER (WHERE words = ${number(every)}) < ${number(depth.complete)} FROM chosen)`
  const rowsOfAll = sql`words = ${number(every)} AND ${isLacking}`
  const stepsOfAll = sql`${number(every)} = ANY (words) AND ${isLacking}`
  const whole = sql`SELECT id, 0 AS held, shortness AS key FROM (
      SELECT id, shortness FROM chosen WHERE words = ${number(every)} AND NOT ${isLacking}
      UNION ALL SELECT id, shortness FROM (${bestOfRead(rowsOfAll, sql`shortness`, depth.complete)}) AS few
      UNION ALL SELECT id, shortness FROM (${bestOfSteps(stepsOfAll, depth.complete)}) AS many
    ) AS every ORDER BY key DESC, id DESC LIMIT ${number(depth.complete)}`
  return { tables, best, whole, idsOf }
}
