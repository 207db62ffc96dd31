// Which entries does a full-text query mean? Candidates by GIN, and counts with them.
//
// The planner may know nothing of these tables, for instance when a batch has just filled them: then it expects a word in a
// handful of entries. So the order of things is written down: what the index finds is made first (MATERIALIZED), gathered by
// grouping and never by joining, and rows are looked up one by one from there (LATERAL), best first, until there are enough.

import { type SQL, sql } from 'drizzle-orm'
import type { Analyzer } from '../../domain/search/analysis'
import type { ScoredTerm } from '../../domain/search/score'
import type { Clock } from '../../ports/clock'
import { type FullText, SCORED_LENGTH } from '../../ports/full-text'
import { Batch } from '../sql/core/batch'
import { compileFilter } from '../sql/core/compile-filter'
import type { SqlConnection } from '../sql/core/connection'
import { asRows } from '../sql/core/rows'
import { listed, type Sight } from '../sql/core/visibility'
import { momentColumns } from '../sql/tables/memories/moment'
import { brevity, COMMON, COUNTED, isSampled, MANY, SAMPLE } from '../sql/tables/search/candidate-rules'
import { isForFewWords, isOfPlace, placeOf, searchesBy, toSearch } from '../sql/tables/search/candidates'
import { totalsOf } from '../sql/tables/search/scope-totals'
import { beginningOf } from '../sql/tables/texts/long-texts'
import { bestByUnits } from './best-by-units'
import { dateWords, scopeQuery } from './full-text-index'
import { countedOf, eachTerm, idsFound, NO_TERM, rankedTables, termsOf } from './ranked-tables'
import { CODE_COLUMNS, createStanding } from './standing'
import { createTextCompiler, type TextCompiler } from './text-query'

const keyOf = (weight: SQL): SQL => sql`${weight} * ${brevity(sql`length`)}`
const [KEY, NEXT_KEY] = [keyOf(sql`weight`), keyOf(sql`next`)] as const

/** As `countsOf`, of terms that are counted no further than this. */
const rareCounts = (terms: number, rare: number): SQL => sql`(
    SELECT jsonb_agg(
      jsonb_build_array(CASE WHEN place IN (SELECT term FROM common) THEN ${rare + 1} ELSE
        (SELECT count(*) FROM found WHERE found.term = place) END, NULL)
      ORDER BY place
    )::text
    FROM generate_series(0, ${terms - 1}::integer) AS place
  )`

/**
 * `counts`: a JSON array with the count of each term, as `[how many, the highest id among them]`, counted in the order of ids
 * up to a cap. Only the rows of a term that reaches the cap are sorted; of others no id is wanted.
 *
 * @param reached the rows of `every`, of `id`, that were gone through when the cap was reached
 */
const countsOf = (most: number, idsOf: (term: SQL) => SQL, reached: SQL): SQL => sql`(
    SELECT coalesce(jsonb_agg(jsonb_build_array(least(counted.n, ${most}), CASE WHEN counted.n >= ${most} THEN
        (SELECT max(id) FROM (SELECT id FROM (${idsOf(sql`counted.term`)}) AS every ${reached}) AS first)
      END) ORDER BY counted.term), '[]')::text
    FROM counted
  )`
const OF_SAMPLE = sql`WHERE ${isSampled(sql`id`)} ORDER BY id LIMIT ${COMMON / SAMPLE}`

/** Of newest entries so many are read, before an index is asked for each of the terms. */
const LATELY = 256

/** Ids of newest entries, of a room its own; in the order of the index that begins with the org (`rangeOf` of the dialect). */
const newest = (org: string, project: string | null): SQL =>
  project === null
    ? sql`SELECT e.id FROM entries e WHERE e.listed = 1 AND e.org BETWEEN ${org} AND ${org}
        ORDER BY e.org, e.id DESC LIMIT ${LATELY}`
    : sql`SELECT e.id FROM entries e WHERE e.listed = 1 AND e.org = ${org} AND e.project = ${project} AND e.layer = 2
        ORDER BY e.created_at DESC, e.id DESC LIMIT ${LATELY}`

/**
 * `ranked`: the entries with terms that stand in few, by how rare and how many those are. What stands in many of the newest entries alone
 * does not, which spares the index to walk all of its entries.
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
      SELECT 1 FROM lately AS f WHERE f.words @@ terms.query AND ${compiler.among(sql`terms.word`)} LIMIT ${rare + 1}
    ) AS held)
  )`,
  sql`found AS MATERIALIZED (
    SELECT terms.term, f.entry_id AS id, f.length
    FROM terms CROSS JOIN LATERAL (
      SELECT * FROM entries_fts f WHERE f.words @@ terms.query AND ${compiler.among(sql`terms.word`)} LIMIT ${rare + 1}
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

/** @param many from how many on the few words that tell most choose */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createPostgresFullText(
  connection: SqlConnection,
  analyzer: Analyzer,
  clock: Clock,
  many = MANY,
): FullText {
  const { dialect } = connection
  return {
    engine: 'tsvector',
    language: analyzer.language,
    stemming: analyzer.stemming,
    standing: createStanding(connection, analyzer, clock),

    ...searchesBy(async (scope, request) => {
      const {
        query,
        terms,
        filter,
        columns,
        depth,
        units,
        rare,
        moment,
        diaryOf = null,
        captured = false,
        totals: counting = true,
      } = request
      const neighbours = units === undefined && rare === undefined
      const now = clock.now()
      const sight: Sight = { diaryOf, captured: captured ? 'alone' : null }
      const compiler = createTextCompiler(analyzer, columns)
      const place = { ...placeOf(filter), captured }
      const { thread, projectScope: project } = place
      const confined = scopeQuery(scope, place)

      const admitted = () =>
        sql`${listed(dialect, scope, now, 'e', sight)} AND ${compileFilter(filter, dialect, dialect.bindings().bind)}`
      /** The best that the filter admits. Rows are looked up in this order, and no more of them than it takes. */
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
      const byUnits = units && !isFew ? bestByUnits(request, compiler, confined, bestOf) : null
      const first = bestOf(isFew ? sql`ranked WHERE weight > 0` : sql`ranked`, KEY, depth.candidates)
      // Those of the next words, where the others are too few.
      const isLacking = sql`(SELECT count(*) FROM first) < ${depth.candidates}`
      const following = sql`(SELECT id, length, next, next_held AS held FROM ranked WHERE next > 0 AND ${isLacking}) AS following`
      const further = bestOf(following, NEXT_KEY, depth.candidates)
      const byFew = sql`SELECT DISTINCT ON (id) id, held, key, part FROM (
          SELECT *, 0 AS part FROM first UNION ALL SELECT *, 1 FROM (${further}) AS further
        ) AS every ORDER BY id, part`
      const others = isFew ? placed(byFew, false, sql`few.part, `) : placed(byUnits?.few ?? first, false)
      const chosen =
        units || rare !== undefined || query.preferred === null
          ? others
          : sql`${others} UNION ALL ${placed(bestOf(sql`ranked WHERE complete`, brevity(sql`length`), depth.complete), true)}`
      const next = !neighbours
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
        ...(moment === undefined ? [] : [sql`, ${momentColumns(dialect, moment)}`]),
      ]
      const tables =
        byUnits?.tables ??
        (rare === undefined
          ? rankedTables(request, compiler, confined, { many, admitted: isOfPlace(filter) ? null : admitted() })
          : rareTables(terms, rare, compiler, confined, newest(scope.org, project)))
      const counts =
        rare === undefined ? countsOf(COMMON, byUnits?.idsOf ?? idsFound, OF_SAMPLE) : rareCounts(terms.length, rare)
      const all = isFew ? [...tables, sql`first AS MATERIALIZED (${first})`] : tables
      const few = isFew ? sql`, (SELECT few FROM many) AS few` : sql``
      const candidates = sql`WITH ${sql.join(all, sql`, `)},
        best AS MATERIALIZED (${chosen})
        SELECT e.*, best.complete, best.held, best.place, CASE WHEN best.place = 1 THEN ${counts} END AS counts${few}
        FROM best CROSS JOIN LATERAL (
          SELECT e.id, e.title, e.text_words, ${beginningOf(dialect, SCORED_LENGTH)} AS text,
            e.weight, e.layer, e.created_at, ${next} AS following${sql.join(wanted)}
          FROM entries e WHERE e.id = best.id
          OFFSET 0
        ) AS e`

      const batch = new Batch()
      const best = batch.add(candidates, asRows)
      const totals = batch.add(totalsOf({ dialect, scope, now }, place, counting, rare === undefined), asRows)
      const beyond =
        // Words weigh what they weigh in the whole scope, also where only one thread is searched.
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
