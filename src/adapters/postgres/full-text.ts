// Full-text search on PostgreSQL: candidates by GIN, and their counts.
//
// The planner may have no statistics of these tables, for example when a batch has just filled them. It then expects a word in a handful of
// entries. So the order is explicit: the result of the index is materialized first, combined by grouping and never by joining, and rows are
// looked up one by one from there (LATERAL), best first, until there are enough.

import { type SQL, sql } from 'drizzle-orm'
import type { Scope } from '../../domain/identity/scope'
import type { Analyzer } from '../../domain/search/analysis'
import type { Expression } from '../../domain/search/query'
import type { ScoredTerm } from '../../domain/search/score'
import type { Clock } from '../../ports/clock'
import { type FullText, SCORED_LENGTH } from '../../ports/full-text'
import { Batch } from '../sql/core/batch'
import { compileFilter } from '../sql/core/compile-filter'
import type { SqlConnection } from '../sql/core/connection'
import type { SqlDialect } from '../sql/core/dialect'
import { asRows, inOneValue, rowsOfValue } from '../sql/core/rows'
import { listed, type VisibilityFilter } from '../sql/core/visibility'
import { entriesById } from '../sql/tables/entries/read-statements'
import { contextColumns } from '../sql/tables/memories/work-context'
import {
  ADMITS_MANY,
  ALIASES_LENGTH,
  type AnySearch,
  brevity,
  COMMON,
  COUNTED,
  COUNTED_ALL,
  ENOUGH,
  isForFewWords,
  isLong,
  isOfPlace,
  isSampled,
  keyOfOthers,
  MANY,
  type ManyMatch,
  placeOf,
  RAREST_WORDS,
  SAMPLE,
  searchesBy,
  splitUnits,
  toEntryTexts,
  toSearch,
  unitKey,
} from '../sql/tables/search/candidates'
import { totalsOf } from '../sql/tables/search/scope-terms'
import { previewOf } from '../sql/tables/texts/long-texts'
import { dateWords, scopeQuery } from './full-text-index'
import { createTextCompiler, type TextCompiler } from './text-query'
import { admittedEntry, byCombinations, COMBINATION_BOUNDS, combinationsOf } from './word-combinations'

/**
 * Returns `weights`: those of the terms that choose candidates, and those of the terms used when these find too few. It follows `many`,
 * which states whether candidates are chosen by a `few` of the terms: when many entries match and the filter admits many.
 */
const rarestWeights = (many: ManyMatch, admitted: SQL | null): SQL[] => {
  const numbers = [many.sampled, RAREST_WORDS, ADMITS_MANY.asked, ADMITS_MANY.admitted]
  const [sampled, words, asked, enough] = numbers.map((n) => sql.raw(String(n)))
  const admitsMany =
    admitted === null
      ? sql``
      : sql` AND (
        SELECT count(*) >= ${enough}
        FROM (SELECT DISTINCT id FROM found WHERE ${isSampled(sql`id`)} ORDER BY id DESC LIMIT ${asked}) AS newest
          ${admittedEntry(sql`newest.id`, admitted)}
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

/** Returns `WEIGHTS` for the terms of one part. */
const weightsOf = (part: 0 | 1): SQL => sql`(
    SELECT array_agg(weight ORDER BY counted.term)
    FROM counted LEFT JOIN (
      SELECT term, round(1e6 * ln(1 + 10.0::double precision * max(n) OVER () / n)) AS weight
      FROM telling WHERE part = ${sql.raw(String(part))}
    ) AS of_part ON of_part.term = counted.term
  )`

/** The tables that choose the candidates of a search. */
export interface Chosen {
  /** Tables up to `counted` (`term`, `n`), and those that `few` needs. */
  readonly tables: SQL[]
  /** The best entries, as `id`, `held` and `key`. */
  readonly few: SQL
  /** Returns the IDs of all entries with a term, as `id`. */
  readonly idsOf: (term: SQL) => SQL
}

/** Returns a term that the index has by its stem; null for one that is searched as written. */
const stemOf = ({ term, by }: ScoredTerm): string | null => (by === 'stem' ? term : null)

const stemsOf = (terms: readonly ScoredTerm[]): string =>
  `{${terms.map(stemOf).map((stem) => (stem === null ? 'NULL' : `"${stem}"`))}}`

/** Returns `terms`: the index query of each term, by its position; `word` as in `stemOf`. */
export const termsOf = (
  terms: readonly ScoredTerm[],
  compiler: TextCompiler,
  scope: SQL,
): SQL => sql`terms AS MATERIALIZED (
    SELECT (given.place - 1)::integer AS term, ${scope} && given.query AS query, given.word
    FROM unnest(ARRAY[${sql.join(terms.map(compiler.term), sql`, `)}]::tsquery[], ${stemsOf(terms)}::text[])
      WITH ORDINALITY AS given (query, word, place)
  )`

/** Returns the index rows of each term, in the order of the terms. */
const eachTerm = (terms: readonly ScoredTerm[], compiler: TextCompiler, scope: SQL, none: SQL): SQL =>
  terms.length === 0
    ? none
    : sql.join(
        terms.map(
          (term, i) => sql`(SELECT ${sql.raw(String(i))} AS term, f.entry_id AS id, f.length
            FROM entries_fts f WHERE f.words @@ (${scope} && ${compiler.term(term)}) AND ${compiler.inSearchedColumns(sql`${stemOf(term)}::text`)})`,
        ),
        sql` UNION ALL `,
      )

const NO_TERM = sql`SELECT 0 AS term, 0::bigint AS id, 0 AS length WHERE false`

/**
 * Returns the number of entries with a term, as an aggregate. Large numbers are estimated like the sample that SQLite uses.
 */
export const howMany = (id: SQL): SQL => {
  const [all, enough, sample, common] = [COUNTED_ALL, ENOUGH, SAMPLE, COMMON].map((n) => sql.raw(String(n)))
  const sampled = sql`count(*) FILTER (WHERE ${isSampled(id)})`
  return sql`CASE WHEN ${sampled} < ${enough} THEN least(${all}, count(*)) ELSE least(${common}, ${sample} * ${sampled}) END`
}

/** Returns `counted`: the number of rows of `found` for each term. */
export const countedOf = (terms: number, of: SQL = howMany(sql`id`)): SQL => sql`counted AS MATERIALIZED (
    SELECT place AS term, coalesce(of_term.n, 0) AS n
    FROM generate_series(0, ${terms - 1}::integer) AS place
      LEFT JOIN (SELECT term, ${of} AS n FROM found GROUP BY term) AS of_term ON of_term.term = place
  )`

const idsFound = (term: SQL): SQL => sql`SELECT id FROM found WHERE found.term = ${term}`

/**
 * `weights`: the weight of each term by its rarity in the scope, in the order of the terms. `ts_rank()` ignores rarity and reads the
 * complete tsvector of every ranked entry. Weights are whole numbers stored as doubles: both databases get the same sums, and integer sums
 * would be slow decimals.
 */
const WEIGHTS: SQL = sql`weights AS MATERIALIZED (
    SELECT array_agg(weight ORDER BY term) AS of_terms
    FROM (
      SELECT term, round(1e6 * ln(1 + 10.0::double precision * max(n) OVER () / nullif(n, 0))) AS weight
      FROM counted
    ) AS rare
  )`

/** Returns the number of these terms that the rows of an entry in `found` have: all, or some. */
export const heldOf = (places: readonly number[], all: number): SQL =>
  places.length === all ? sql`count(*)` : sql`count(*) FILTER (WHERE found.term = ANY (${`{${places}}`}::integer[]))`

/**
 * Returns `ranked`: the entries that match the expression, with the weight of their words, the weight of the further words (`next`), and
 * the
 * number of terms. It follows `many`, which states whether candidates are chosen by a `few` words.
 *
 * @param admitted condition of scope and filter on an entry `e`; null if only a project is required
 */
function rankedTables(
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
    ...(mayBeFew ? rarestWeights(many, admitted) : [WEIGHTS]),
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

const SHORTNESS = brevity(sql`length`)

/**
 * Ranks entries by the number of units that they contain.
 *
 * @param scope condition that every entry of the scope fulfils, as a `tsquery`
 * @param bestOf returns the best rows of `id`, `held` and `length` by a key that scope and filter admit
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
  // Row by row, so that the planner does not start parallel workers for one search.
  const rowsOf = (expression: Expression): SQL => sql`confined CROSS JOIN LATERAL (
      SELECT f.entry_id AS id, f.length FROM entries_fts f WHERE ${compiler.within(expression, sql`confined.query`)} OFFSET 0
    ) AS f`
  const whole = sql`(SELECT f.id, f.length, ${all} AS held FROM ${rowsOf(together)}) AS every`
  const holders = sql`FROM entries_fts f WHERE f.words @@ terms.query AND ${compiler.inSearchedColumns(sql`terms.word`)}`
  const idsOf = (term: SQL): SQL => sql`
    SELECT held.id FROM terms CROSS JOIN LATERAL (SELECT f.entry_id AS id ${holders} OFFSET 0) AS held WHERE terms.term = ${term}`
  // All have the same weight, so the shortest are the best.
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
  // Units of several words follow the words, at positions of their own.
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
      // An entry without one of the units ranks after those with all of them, or before some of them because of rarer words.
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

/** The metadata fields with code, the path of a file, and other names (as a JSON list). */
export const CODE_COLUMNS = sql`${sql.join(
  [sql`e.metadata_json -> 'codeBlock' -> 'code'`, sql`e.metadata_json -> 'fileContext' -> 'path'`].map(
    (value) =>
      sql`CASE WHEN jsonb_typeof(${value}) = 'string' THEN substr(${value} #>> '{}', 1, ${SCORED_LENGTH}) ELSE '' END`,
  ),
  sql` || chr(10) || `,
)} AS code, CASE WHEN jsonb_typeof(e.metadata_json -> 'aliases') = 'array'
    AND length((e.metadata_json -> 'aliases')::text) <= ${ALIASES_LENGTH}
  THEN (e.metadata_json -> 'aliases')::text END AS aliases`

/** Creates a lookup of which given entries contain a unit; each long entry is checked by its row of the index. */
export const createKnownEntries =
  (connection: SqlConnection, analyzer: Analyzer, clock: Clock): FullText['entryTexts'] =>
  async (scope: Scope, { units, columns }, ids) => {
    const { dialect } = connection
    const now = clock.now()
    const compiler = createTextCompiler(analyzer, columns)
    const from = (columns: SQL, where: SQL): SQL =>
      sql`SELECT ${columns} FROM ${entriesById(dialect, ids)} WHERE ${listed(dialect, scope, now)}${where}`
    const held = sql.join(
      units.map(
        (unit, place) => sql`SELECT long.id, ${sql.raw(String(place))} AS place FROM long CROSS JOIN LATERAL (
          SELECT 1 FROM entries_fts f
          WHERE f.entry_id = long.id AND ${compiler.within({ op: 'unit', unit }, scopeQuery(scope, {}))} OFFSET 0
        ) AS found`,
      ),
      sql` UNION ALL `,
    )
    const batch = new Batch()
    const rows = batch.add(
      from(sql`e.id, e.title, ${previewOf(dialect, SCORED_LENGTH)} AS text, ${CODE_COLUMNS}`, sql``),
      asRows,
    )
    const places =
      units.length === 0
        ? null
        : batch.add(sql`WITH long AS MATERIALIZED (${from(sql`e.id`, sql` AND (${isLong})`)}) ${held}`, asRows)
    const result = await batch.read(connection)
    return toEntryTexts(result.of(rows), places === null ? [] : result.of(places))
  }

const keyOf = (weight: SQL): SQL => sql`${weight} * ${brevity(sql`length`)}`
const [KEY, NEXT_KEY] = [keyOf(sql`weight`), keyOf(sql`next`)] as const

/** Returns `countsOf` for terms that are counted up to a small number. */
const rareCounts = (terms: number, rare: number): SQL => sql`(
    SELECT jsonb_agg(
      jsonb_build_array(CASE WHEN place IN (SELECT term FROM common) THEN ${rare + 1} ELSE
        (SELECT count(*) FROM found WHERE found.term = place) END, NULL)
      ORDER BY place
    )::text
    FROM generate_series(0, ${terms - 1}::integer) AS place
  )`

/**
 * Returns `counts`: a JSON array of `[count, highest counted ID]` for each term, counted in the order of IDs up to a cap. Only the rows of
 * a term
 * that reaches the cap are sorted; other terms need no ID.
 *
 * @param reached the rows of `every` (`id`) that were read when the cap was reached
 */
const countsOf = (most: number, idsOf: (term: SQL) => SQL, reached: SQL): SQL => sql`(
    SELECT coalesce(jsonb_agg(jsonb_build_array(least(counted.n, ${most}), CASE WHEN counted.n >= ${most} THEN
        (SELECT max(id) FROM (SELECT id FROM (${idsOf(sql`counted.term`)}) AS every ${reached}) AS first)
      END) ORDER BY counted.term), '[]')::text
    FROM counted
  )`
const OF_SAMPLE = sql`WHERE ${isSampled(sql`id`)} ORDER BY id LIMIT ${COMMON / SAMPLE}`

/** Number of newest entries that are read before the index is queried for each term. */
const NEWEST_READ = 256

/**
 * Returns the IDs of the newest entries of the organization or of a project, in the order of an index that begins with the organization.
 */
const newest = (org: string, project: string | null): SQL =>
  project === null
    ? sql`SELECT e.id FROM entries e WHERE e.listed = 1 AND e.org BETWEEN ${org} AND ${org}
        ORDER BY e.org, e.id DESC LIMIT ${NEWEST_READ}`
    : sql`SELECT e.id FROM entries e WHERE e.listed = 1 AND e.org = ${org} AND e.project = ${project} AND e.layer = 2
        ORDER BY e.created_at DESC, e.id DESC LIMIT ${NEWEST_READ}`

/**
 * Returns `ranked`: the entries with terms that occur in few entries, weighted by rarity and number. Terms that are frequent in the newest
 * entries are skipped, which avoids reading all their rows in the index.
 */
const rareTables = (
  terms: readonly ScoredTerm[],
  rare: number,
  compiler: TextCompiler,
  scope: SQL,
  lately: SQL,
): SQL[] => [
  termsOf(terms, compiler, scope),
  sql`lately AS MATERIALIZED (
    SELECT f.* FROM (${lately}) AS newest
      CROSS JOIN LATERAL (SELECT f.words, f.title, f.body, f.code, f.context FROM entries_fts f WHERE f.entry_id = newest.id OFFSET 0) AS f
  )`,
  sql`common AS MATERIALIZED (
    SELECT terms.term FROM terms
    WHERE ${rare} < (SELECT count(*) FROM (
      SELECT 1 FROM lately AS f WHERE f.words @@ terms.query AND ${compiler.inSearchedColumns(sql`terms.word`)} LIMIT ${rare + 1}
    ) AS held)
  )`,
  sql`found AS MATERIALIZED (
    SELECT terms.term, f.entry_id AS id, f.length
    FROM terms CROSS JOIN LATERAL (
      SELECT * FROM entries_fts f WHERE f.words @@ terms.query AND ${compiler.inSearchedColumns(sql`terms.word`)} LIMIT ${rare + 1}
    ) AS f
    WHERE terms.term NOT IN (SELECT common.term FROM common)
  )`,
  sql`weights AS MATERIALIZED (
    SELECT term, round(1e6 * ln(1 + 10.0::double precision * max(n) OVER () / n))::bigint AS weight
    FROM (SELECT term, count(*) AS n FROM found GROUP BY term HAVING count(*) <= ${rare}) AS counted
  )`,
  sql`ranked AS MATERIALIZED (
    SELECT found.id, max(found.length) AS length, sum(weights.weight) AS weight, false AS complete, 0 AS held
    FROM weights JOIN found ON found.term = weights.term GROUP BY found.id
  )`,
]

interface ColumnContext {
  readonly dialect: SqlDialect
  readonly analyzer: Analyzer
  readonly scope: Scope
  readonly now: number
}

/** Returns the columns of a candidate `e`. */
function candidateColumns({ dialect, analyzer, scope, now }: ColumnContext, request: AnySearch): SQL {
  const { columns, moment, units, rare, terms, texts = true } = request
  const neighbors = units === undefined && rare === undefined
  const next = !neighbors
    ? sql`'[]'`
    : sql`array_to_json(ARRAY(
        SELECT n.id FROM entries n
        WHERE ${listed(dialect, scope, now, 'n')}
          AND ${dialect.plan.beyond([sql`n.thread_id`, sql`e.thread_id`], sql`n.id`, sql`e.id`)}
        ORDER BY n.thread_id, n.id LIMIT 2
      ))::text`
  const context = sql`${dateWords(analyzer, sql`e.created_at`)} || ' ' || coalesce(e.agent, '')`
  const wanted = [
    ...(columns.includes('context') ? [sql`, ${context} AS context`] : []),
    ...(columns.includes('code') ? [sql`, ${CODE_COLUMNS}`] : []),
    ...(moment === undefined ? [] : [sql`, ${contextColumns(dialect, moment)}`]),
  ]
  const text = previewOf(dialect, SCORED_LENGTH)
  // The index has stems; other terms are counted in the text.
  const [known, read] =
    terms.length > 0 && terms.every(({ by }) => by === 'stem')
      ? [
          sql`(SELECT f.body FROM entries_fts f WHERE f.entry_id = e.id AND e.bytes <= ${sql.raw(String(SCORED_LENGTH))})`,
          !texts,
        ]
      : [sql`NULL::text`, false]
  const shown = read ? sql`CASE WHEN e.bytes <= ${sql.raw(String(SCORED_LENGTH))} THEN '' ELSE ${text} END` : text
  return sql`e.id, e.title, e.text_words, ${shown} AS text, ${known} AS terms,
    e.weight, e.layer, e.created_at, ${next} AS following${sql.join(wanted)}`
}

/**
 * Creates the search of ranked candidates.
 *
 * @param many number of matches from which on only the rarest words choose candidates
 * @param bounds thresholds of a search by combinations of words
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createPostgresFullText(
  connection: SqlConnection,
  analyzer: Analyzer,
  clock: Clock,
  many = MANY,
  bounds = COMBINATION_BOUNDS,
): FullText {
  const { dialect } = connection
  return {
    engine: 'tsvector',
    language: analyzer.language,
    stemming: analyzer.stemming,
    entryTexts: createKnownEntries(connection, analyzer, clock),

    ...searchesBy(async (scope, request) => {
      const {
        query,
        terms,
        filter,
        columns,
        depth,
        units,
        rare,
        diaryOf = null,
        captured = false,
        totals: counting = true,
      } = request
      const now = clock.now()
      const sight: VisibilityFilter = { diaryOf, captured: captured ? 'alone' : null }
      const compiler = createTextCompiler(analyzer, columns)
      const place = { ...placeOf(filter), captured }
      const { thread, projectScope: project } = place
      const confined = scopeQuery(scope, place)

      const admitted = () =>
        sql`${listed(dialect, scope, now, 'e', sight)} AND ${compileFilter(filter, dialect, dialect.bindings().bind)}`
      /** Returns the best rows that the filter admits. Rows are looked up in this order, only as many as needed. */
      const bestOf = (from: SQL, order: SQL, limit: number) => sql`
        SELECT o.id, o.held, o.key
        FROM (SELECT id, held, ${order} AS key FROM ${from} ORDER BY key DESC, id DESC) AS o
        ${dialect.plan.follow('entries', 'e', sql`e.id = o.id`)}
        WHERE ${admitted()}
        ORDER BY o.key DESC, o.id DESC LIMIT ${limit}`
      const placed = (few: SQL, complete: boolean, before = sql``) => sql`(
        SELECT few.id, ${sql.raw(String(complete))} AS complete, few.held,
          row_number() OVER (ORDER BY ${before}few.key DESC, few.id DESC) AS place
        FROM (${few}) AS few
      )`
      const isFew = isForFewWords(request)
      const isListed = !captured && diaryOf === null && !isFew
      const kind = isListed ? combinationsOf(request, compiler) : null
      const byWords =
        kind &&
        byCombinations({
          ...{ request, kind, compiler, bounds, org: scope.org, scope: confined },
          ...{ admitted: admitted(), isOfPlace: isOfPlace(filter) },
        })
      const byUnits = units && !isFew && byWords === null ? bestByUnits(request, compiler, confined, bestOf) : null
      const first = bestOf(isFew ? sql`ranked WHERE weight > 0` : sql`ranked`, KEY, depth.candidates)
      // Use the further words if the others find too few.
      const isLacking = sql`(SELECT count(*) FROM first) < ${depth.candidates}`
      const following = sql`(SELECT id, length, next, next_held AS held FROM ranked WHERE next > 0 AND ${isLacking}) AS following`
      const further = bestOf(following, NEXT_KEY, depth.candidates)
      const byFew = sql`SELECT DISTINCT ON (id) id, held, key, part FROM (
          SELECT *, 0 AS part FROM first UNION ALL SELECT *, 1 FROM (${further}) AS further
        ) AS every ORDER BY id, part`
      const others = isFew
        ? placed(byFew, false, sql`few.part, `)
        : placed(byWords?.best ?? byUnits?.few ?? first, false)
      const preferring =
        byWords !== null
          ? byWords.whole
          : units || rare !== undefined || query.preferred === null
            ? null
            : bestOf(sql`ranked WHERE complete`, brevity(sql`length`), depth.complete)
      const chosen = preferring === null ? others : sql`${others} UNION ALL ${placed(preferring, true)}`
      const tables =
        byWords?.tables ??
        byUnits?.tables ??
        (rare === undefined
          ? rankedTables(request, compiler, confined, { many, admitted: isOfPlace(filter) ? null : admitted() })
          : rareTables(terms, rare, compiler, confined, newest(scope.org, project)))
      const counts =
        rare === undefined
          ? countsOf(COMMON, byWords?.idsOf ?? byUnits?.idsOf ?? idsFound, OF_SAMPLE)
          : rareCounts(terms.length, rare)
      const all = isFew ? [...tables, sql`first AS MATERIALIZED (${first})`] : tables
      const few = isFew ? sql`, (SELECT few FROM many) AS few` : sql``
      const candidates = sql`WITH ${sql.join(all, sql`, `)},
        best AS MATERIALIZED (SELECT DISTINCT ON (id) * FROM (${chosen}) AS every ORDER BY id, complete DESC)
        SELECT e.*, best.complete, best.held, best.place, CASE WHEN best.place = 1 THEN ${counts} END AS counts${few}
        FROM best CROSS JOIN LATERAL (
          SELECT ${candidateColumns({ dialect, analyzer, scope, now }, request)}
          FROM entries e WHERE e.id = best.id
          OFFSET 0
        ) AS e`

      const batch = new Batch()
      const best = batch.add(inOneValue(dialect, candidates), rowsOfValue)
      const totals = batch.add(totalsOf({ dialect, scope, now }, place, counting, rare === undefined), asRows)
      const beyond =
        // Words have the weight of the complete scope, also when only one thread is searched.
        thread === null || rare !== undefined
          ? null
          : batch.add(
              sql`WITH found AS MATERIALIZED (${eachTerm(terms, compiler, scopeQuery(scope, { ...place, thread: null }), NO_TERM)}),
                ${countedOf(terms.length, sql`count(*)`)}
              SELECT ${countsOf(COUNTED, idsFound, sql`ORDER BY id LIMIT ${COUNTED}`)} AS counts`,
              asRows,
            )
      const result = await batch.read(connection)
      const rows = result.of(best)
      const [preferred, found] = [rows.filter((row) => row.complete), rows.filter((row) => !row.complete)]
      const countRows = { totals: result.of(totals), beyond: beyond === null ? undefined : result.of(beyond) }
      return toSearch({ found, preferred, ...countRows, columns, rare })
    }),
  }
}
