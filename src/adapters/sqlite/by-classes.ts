// Which entries hold any of a few words, each met once: by the class of those that hold just these of them.
import { type SQL, sql } from 'drizzle-orm'
import { COMMON, MOST_BREVITY } from '../sql/tables/search/candidates'
import { countOf } from './counted-terms'

/** Words of a search that is asked by classes: of three there are seven, each a pass over what it has to do with. */
const MOST_WORDS = 3

/** Whether so many words may be asked by classes. */
export const isForClasses = (words: number): boolean => words > 1 && words <= MOST_WORDS

interface Asked {
  /** The words as MATCH expressions, in their order. */
  readonly words: readonly string[]
  /** The part of the scope that is searched, as a MATCH expression. */
  readonly confined: string
  /** What scope and filter ask of an entry `e`. */
  readonly admitted: SQL
  readonly shortness: SQL
  readonly depth: { readonly candidates: number; readonly complete: number }
  /** What one statement may go through (search-cost.ts). */
  readonly share: number
}

/** For each class the words that its entries hold, as bits, and a MATCH expression of these entries. */
function classesOf(words: readonly string[], confined: string): [held: number, match: string][] {
  return Array.from({ length: 2 ** words.length - 1 }, (_, i) => {
    const held = i + 1
    const [present, absent] = [1, 0].map((bit) => words.filter((_, place) => ((held >> place) & 1) === bit))
    const without = absent?.length ? ` NOT (${absent.join(' OR ')})` : ''
    return [held, `(${confined} AND ${present?.join(' AND ')})${without}`]
  })
}

/**
 * Tables behind `held` and `fits`: `lists`, for each class its ids, and `by_class` and `by_word`, each with a row that says whether the
 * search is asked so.
 */
export function classLists({ words, confined, share }: Pick<Asked, 'words' | 'confined' | 'share'>): SQL[] {
  const classes = classesOf(words, confined)
  const passes = sql.raw(String(classes.length))
  return [
    sql`by_class (yes) AS MATERIALIZED (
      SELECT fits.yes AND held.entries <= ${2 * COMMON} AND held.bytes * ${passes} <= ${share} FROM fits CROSS JOIN held
    )`,
    sql`lists AS MATERIALIZED (
      SELECT class.value ->> 0 AS held, (
        SELECT json_array(count(*), max(id), json_group_array(id)) FROM (
          SELECT rowid AS id FROM entries_fts WHERE entries_fts MATCH (class.value ->> 1)
        )
      ) AS found
      FROM json_each(CASE WHEN (SELECT yes FROM by_class) THEN ${JSON.stringify(classes)} ELSE '[]' END) class
    )`,
    sql`by_word (yes) AS MATERIALIZED (SELECT fits.yes AND NOT by_class.yes FROM fits CROSS JOIN by_class)`,
  ]
}

/**
 * As `counted` (counted-terms.ts), of what `lists` has found. A word of more than `COMMON` entries is counted up to there in the order of
 * ids, which classes cannot tell, so the index is asked.
 */
export const countedInLists = (inside: readonly string[]): SQL => sql`
  SELECT place, words, CASE WHEN n > ${COMMON} THEN (${countOf(sql`words`, COMMON)}) ELSE json_array(n, reached) END AS count
  FROM (
    SELECT term.key AS place, term.value AS words, coalesce(sum(lists.found ->> '$[0]'), 0) AS n, max(lists.found ->> '$[1]') AS reached
    FROM json_each(CASE WHEN (SELECT yes FROM by_class) THEN ${JSON.stringify(inside)} ELSE '[]' END) term
      LEFT JOIN lists ON (lists.held >> term.key) & 1
    GROUP BY term.key
  )`

/**
 * Tables behind `rarity`, with `complete_ones` and `others` of `id`, `key` and `shortness`: of those that hold all words and of the rest,
 * enough to choose the best from. Words weigh more than nothing, so none is above those that hold all; of the rest only classes are looked
 * at that may come near.
 */
export function bestOfClasses({ words, admitted, shortness, depth }: Asked): SQL[] {
  const all = sql.raw(String(2 ** words.length - 1))
  const ranked = (first: SQL, where: SQL, limit: number) => sql`
    SELECT e.id, weighed_class.weight * ${shortness} AS key, ${shortness} AS shortness
    FROM ${first}weighed_class CROSS JOIN json_each(weighed_class.found, '$[2]') one CROSS JOIN entries e ON e.id = one.value
    WHERE ${where} AND ${admitted}
    ORDER BY key DESC, e.id DESC LIMIT ${limit}`
  return [
    sql`weighed_class AS MATERIALIZED (
      SELECT lists.held, lists.found, sum(rarity.weight) AS weight
      FROM by_class CROSS JOIN lists CROSS JOIN rarity ON (lists.held >> rarity.place) & 1
      WHERE by_class.yes
      GROUP BY lists.held
    )`,
    sql`complete_ones AS MATERIALIZED (
      ${ranked(sql``, sql`weighed_class.held = ${all}`, Math.max(depth.candidates, depth.complete))}
    )`,
    sql`enough (key) AS MATERIALIZED (
      SELECT coalesce(max(key), -1) FROM (
        SELECT key FROM complete_ones ORDER BY key DESC LIMIT 1 OFFSET ${sql.raw(String(depth.candidates - 1))}
      )
    )`,
    sql`others AS MATERIALIZED (
      ${ranked(
        sql`enough CROSS JOIN `,
        sql`weighed_class.held <> ${all} AND weighed_class.weight * ${MOST_BREVITY} >= enough.key`,
        depth.candidates,
      )}
    )`,
  ]
}
