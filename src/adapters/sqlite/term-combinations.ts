// Finds the best entries by term combinations: entries with the same words of a query have the same weight apart from their length, so the
// index finds the shortest of thousands without reading the others.

import { type SQL, sql } from 'drizzle-orm'
import { BREVITIES, COMMON, COUNTED_ALL, ENOUGH, SAMPLE, type TermCount } from '../sql/tables/search/candidates'
import { lengthTerm, sampleTerm } from '../sql/tables/search/scope-terms'

/**
 * Maximum number of words of a search by combinations: three words have seven, six have 63, each with a pass through the index. With a
 * filter, all matches may have to be read.
 */
const MOST_WORDS = { plain: 6, filtered: 3 } as const

/**
 * Returns whether this many words may be searched by combinations.
 *
 * @param plain whether the filter usually admits what the index finds
 */
export const isForClasses = (words: number, plain: boolean): boolean =>
  words > 0 && words <= (plain ? MOST_WORDS.plain : MOST_WORDS.filtered)

/** A term combination: entries with equal weight apart from their length. */
export interface EntryClass {
  /** Words of the search that its entries contain, as bits by position. */
  readonly words: number
  /** Number of units of the query that its entries contain. */
  readonly held: number
  /** MATCH expression of the combination, in parentheses. */
  readonly match: string
}

/** A combination with fewer entries is read completely, which is not more than reading it step by step. */
const READ_COMPLETELY = 200

/** Number of matches in the sample from which on a combination counts as frequent. */
const FREQUENT = Math.ceil(READ_COMPLETELY / SAMPLE)

/** Up to this many combinations (of three words) are not checked for frequency in a short index: each has 17 steps. */
const FEW_CLASSES = 7

/** In a scope with at most this many entries, more combinations are read completely unless the heaviest is frequent. */
const SMALL = 10 * READ_COMPLETELY

const countOfBits = (bits: number): number => bits.toString(2).replaceAll('0', '').length

/**
 * Splits the entries with any of a few words into combinations: those that contain exactly the same words.
 *
 * @param words as MATCH expressions, in their order
 * @param confined the searched part of the scope, as a MATCH expression
 */
export function classesOf(words: readonly string[], confined: string): EntryClass[] {
  return Array.from({ length: 2 ** words.length - 1 }, (_, i) => {
    const bits = i + 1
    const [present, absent] = [1, 0].map((bit) => words.filter((_, place) => ((bits >> place) & 1) === bit))
    const without = absent?.length ? ` NOT (${absent.join(' OR ')})` : ''
    return { words: bits, held: countOfBits(bits), match: `((${confined} AND ${present?.join(' AND ')})${without})` }
  })
}

/** Maximum number of words of one expression that are checked for frequency. */
const MOST_BITS = 30

/** Returns entries that all contain this many words as one combination. @param match their MATCH expression */
export const oneClass = (words: number, match: string): EntryClass => ({
  words: 2 ** Math.min(words, MOST_BITS) - 1,
  held: 1,
  match: `(${match})`,
})

/**
 * Returns each length step: the text before and after the expression of a combination, the factor of its weight, and the expression of the
 * length itself.
 */
function stepsOf(org: string): [before: string, after: string, brevity: number, length: string | null][] {
  const terms = BREVITIES.map((_, step) => `"${lengthTerm(org, step)}"`)
  const least = BREVITIES.at(-1) as number
  return [
    ...terms.map((term, step) => {
      const length = `scope : ${term}`
      return [`(${length} AND `, ')', BREVITIES[step] as number, length] satisfies ReturnType<typeof stepsOf>[number]
    }),
    // Entries indexed before length terms existed come last, until the schedule has rebuilt the index.
    ['(', ` NOT scope : (${terms.join(' OR ')}))`, least, null],
  ]
}

/**
 * Returns those steps of which the organization has entries, as JSON. It usually has few lengths, and a step without entries would look up
 * all words of each combination in each segment. Queried once, and only for a combination that is read by steps.
 */
const stepsThere = (org: string): SQL => sql`(
    SELECT json_group_array(json(step.value)) FROM json_each(${JSON.stringify(stepsOf(org))}) step
    WHERE step.value ->> 3 IS NULL OR EXISTS (SELECT 1 FROM entries_fts WHERE entries_fts MATCH step.value ->> 3)
  )`

/**
 * Number of matches in the sample from which on a combination counts as very frequent: then 200 entries are usually found in the first
 * steps.
 */
export const VERY_FREQUENT = 125

/**
 * Returns whether a combination is frequent, by the sample. @param match its expression @param least minimum number of matches in the
 * sample
 */
export const isFrequent = (org: string, match: SQL, least = FREQUENT): SQL => sql`(
    SELECT count(*) >= ${least} FROM (
      SELECT 1 FROM entries_fts WHERE entries_fts MATCH 'scope : "' || ${sampleTerm(org)} || '" AND ' || ${match} LIMIT ${least}
    )
  )`

interface Asked {
  readonly org: string
  readonly classes: readonly EntryClass[]
  /**
   * Whether the filter usually admits what the index finds. Otherwise all steps may have to be read, each with a pass through the index;
   * then a large scope is read completely instead.
   */
  readonly plain: boolean
  /** Condition of scope and filter on an entry `e`. */
  readonly admitted: SQL
  readonly shortness: SQL
  /** Entries of all organizations up to which the index counts as short. */
  readonly short: number
  /** Number of wanted entries. */
  readonly most: number
  /** Number of wanted entries that contain this many units, in addition; 0 for none. */
  readonly complete: { readonly most: number; readonly held: number }
}

/**
 * Returns tables up to `admitted` (`id`, `held`, `key`, `shortness`), after `fits` and `counts`, which include the best by their keys; and
 * `best`, if
 * entries with all units are wanted too.
 *
 * A rare combination is read completely. A frequent one is read step by step, highest key first, newest first within a step, until there
 * are
 * enough. Entries with equal keys are in one step, of any combination.
 *
 * Frequent words need not occur together frequently. Then each of 17 steps would read all postings of them, in every organization, and find
 * almost
 * nothing. So the sample shows whether a combination is frequent, unless the index is short; only for the heaviest one if that is frequent,
 * since the
 * others are rarely reached.
 */
export function byLength({ org, classes, plain, admitted, shortness, short, most, complete }: Asked): SQL[] {
  const given = JSON.stringify(classes.map(({ words, held, match }) => [words, held, match]))
  const isCommon = sql`min(sized.n) >= ${READ_COMPLETELY}`
  const common = plain ? isCommon : sql`${isCommon} AND (SELECT entries FROM held) <= ${2 * COMMON}`
  const dense = (words: SQL): SQL => isFrequent(org, words)
  const isOfFew = classes.length <= FEW_CLASSES
  const isQuick = isOfFew ? sql`(SELECT max(id) FROM entries) <= ${short}` : sql`0`
  /** In a small scope, checking each combination would cost as much as reading it. */
  const isSmall = isOfFew ? sql`0` : sql`(SELECT entries FROM held) <= ${SMALL}`
  const through = (where: SQL, order: SQL, limit: number) => sql`
    SELECT e.id, classes.held, classes.weight * ${shortness} AS key, ${shortness} AS shortness
    FROM classes CROSS JOIN entries_fts CROSS JOIN entries e ON e.id = entries_fts.rowid
    WHERE classes.many = 0 AND ${where} AND entries_fts MATCH classes.words AND ${admitted}
    ORDER BY ${order} DESC, e.id DESC LIMIT ${limit}`
  // Rows are read in the order of `steps`, no more than needed.
  const stepwise = (where: SQL, limit: number) => sql`
    SELECT one.value AS id, steps.held, steps.key, steps.shortness
    FROM steps CROSS JOIN json_each(CASE WHEN ${where} THEN (
      SELECT json_group_array(id) FROM (
        SELECT e.id FROM entries_fts CROSS JOIN entries e ON e.id = entries_fts.rowid
        WHERE entries_fts MATCH steps.words AND ${admitted}
        ORDER BY entries_fts.rowid DESC LIMIT ${limit}
      )
    ) ELSE '[]' END) one
    LIMIT ${limit}`
  const isWhole = (table: 'classes' | 'steps') => sql`${sql.raw(table)}.held = ${complete.held}`
  return [
    sql`sized AS MATERIALIZED (
      SELECT place, n, CAST(round(1e6 * ln(1 + 10.0 * max(n) OVER () / n)) AS INTEGER) AS weight
      FROM (SELECT place, json_extract(count, '$[0]') AS n FROM counts) WHERE n > 0
    )`,
    // None contains a word without entries.
    sql`weighted AS MATERIALIZED (
      SELECT class.value ->> 1 AS held, class.value ->> 2 AS words, sum(sized.weight) AS weight, ${common} AS common
      FROM sized CROSS JOIN json_each(${given}) class
      WHERE ((class.value ->> 0) >> sized.place) & 1
      GROUP BY class.key HAVING sum(1 << sized.place) = class.value ->> 0
    )`,
    // As one row: SQLite compiles a table again for each reference, with all tables that it refers to.
    sql`heaviest AS MATERIALIZED (
      SELECT weighted.classes, CASE WHEN ${isQuick} THEN 1 ELSE (
        SELECT ${dense(sql`heaviest.words`)} FROM (
          SELECT value ->> 1 AS words FROM json_each(weighted.classes) WHERE value ->> 3 ORDER BY value ->> 2 DESC LIMIT 1
        ) heaviest
      ) END AS dense
      FROM (SELECT json_group_array(json_array(held, words, weight, common)) AS classes FROM weighted) weighted
    )`,
    sql`classes AS MATERIALIZED (
      SELECT class.value ->> 0 AS held, class.value ->> 1 AS words, class.value ->> 2 AS weight,
        CASE WHEN NOT (class.value ->> 3) THEN 0 WHEN heaviest.dense THEN 1 WHEN ${isSmall} THEN 0
          ELSE ${dense(sql`(class.value ->> 1)`)} END AS many
      FROM heaviest CROSS JOIN json_each(heaviest.classes) class
    )`,
    sql`steps AS MATERIALIZED (
      SELECT classes.weight * (step.value ->> 2) AS key, classes.held, step.value ->> 2 AS shortness,
        group_concat((step.value ->> 0) || classes.words || (step.value ->> 1), ' OR ') AS words
      FROM classes CROSS JOIN json_each(${stepsThere(org)}) step
      WHERE classes.many = 1
      GROUP BY 1, 2 ORDER BY 1 DESC, 2 DESC LIMIT 10000
    )`,
    sql`few AS NOT MATERIALIZED (${through(sql`1`, sql`key`, most)})`,
    sql`many AS NOT MATERIALIZED (${stepwise(sql`1`, most)})`,
    sql`admitted AS NOT MATERIALIZED (SELECT * FROM few UNION ALL SELECT * FROM many)`,
    ...(complete.most === 0
      ? []
      : bestAndWhole({
          most,
          complete,
          further: [
            through(isWhole('classes'), sql`shortness`, complete.most),
            stepwise(isWhole('steps'), complete.most),
          ],
        })),
  ]
}

/**
 * Returns `best` after `admitted`: the entries with the highest keys, and the shortest of those with all units, which are `complete`. The
 * latter have
 * equal weights, so that their keys order them by length. If `admitted` was cut it may lack some, which are queried. They are one row,
 * since SQLite
 * compiles a table again for each reference.
 *
 * @param further entries with all units, shortest first: of rare combinations, and of frequent ones
 */
const bestAndWhole = ({
  most,
  complete,
  further,
}: Pick<Asked, 'most' | 'complete'> & { further: readonly SQL[] }): SQL[] => [
  sql`chosen AS MATERIALIZED (
    SELECT best, CASE WHEN json_array_length(best) < ${most} OR json_array_length(whole) >= ${complete.most} THEN whole
    ELSE (
      SELECT json_group_array(id) FROM (${sql.join(
        further.map((one) => sql`SELECT id FROM (${one})`),
        sql` UNION ALL `,
      )})
    ) END AS whole
    FROM (
      SELECT json_group_array(id) AS best, json_group_array(id) FILTER (WHERE held = ${complete.held}) AS whole
      FROM (SELECT id, held FROM admitted ORDER BY key DESC, id DESC)
    )
  )`,
  sql`best AS (
    SELECT one.value AS id, max(list.key) AS complete
    FROM chosen CROSS JOIN json_each(json_array(json(chosen.best), json(chosen.whole))) list CROSS JOIN json_each(list.value) one
    WHERE one.key < CASE list.key WHEN 0 THEN ${most} ELSE ${complete.most} END
    GROUP BY one.value
  )`,
]

/** Returns MATCH expressions that only run if the search fits its limits; the table `fits` must precede. */
export const termRows = (expressions: readonly string[]): SQL =>
  sql`json_each(CASE WHEN (SELECT yes FROM fits) THEN ${JSON.stringify(expressions)} ELSE '[]' END)`

/**
 * Returns the number of entries of an expression as `[count, highest ID]`, counted in the order of IDs up to a maximum.
 */
const countOf = (expression: SQL, most: number): SQL =>
  sql`SELECT json_array(count(*), max(id)) FROM (
    SELECT rowid AS id FROM entries_fts WHERE entries_fts MATCH ${expression} ORDER BY rowid LIMIT ${most}
  )`

/** Returns the terms of a query as MATCH expressions, with their counts in the order of IDs. */
export const countedTerms = (expressions: readonly string[], most: number): SQL =>
  sql`SELECT term.key AS place, term.value AS words, (${countOf(sql`term.value`, most)}) AS count
    FROM ${termRows(expressions)} term`

/**
 * Returns `counted`, with frequent terms estimated by the sample, which is queried first: each counted entry is a row of D1.
 */
export function countedBySample(org: string, expressions: readonly string[]): SQL {
  const ofSample = countOf(sql`'scope : "' || ${sampleTerm(org)} || '" AND ' || term.value`, COMMON / SAMPLE)
  const [enough, sample] = [ENOUGH, SAMPLE].map((n) => sql.raw(String(n)))
  return sql`WITH sampled AS MATERIALIZED (
      SELECT term.key AS place, term.value AS words, (${ofSample}) AS count FROM ${termRows(expressions)} term
    )
    SELECT place, words, CASE
      WHEN count ->> 0 >= ${enough} THEN json_array(${sample} * (count ->> 0), count ->> 1)
      ELSE (${countOf(sql`words`, COUNTED_ALL)}) END AS count
    FROM sampled`
}

/** Returns `counted` from known counts, in the order of the expressions. */
export const knownCounts = (expressions: readonly string[], counts: readonly TermCount[]): SQL =>
  sql`SELECT term.key AS place, term.value AS words, json_extract(${JSON.stringify(counts)}, '$[' || term.key || ']') AS count
    FROM ${termRows(expressions)} term`

/** Returns `counted` with the IDs of rare terms. */
const foundIn = (expressions: readonly string[], rare: number): SQL =>
  sql`SELECT term.key AS place, (
      SELECT json_array(count(*), max(id), json(CASE WHEN count(*) <= ${rare} THEN json_group_array(id) END)) FROM (
        SELECT rowid AS id FROM entries_fts WHERE entries_fts MATCH term.value ORDER BY rowid LIMIT ${rare + 1}
      )
    ) AS found
    FROM ${termRows(expressions)} term`

/** Returns tables of the rare words, each with at most this many entries, and their weights. */
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

/**
 * Returns `best` of the entries of those words, after `weighed`. @param admitted condition of scope and filter on an entry `e`
 */
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
