// Of entries that weigh the same by their words, the shortest: the index leads to them, so that thousands are not looked at.

import { type SQL, sql } from 'drizzle-orm'
import { BREVITIES, COMMON, COUNTED_ALL, ENOUGH, SAMPLE, type TermCount } from '../sql/tables/search/candidates'
import { lengthTerm, sampleTerm } from '../sql/tables/search/scope-terms'

/**
 * Words of a search that is asked by classes: of three there are seven, of six 63, each a pass over what it has to do with. Under a filter
 * all that they hold may have to be looked through.
 */
const MOST_WORDS = { plain: 6, filtered: 3 } as const

/**
 * Whether so many words may be asked by classes.
 *
 * @param plain whether all that the index brings is admitted as a rule
 */
export const isForClasses = (words: number, plain: boolean): boolean =>
  words > 0 && words <= (plain ? MOST_WORDS.plain : MOST_WORDS.filtered)

/** Entries that weigh the same but for their lengths. */
export interface EntryClass {
  /** Words of the search that each of them holds, as bits by their places. */
  readonly words: number
  /** Units of the query that each of them holds. */
  readonly held: number
  /** A MATCH expression of them, in brackets. */
  readonly match: string
}

/** A class of fewer entries is looked through: that reads no more than to go through it step by step, each step as long as all of them. */
const LOOKED_THROUGH = 200

/** From so many of the sample on a class is taken for one of more. */
const DENSE = Math.ceil(LOOKED_THROUGH / SAMPLE)

/** Of so many, of three words, nobody asks whether they are dense where the index is short: each has 17 steps. */
const FEW_CLASSES = 7

/** Up to so many entries of a scope more classes than that are looked through but where the heaviest is dense. */
const SMALL = 10 * LOOKED_THROUGH

const countOfBits = (bits: number): number => bits.toString(2).replaceAll('0', '').length

/**
 * The entries with any of a few words, each in the one class of those that hold just the same of them.
 *
 * @param words as MATCH expressions, in their order
 * @param confined the part of the scope that is searched, as a MATCH expression
 */
export function classesOf(words: readonly string[], confined: string): EntryClass[] {
  return Array.from({ length: 2 ** words.length - 1 }, (_, i) => {
    const bits = i + 1
    const [present, absent] = [1, 0].map((bit) => words.filter((_, place) => ((bits >> place) & 1) === bit))
    const without = absent?.length ? ` NOT (${absent.join(' OR ')})` : ''
    return { words: bits, held: countOfBits(bits), match: `((${confined} AND ${present?.join(' AND ')})${without})` }
  })
}

/** Words of one expression by which it is told whether it holds in many entries. */
const MOST_BITS = 30

/** Entries that all hold so many words, as one class. @param match a MATCH expression of them */
export const oneClass = (words: number, match: string): EntryClass => ({
  words: 2 ** Math.min(words, MOST_BITS) - 1,
  held: 1,
  match: `(${match})`,
})

/**
 * Each step of length: what stands before and behind the expression of a class, how far it raises a weight, and the expression of the
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
    // Written before lengths stood in the index, which the schedule writes anew: found behind all others until then.
    ['(', ` NOT scope : (${terms.join(' OR ')}))`, least, null],
  ]
}

/**
 * Those steps of which the org has entries, as JSON. An org has few lengths as a rule, and a step that finds nothing seeks all words of its
 * class in each part of the index, for each class. Asked once, and only where a class is gone through by steps.
 */
const stepsThere = (org: string): SQL => sql`(
    SELECT json_group_array(json(step.value)) FROM json_each(${JSON.stringify(stepsOf(org))}) step
    WHERE step.value ->> 3 IS NULL OR EXISTS (SELECT 1 FROM entries_fts WHERE entries_fts MATCH step.value ->> 3)
  )`

/** So many of the sample are some 2,000 entries: as a rule 200 of them are found in the first few steps. */
export const VERY_FREQUENT = 125

/** Whether a class is dense, by the sample. @param match the expression of it @param least from so many of the sample on */
export const isFrequent = (org: string, match: SQL, least = DENSE): SQL => sql`(
    SELECT count(*) >= ${least} FROM (
      SELECT 1 FROM entries_fts WHERE entries_fts MATCH 'scope : "' || ${sampleTerm(org)} || '" AND ' || ${match} LIMIT ${least}
    )
  )`

interface Asked {
  readonly org: string
  readonly classes: readonly EntryClass[]
  /**
   * Whether all that the index brings is admitted as a rule. Of a filter it may be little, so that all steps are gone through, each a
   * pass of 5 ms among 100,000 entries: then a large scope is looked through instead.
   */
  readonly plain: boolean
  /** What scope and filter ask of an entry `e`. */
  readonly admitted: SQL
  readonly shortness: SQL
  /** Entries of all orgs up to which the index is short. */
  readonly short: number
  /** How many are wanted. */
  readonly most: number
  /** How many of those that hold so many units are wanted beside them; 0 for none. */
  readonly complete: { readonly most: number; readonly held: number }
}

/**
 * Tables up to `admitted`, of `id`, `held`, `key` and `shortness`, behind `fits` and `counts`: what the best by their keys are among; and
 * `best`, where those that hold all units are wanted beside them.
 *
 * A class of few is looked through. One of many is gone through step by step, the highest key first, and the newest first within a step,
 * until there are enough. What is as good by its key stands in one step, of whichever class.
 *
 * Words of many need not stand together in many: then each of 17 steps would go through all that the index holds of them, in whatever org,
 * to find next to nothing. So the sample is asked whether a class is dense, where the index is not short; of the heaviest alone where that
 * is, since the others are hardly come to.
 */
export function byLength({ org, classes, plain, admitted, shortness, short, most, complete }: Asked): SQL[] {
  const given = JSON.stringify(classes.map(({ words, held, match }) => [words, held, match]))
  const isCommon = sql`min(sized.n) >= ${LOOKED_THROUGH}`
  const common = plain ? isCommon : sql`${isCommon} AND (SELECT entries FROM held) <= ${2 * COMMON}`
  const dense = (words: SQL): SQL => isFrequent(org, words)
  const isOfFew = classes.length <= FEW_CLASSES
  const isQuick = isOfFew ? sql`(SELECT max(id) FROM entries) <= ${short}` : sql`0`
  /** Each class in a scope of few would be asked of the sample for what it takes to look through it. */
  const isSmall = isOfFew ? sql`0` : sql`(SELECT entries FROM held) <= ${SMALL}`
  const through = (where: SQL, order: SQL, limit: number) => sql`
    SELECT e.id, classes.held, classes.weight * ${shortness} AS key, ${shortness} AS shortness
    FROM classes CROSS JOIN entries_fts CROSS JOIN entries e ON e.id = entries_fts.rowid
    WHERE classes.many = 0 AND ${where} AND entries_fts MATCH classes.words AND ${admitted}
    ORDER BY ${order} DESC, e.id DESC LIMIT ${limit}`
  // Rows come in the order of `steps`, and no more are asked for than it takes.
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
    // None holds a word that stands nowhere.
    sql`weighted AS MATERIALIZED (
      SELECT class.value ->> 1 AS held, class.value ->> 2 AS words, sum(sized.weight) AS weight, ${common} AS common
      FROM sized CROSS JOIN json_each(${given}) class
      WHERE ((class.value ->> 0) >> sized.place) & 1
      GROUP BY class.key HAVING sum(1 << sized.place) = class.value ->> 0
    )`,
    // As one row: SQLite compiles a table anew for each time that it is named, and all that it is made of.
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
 * `best` behind `admitted`: those with the highest keys, and the shortest of those that hold all units, which are `complete`. These weigh
 * the same, so that their keys put them in the order of their lengths. Where `admitted` was cut it may lack some, and they are looked for.
 * One row has them all, since SQLite compiles a table anew for each time that it is named.
 *
 * @param further those that hold all units, the shortest first: of classes of few, and of many
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
