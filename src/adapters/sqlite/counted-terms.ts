// In how many entries do the terms of a query stand, and in which, where these are few?

import { type SQL, sql } from 'drizzle-orm'
import { COMMON, COUNTED_ALL, ENOUGH, SAMPLE } from '../sql/tables/search/candidate-rules'
import type { TermCount } from '../sql/tables/search/candidates'
import { sampleTerm } from '../sql/tables/search/scope-terms'

/** MATCH expressions, where they may be asked at once: the table `fits` stands before. */
export const asked = (expressions: readonly string[]): SQL =>
  sql`json_each(CASE WHEN (SELECT yes FROM fits) THEN ${JSON.stringify(expressions)} ELSE '[]' END)`

/** In how many entries an expression holds, as `[count, highest id]`, up to so many in the order of ids. */
const countOf = (expression: SQL, most: number): SQL =>
  sql`SELECT json_array(count(*), max(id)) FROM (
    SELECT rowid AS id FROM entries_fts WHERE entries_fts MATCH ${expression} ORDER BY rowid LIMIT ${most}
  )`

/** The terms of a query, each as a MATCH expression, and in how many entries it stands, counted in the order of ids. */
export const counted = (expressions: readonly string[], most: number): SQL =>
  sql`SELECT term.key AS place, term.value AS words, (${countOf(sql`term.value`, most)}) AS count
    FROM ${asked(expressions)} term`

/**
 * As `counted`, of many by a sample: a step through the index is a row, however short, so the
 * sample is asked first.
 */
export function countedBySample(org: string, expressions: readonly string[]): SQL {
  const ofSample = countOf(sql`'scope : "' || ${sampleTerm(org)} || '" AND ' || term.value`, COMMON / SAMPLE)
  const [enough, sample] = [ENOUGH, SAMPLE].map((n) => sql.raw(String(n)))
  return sql`WITH sampled AS MATERIALIZED (
      SELECT term.key AS place, term.value AS words, (${ofSample}) AS count FROM ${asked(expressions)} term
    )
    SELECT place, words, CASE
      WHEN count ->> 0 >= ${enough} THEN json_array(${sample} * (count ->> 0), count ->> 1)
      ELSE (${countOf(sql`words`, COUNTED_ALL)}) END AS count
    FROM sampled`
}

/** As `counted`, of what was counted before, in the order of the expressions. */
export const countedBefore = (expressions: readonly string[], counts: readonly TermCount[]): SQL =>
  sql`SELECT term.key AS place, term.value AS words, json_extract(${JSON.stringify(counts)}, '$[' || term.key || ']') AS count
    FROM ${asked(expressions)} term`

/** As `counted`, each count with the ids, where they are no more than that: a rare word costs a look at all that the scope holds. */
const foundIn = (expressions: readonly string[], rare: number): SQL =>
  sql`SELECT term.key AS place, (
      SELECT json_array(count(*), max(id), json(CASE WHEN count(*) <= ${rare} THEN json_group_array(id) END)) FROM (
        SELECT rowid AS id FROM entries_fts WHERE entries_fts MATCH term.value ORDER BY rowid LIMIT ${rare + 1}
      )
    ) AS found
    FROM ${asked(expressions)} term`

/** What leads to few: the words of which each stands in no more entries than that, with what they weigh. */
export const rareTables = (expressions: readonly string[], rare: number): SQL[] => [
  sql`found AS MATERIALIZED (${foundIn(expressions, rare)})`,
  sql`counts AS MATERIALIZED (SELECT place, json_remove(found, '$[2]') AS count FROM found)`,
  sql`rarity AS MATERIALIZED (
    SELECT ids, CAST(round(1e6 * ln(1 + 10.0 * max(n) OVER () / n)) AS INTEGER) AS weight
    FROM (SELECT json_extract(found, '$[0]') AS n, json_extract(found, '$[2]') AS ids FROM found) WHERE n > 0 AND n <= ${rare}
  )`,
  sql`weighed AS MATERIALIZED (
    SELECT entry.value AS id, sum(rarity.weight) AS weight
    FROM rarity CROSS JOIN json_each(rarity.ids) entry
    GROUP BY entry.value
  )`,
]

/** `best` of what those words lead to, behind `weighed`. @param admitted what scope and filter ask of an entry `e` */
export const bestOfRare = (admitted: SQL, shortness: SQL, most: number): SQL => {
  const key = sql`weighed.weight * ${shortness}`
  return sql`best AS (
    SELECT few.id, 0 AS held, row_number() OVER (ORDER BY few.key DESC, few.id DESC) AS place
    FROM (
      SELECT weighed.id, ${key} AS key
      FROM weighed CROSS JOIN entries e ON e.id = weighed.id
      WHERE ${admitted}
      ORDER BY key DESC, weighed.id DESC LIMIT ${most}
    ) few
  )`
}
