// Which entries hold the most of a query's units, or its rarest words? The tables of that statement.

import { type SQL, sql } from 'drizzle-orm'
import { brevity, keyOfOthers, MOST_BREVITY, unitKey } from '../sql/tables/search/candidate-rules'
import type { AnySearch } from '../sql/tables/search/candidates'
import { splitUnits, type Units } from '../sql/tables/search/candidates'
import { asked } from './counted-terms'
import { NOWHERE } from './full-text-index'
import type { MatchCompiler } from './match'
import { weighed, wordClasses } from './word-classes'

/** Entries beyond those that are wanted from which it is told what cannot be among them: some may not be admitted. */
const SPARE = 55

/** A MATCH expression where the whole search may be asked at once. */
export const matchIfFits = (expression: string): SQL =>
  sql`CASE WHEN (SELECT yes FROM fits) THEN ${expression} ELSE ${NOWHERE} END`

/** `best`: so many of some rows of `id`, `held` and `key`, in their places. */
export const placed = (few: SQL, most: number): SQL => sql`best AS (
    SELECT few.id, few.held, row_number() OVER (ORDER BY few.key DESC, few.id DESC) AS place
    FROM (SELECT id, held, key FROM (${few}) ORDER BY key DESC, id DESC LIMIT ${most}) few
  )`

/**
 * Tables `leading` and `least`, of `key`, behind `weighed` of `id` and `weight`: of thousands, only those need to be looked up that may be
 * among the best, however short they are. Their weight times `MOST_BREVITY` is no less than `least.key`, which so many of those that weigh
 * most reach; -1 where these are fewer.
 *
 * @param among a condition on `weighed`
 * @param admitted what scope and filter ask of an entry `e`
 * @param most how many are wanted
 */
export function leastOfLeading({ among, admitted, shortness, most }: Leading): SQL[] {
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
  readonly among: SQL
  readonly admitted: SQL
  readonly shortness: SQL
  readonly most: number
}

interface Wanted {
  readonly request: Pick<AnySearch, 'query' | 'terms' | 'depth'>
  readonly units: Units
  readonly compiler: MatchCompiler
  /** The part of the scope that is searched, as a MATCH expression. */
  readonly confined: string
  /** What scope and filter ask of an entry `e`. */
  readonly admitted: SQL
}

/**
 * Tables up to `best`, of `id`, `held` and `place`, behind `fits` and `counts`.
 *
 * Those that hold all units are looked at before: FTS5 goes through the words side by side and nothing is gathered. Where they are enough,
 * and none of the others can be among the best, those are not asked for.
 *
 * Tables are joined rather than asked by queries within conditions: SQLite adds up how deep such queries stand in each other, through
 * all tables that lead to one, and D1 allows a hundred levels.
 */
export function bestByUnits({ request, units, compiler, confined, admitted }: Wanted): SQL[] {
  const { query, terms, depth } = request
  const { atLeast } = units
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
  if (atLeast >= query.units.length)
    return [...complete, placed(sql`SELECT id, held, key FROM complete`, depth.candidates)]

  const parts = composed.map((unit) => compiler.within({ op: 'unit', unit }, confined))
  const [held, weight] = [sql`weighed.held`, sql`weighed.weight`]
  return [
    ...complete,
    sql`missing (yes) AS MATERIALIZED (
      SELECT count(complete.id) < ${most} OR min(complete.key) <= max(others.key)
      FROM (SELECT ${keyOfOthers(composed)} AS key FROM everything) others LEFT JOIN complete ON 1 = 1
    )`,
    // Each word of the query once: with its rarity, and as a unit by which an entry is found where it is one.
    ...wordClasses(sql`
      SELECT words, n, weight, place IN (SELECT value FROM json_each(${JSON.stringify(alone)})) AS unit
      FROM missing CROSS JOIN rarity WHERE missing.yes
      UNION ALL SELECT part.value, 0, 0, 1 FROM missing CROSS JOIN ${asked(parts)} part WHERE missing.yes`),
    weighed('held'),
    ...leastOfLeading({ among: sql`held >= ${atLeast}`, admitted, shortness, most: depth.candidates }),
    placed(
      sql`
      SELECT * FROM (
        SELECT weighed.id, ${held} AS held, ${unitKey(weight, shortness)} AS key
        FROM least CROSS JOIN weighed CROSS JOIN entries e ON e.id = weighed.id
        WHERE ${held} >= ${atLeast} AND ${unitKey(weight, MOST_BREVITY)} >= least.key AND ${admitted}
        ORDER BY key DESC, weighed.id DESC LIMIT ${depth.candidates}
      )
      UNION ALL
      SELECT id, held, key FROM complete WHERE NOT (SELECT yes FROM missing)`,
      depth.candidates,
    ),
  ]
}
