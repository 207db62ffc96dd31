// Finds the best entries by grouping matches, and returns the columns of candidates.

import { type SQL, sql } from 'drizzle-orm'
import type { Scope } from '../../domain/identity/scope'
import type { Analyzer } from '../../domain/search/analysis'
import type { Millis } from '../../domain/time'
import { SCORED_LENGTH } from '../../ports/full-text'
import { TRUE } from '../sql/core/compile-filter'
import type { SqlDialect } from '../sql/core/dialect'
import { packedColumns } from '../sql/core/rows'
import { listed } from '../sql/core/visibility'
import { contextColumns } from '../sql/tables/memories/work-context'
import {
  ALIASES_LENGTH,
  type AnySearch,
  brevity,
  CANDIDATE_NAMES,
  COUNTED_ALL,
  keyOfOthers,
  MAX_LENGTH_NORM,
  splitUnits,
  unitKey,
} from '../sql/tables/search/candidates'
import { previewOf } from '../sql/tables/texts/long-texts'
import { dateWords, NOWHERE } from './full-text-index'
import type { MatchCompiler } from './match'
import { termRows } from './term-combinations'

/**
 * Chooses candidates in tables of one statement: the matches of each word, or of each combination of three words, are grouped by entry with
 * the weights of its words, and the best entries are looked up.
 */

/** Words of a group: three have seven combinations. */
const GROUP = 3

/**
 * Returns tables up to `classed` (`words`, `weight`, `units`): the combinations, each with its weight and its number of units.
 *
 * @param parts rows of `words` (a MATCH expression), `n` (number of entries), `weight` and `unit` (1 if it is a unit)
 */
function wordClasses(parts: SQL): SQL[] {
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

/** Returns `weighed` (`id`, `weight`) after them, with the number of units of each entry under this name. */
export const weighed = (units: 'terms' | 'held'): SQL => sql`weighed AS MATERIALIZED (
    SELECT entries_fts.rowid AS id, sum(classed.weight) AS weight, sum(classed.units) AS ${sql.raw(units)}
    FROM classed CROSS JOIN entries_fts
    WHERE entries_fts MATCH classed.words
    GROUP BY entries_fts.rowid
  )`

/**
 * Tables `weighed` of `terms`, after `counts`: the entries with a word of the query, with the weight of their words by rarity.
 */
export const WEIGHED_BY_WORDS: readonly SQL[] = [
  ...wordClasses(sql`
    SELECT words, n, 1 AS unit, CAST(round(1e6 * ln(1 + 10.0 * max(n) OVER () / n)) AS INTEGER) AS weight
    FROM (SELECT place, words, json_extract(count, '$[0]') AS n FROM counts) WHERE n > 0`),
  weighed('terms'),
]

/** Entries in addition to the wanted ones before a bound is computed: some may not be admitted. */
const SPARE = 55

/** Returns a MATCH expression that only runs if the complete search fits its limits. */
export const matchIfFits = (expression: string): SQL =>
  sql`CASE WHEN (SELECT yes FROM fits) THEN ${expression} ELSE ${NOWHERE} END`

/** Returns `best`: the first rows of `id`, `held` and `key`, in order. */
export const placed = (few: SQL, most: number): SQL => sql`best AS (
    SELECT few.id, few.held, row_number() OVER (ORDER BY few.key DESC, few.id DESC) AS place
    FROM (SELECT id, held, key FROM (${few}) ORDER BY key DESC, id DESC LIMIT ${most}) few
  )`

/**
 * Returns tables `leading` and `least` (`key`), after `weighed` (`id`, `weight`): of thousands, only entries that may be among the best
 * need to
 * be looked up. Their weight times `MAX_LENGTH_NORM` is at least `least.key`, which enough of the heaviest reach; -1 if there are fewer.
 *
 * @param among a condition on `weighed`
 * @param admitted condition of scope and filter on an entry `e`
 * @param most number of wanted entries
 */
function leastOfLeading({ condition: among, admitted, shortness, most }: Leading): SQL[] {
  return [
    sql`leading AS MATERIALIZED (
      SELECT id, weight FROM weighed WHERE ${among} ORDER BY ${unitKey(sql`weight`, sql`1`)} DESC LIMIT ${most + SPARE}
    )`,
    sql`least AS MATERIALIZED (
      SELECT coalesce(max(last.key), -1) AS key FROM (
        SELECT ${unitKey(sql`leading.weight`, shortness)} AS key
        FROM leading CROSS JOIN entries e ON e.id = leading.id
        WHERE ${admitted}
        ORDER BY key DESC LIMIT 1 OFFSET ${sql.raw(String(most - 1))}
      ) last
    )`,
  ]
}

interface Leading {
  readonly condition: SQL
  readonly admitted: SQL
  readonly shortness: SQL
  readonly most: number
}

interface Wanted {
  readonly request: Pick<AnySearch, 'query' | 'terms' | 'depth'>
  readonly compiler: MatchCompiler
  /** The searched part of the scope, as a MATCH expression. */
  readonly confined: string
  /** Condition of scope and filter on an entry `e`. */
  readonly admitted: SQL
}

/**
 * Returns tables up to `best` (`id`, `held`, `place`), after `fits` and `counts`.
 *
 * Entries with all units are read first: FTS5 intersects the words, and nothing is grouped. If they are enough, and no other entry can be
 * among the
 * best, the others are not queried.
 *
 * Tables are joined instead of used in subqueries: SQLite adds up the depth of nested subqueries through all tables, and D1 allows a
 * hundred levels.
 */
export function bestByUnits({ request, compiler, confined, admitted }: Wanted): SQL[] {
  const { query, terms, depth } = request
  const { alone, composed } = splitUnits(query.units, terms)
  const shortness = brevity(sql`e.text_words`)
  const all = sql.raw(String(query.units.length))
  const most = sql.raw(String(depth.candidates))
  const together = compiler.within({ op: 'and', of: query.units.map((unit) => ({ op: 'unit', unit })) }, confined)
  const complete = [
    sql`rarity AS MATERIALIZED (
      SELECT place, words, n, CAST(round(1e6 * ln(1 + 10.0 * max(n) OVER () / n)) AS INTEGER) AS weight
      FROM (SELECT place, words, json_extract(count, '$[0]') AS n FROM counts) WHERE n > 0
    )`,
    sql`everything (weight, lightest) AS MATERIALIZED (SELECT sum(weight), min(weight) FROM rarity)`,
    sql`complete AS MATERIALIZED (
      SELECT e.id, ${all} AS held, ${unitKey(sql`everything.weight`, shortness)} AS key
      FROM everything CROSS JOIN entries_fts CROSS JOIN entries e ON e.id = entries_fts.rowid
      WHERE entries_fts MATCH ${matchIfFits(together)} AND ${admitted}
      ORDER BY key DESC, e.id DESC LIMIT ${depth.candidates}
    )`,
  ]
  if (query.units.length === 1) return [...complete, placed(sql`SELECT id, held, key FROM complete`, depth.candidates)]

  const parts = composed.map((unit) => compiler.within({ op: 'unit', unit }, confined))
  const [held, weight] = [sql`weighed.held`, sql`weighed.weight`]
  return [
    ...complete,
    sql`missing (yes) AS MATERIALIZED (
      SELECT count(complete.id) < ${most} OR min(complete.key) <= max(others.key)
      FROM (SELECT ${keyOfOthers(composed)} AS key FROM everything) others LEFT JOIN complete ON 1 = 1
    )`,
    // Each word of the query once: with its rarity, and as a unit if it is one.
    ...wordClasses(sql`
      SELECT words, n, weight, place IN (SELECT value FROM json_each(${JSON.stringify(alone)})) AS unit
      FROM missing CROSS JOIN rarity WHERE missing.yes
      UNION ALL SELECT part.value, 0, 0, 1 FROM missing CROSS JOIN ${termRows(parts)} part WHERE missing.yes`),
    weighed('held'),
    ...leastOfLeading({ condition: sql`held > 0`, admitted, shortness, most: depth.candidates }),
    placed(
      sql`
      SELECT * FROM (
        SELECT weighed.id, ${held} AS held, ${unitKey(weight, shortness)} AS key
        FROM least CROSS JOIN weighed CROSS JOIN entries e ON e.id = weighed.id
        WHERE ${held} > 0 AND ${unitKey(weight, MAX_LENGTH_NORM)} >= least.key AND ${admitted}
        ORDER BY key DESC, weighed.id DESC LIMIT ${depth.candidates}
      )
      UNION ALL
      SELECT id, held, key FROM complete WHERE NOT (SELECT yes FROM missing)`,
      depth.candidates,
    ),
  ]
}

interface WantedByTerms {
  readonly request: Pick<AnySearch, 'terms' | 'depth'>
  /** Condition of scope and filter on an entry `e`. */
  readonly admitted: SQL
  readonly shortness: SQL
}

/**
 * Returns tables up to `admitted` (`id`, `complete`, `key`, `shortness`), and `whole`, the entries with all terms; after `weighed`.
 */
export function admittedByTerms({ request: { terms, depth }, admitted, shortness }: WantedByTerms): SQL[] {
  const byWord = sql`
      SELECT e.id, weighed.terms = ${terms.length} AS complete, weighed.weight * ${shortness} AS key, ${shortness} AS shortness
      FROM least CROSS JOIN weighed CROSS JOIN entries e ON e.id = weighed.id
      WHERE ${unitKey(sql`weighed.weight`, MAX_LENGTH_NORM)} >= least.key AND ${admitted}`
  return [
    // Entries with all terms have the highest weight, so they are all looked up.
    ...leastOfLeading({ condition: TRUE, admitted, shortness, most: depth.candidates }),
    sql`admitted AS MATERIALIZED (${byWord})`,
    sql`whole AS NOT MATERIALIZED (SELECT id, shortness FROM admitted WHERE complete)`,
  ]
}

/**
 * Returns `best` after `admitted`: the entries with the highest keys and, if requested, the shortest of those with all terms (`whole`),
 * which are `complete`.
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

/**
 * Returns `weighed` after `counts`: those of the given entries that contain one of the words, with the weight of these by rarity, and their
 * number under this name. FTS5 looks up each entry for each word.
 */
export const scoreGivenEntries = (ids: readonly number[], units: 'terms' | 'held'): SQL[] => [
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
 * Returns `best` after `weighed` of `held`, in order.
 *
 * @param admitted condition of scope and filter on an entry `e`
 */
export const bestOfWeighed = ({ admitted, shortness, most }: BestOfWeighed): SQL =>
  placed(
    sql`SELECT weighed.id, weighed.held, ${unitKey(sql`weighed.weight`, shortness)} AS key
      FROM weighed CROSS JOIN entries e ON e.id = weighed.id WHERE ${admitted}`,
    most,
  )

/** Returns `admitted` after `weighed` of `terms`: the entries that contain all terms. */
export const allOfWeighed = ({ terms, admitted, shortness }: { terms: number; admitted: SQL; shortness: SQL }): SQL =>
  sql`admitted AS NOT MATERIALIZED (
    SELECT e.id, ${shortness} AS shortness
    FROM weighed CROSS JOIN entries e ON e.id = weighed.id WHERE weighed.terms = ${terms} AND ${admitted}
  )`

interface BestOfWeighed {
  readonly admitted: SQL
  readonly shortness: SQL
  readonly most: number
}

/** Metadata fields with code and the path of a file. */
const CODE_PATHS = ['$.codeBlock.code', '$.fileContext.path'] as const

/** Columns of an entry `e` with its code and the path of its file, and its other names as a JSON list. */
export const CODE_COLUMNS = sql`${sql.join(
  CODE_PATHS.map(
    (path) => sql`CASE WHEN json_type(e.metadata, ${path}) = 'text'
      THEN substr(json_extract(e.metadata, ${path}), 1, ${SCORED_LENGTH}) ELSE '' END`,
  ),
  sql` || char(10) || `,
)} AS code, CASE WHEN json_type(e.metadata, '$.aliases') = 'array' AND length(json_extract(e.metadata, '$.aliases')) <= ${ALIASES_LENGTH}
  THEN json_extract(e.metadata, '$.aliases') END AS aliases`

interface Asked {
  readonly dialect: SqlDialect
  readonly analyzer: Analyzer
  readonly scope: Scope
  /** Milliseconds since 1970. */
  readonly now: Millis
}

/** Returns the columns of a candidate `e`, with the counts of all terms. */
export function candidateColumns({ dialect, analyzer, scope, now }: Asked, request: AnySearch): (counts: SQL) => SQL {
  const { columns, moment, units, rare } = request
  const neighbors = units === undefined && rare === undefined
  const next = !neighbors
    ? sql`'[]'`
    : sql`(
      SELECT json_group_array(id) FROM (
        SELECT n.id FROM entries n
        WHERE ${listed(dialect, scope, now, 'n')} AND n.thread_id = e.thread_id AND n.id > e.id
        ORDER BY n.id LIMIT 2
      )
    )`
  const context = sql`${dateWords(analyzer, sql`e.created_at`)} || ' ' || coalesce(e.agent, '')`
  const wanted = [
    ...(columns.includes('context') ? [sql`, ${context} AS context`] : []),
    ...(columns.includes('code') ? [sql`, ${CODE_COLUMNS}`] : []),
    ...(moment === undefined ? [] : [sql`, ${contextColumns(dialect, moment)}`]),
  ]
  return (counts) => sql`${packedColumns(CANDIDATE_NAMES, 'e')}, ${previewOf(dialect, SCORED_LENGTH)} AS text,
    ${next} AS following, ${counts} AS counts${sql.join(wanted)}`
}
