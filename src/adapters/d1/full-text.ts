import { type SQL, sql } from 'drizzle-orm'
import type { Analyzer } from '../../domain/analysis'
import type { Expression, Unit } from '../../domain/query-unit'
import type { ScoredTerm } from '../../domain/score'
import type { Clock } from '../../ports/clock'
import { type FullText, SCORED_LENGTH, type TextColumn } from '../../ports/full-text'
import {
  brevity,
  COMMON,
  COUNTED,
  phraseColumns,
  roomOf,
  splitUnits,
  threadOf,
  toSearch,
  type Units,
  unitKey,
} from '../sql/candidates'
import { compileFilter, TRUE } from '../sql/compile-filter'
import type { SqlConnection } from '../sql/connection'
import { textOf } from '../sql/long-texts'
import { momentColumns } from '../sql/moment'
import { withPrelude } from '../sql/read-statements'
import { totalsOf } from '../sql/room'
import { listed } from '../sql/visibility'
import { dateWords, scopeExpression } from './full-text-index'

/** Candidates by FTS5. Every term reaches the engine quoted; user text is never FTS5 syntax. */
const quote = (term: string): string => `"${term.replaceAll('"', '""')}"`

/** Where metadata hold code and the path of a file. */
const CODE_PATHS = ['$.codeBlock.code', '$.fileContext.path'] as const

/** Compiles queries into MATCH expressions, for an index of these words. */
function createCompiler({ stemming }: Analyzer, columns: readonly TextColumn[]) {
  const inAny = (list: readonly string[]) => `{${list.join(' ')}}`
  const anywhere = inAny(columns)
  // Without stems, words stand in the index as they are written anyway.
  const written = stemming ? 'written' : inAny(['body', 'context'])

  function unit({ terms, prefix, phrase }: Unit): string {
    const where = phrase ? inAny(phraseColumns(columns)) : prefix ? written : anywhere
    return `${where} : ${quote(terms.join(' '))}${prefix ? ' *' : ''}`
  }

  /** FTS5 has no unary NOT, so `NOT x` is everything in the scope except x. */
  function match(expression: Expression, scope: string): string {
    switch (expression.op) {
      case 'unit':
        return unit(expression.unit)
      case 'not':
        return `((${scope}) NOT (${match(expression.of, scope)}))`
      default:
        return `(${expression.of.map((part) => match(part, scope)).join(expression.op === 'and' ? ' AND ' : ' OR ')})`
    }
  }

  return {
    term: ({ term, by }: ScoredTerm): string =>
      `${by === 'stem' ? anywhere : written} : ${quote(term)}${by === 'beginning' ? ' *' : ''}`,
    within: (expression: Expression, scope: string): string => `${scope} AND ${match(expression, scope)}`,
  }
}

/** The terms of a query, each as a MATCH expression, and in how many entries it stands, counted in the order of ids. */
const counted = (expressions: readonly string[], most: number): SQL =>
  sql`SELECT term.key AS place, term.value AS words, (
      SELECT json_array(count(*), max(id)) FROM (
        SELECT rowid AS id FROM entries_fts WHERE entries_fts MATCH term.value ORDER BY rowid LIMIT ${most}
      )
    ) AS count
    FROM json_each(${JSON.stringify(expressions)}) term`

export function createD1FullText(connection: SqlConnection, analyzer: Analyzer, clock: Clock): FullText {
  const { dialect } = connection
  return {
    engine: 'fts5',
    language: analyzer.language,
    stemming: analyzer.stemming,

    async search(
      scope,
      {
        query,
        terms,
        filter,
        columns,
        depth,
        units,
        rare,
        moment,
        diaryOf = null,
        totals: counting = true,
        neighbours = true,
      },
    ) {
      const now = clock.now()
      const compiler = createCompiler(analyzer, columns)
      const room = roomOf(filter)
      const wide = scopeExpression(scope, { room })
      const confined = scopeExpression(scope, { room, thread: threadOf(filter) })
      const inside = (where: string) => terms.map((term) => `${where} AND ${compiler.term(term)}`)

      // Candidates are weighed within the scope. `bm25()` would weigh words by how rare they are among the entries of all
      // orgs, and so tell one what the others hold, and read their share of the index for it.
      const counts = sql`counts AS MATERIALIZED (${counted(inside(confined), rare === undefined ? COMMON : rare + 1)})`
      const weights = [
        sql`rarity AS MATERIALIZED (
          SELECT words, CAST(round(1e6 * ln(1 + 10.0 * max(n) OVER () / n)) AS INTEGER) AS weight
          FROM (SELECT words, json_extract(count, '$[0]') AS n FROM counts) WHERE n > 0 AND n <= ${rare ?? COMMON}
        )`,
        sql`weighed AS MATERIALIZED (
          SELECT entries_fts.rowid AS id, sum(rarity.weight) AS weight
          FROM rarity CROSS JOIN entries_fts
          WHERE entries_fts MATCH rarity.words
          GROUP BY entries_fts.rowid
        )`,
      ]

      // Each word of the query once: with its rarity, and as a unit by which an entry is found where it is one.
      const byUnits = (): SQL[] => {
        const { alone, composed } = splitUnits(query.units, terms)
        const parts = JSON.stringify(composed.map((unit) => compiler.within({ op: 'unit', unit }, confined)))
        return [
          sql`rarity AS MATERIALIZED (
            SELECT place, words, CAST(round(1e6 * ln(1 + 10.0 * max(n) OVER () / n)) AS INTEGER) AS weight
            FROM (SELECT place, words, json_extract(count, '$[0]') AS n FROM counts) WHERE n > 0
          )`,
          sql`parts AS MATERIALIZED (
            SELECT words, weight, place IN (SELECT value FROM json_each(${JSON.stringify(alone)})) AS unit FROM rarity
            UNION ALL SELECT value, 0, 1 FROM json_each(${parts})
          )`,
          sql`weighed AS MATERIALIZED (
            SELECT entries_fts.rowid AS id, sum(parts.weight) AS weight, sum(parts.unit) AS held
            FROM parts CROSS JOIN entries_fts
            WHERE entries_fts MATCH parts.words
            GROUP BY entries_fts.rowid
          )`,
        ]
      }

      const shortness = brevity(sql`e.text_words`)
      const code = sql.join(
        CODE_PATHS.map(
          (path) => sql`CASE WHEN json_type(e.metadata, ${path}) = 'text'
            THEN substr(json_extract(e.metadata, ${path}), 1, ${SCORED_LENGTH}) ELSE '' END`,
        ),
        sql` || char(10) || `,
      )
      const next = !neighbours
        ? sql`'[]'`
        : sql`(
          SELECT json_group_array(id) FROM (
            SELECT n.id FROM entries n
            WHERE ${listed(dialect, scope, now, 'n')} AND n.thread_id = e.thread_id AND n.id > e.id
            ORDER BY n.id LIMIT 2
          )
        )`
      const context = sql`${dateWords(analyzer, sql`e.created_at`)} || ' ' || coalesce(e.agent, '')`
      const beside = moment === undefined ? sql`` : sql`, ${momentColumns(dialect, moment)}`
      const columnsOf = sql`e.id, e.thread_id, e.title, e.text_words AS words, substr(${textOf()}, 1, ${SCORED_LENGTH}) AS text,
            ${columns.includes('context') ? context : sql`''`} AS context, ${columns.includes('code') ? code : sql`''`} AS code, e.weight, e.created_at, ${next} AS following,
            (SELECT json_group_array(json(count) ORDER BY place) FROM counts) AS counts${beside}`

      /** Those among the weighed with the highest keys. */
      const bestOf = (tables: readonly SQL[], held: SQL, atLeast: SQL, key: SQL): SQL => {
        const bindings = dialect.bindings()
        const condition = compileFilter(filter, dialect, bindings.bind)
        const best = sql`best AS (
          SELECT weighed.id, ${held} AS held
          FROM weighed CROSS JOIN entries e ON e.id = weighed.id
          WHERE ${atLeast} AND ${listed(dialect, scope, now, 'e', { diaryOf })} AND ${condition}
          ORDER BY ${key} DESC, weighed.id DESC
          LIMIT ${depth.candidates}
        )`
        return withPrelude(
          bindings,
          [counts, ...tables, best],
          sql`SELECT ${columnsOf}, best.held FROM best JOIN entries e ON e.id = best.id`,
        )
      }

      /** Those that hold so many units. */
      const holding = ({ atLeast, first }: Units): SQL => {
        const key = unitKey(first, sql`weighed.held`, sql`weighed.weight`, shortness)
        return bestOf(byUnits(), sql`weighed.held`, sql`weighed.held >= ${atLeast}`, key)
      }

      const withRareTerms = (): SQL => bestOf(weights, sql`0`, TRUE, sql`weighed.weight * ${shortness}`)

      /** @param alike whether all that match hold the same words; then only their lengths differ */
      const candidates = (expression: Expression, limit: number, alike: boolean): SQL => {
        const bindings = dialect.bindings()
        const condition = compileFilter(filter, dialect, bindings.bind)
        const best = sql`best AS (
          SELECT entries_fts.rowid AS id
          FROM entries_fts JOIN entries e ON e.id = entries_fts.rowid
            ${alike ? sql`` : sql`LEFT JOIN weighed ON weighed.id = e.id`}
          WHERE entries_fts MATCH ${compiler.within(expression, confined)}
            AND ${listed(dialect, scope, now, 'e', { diaryOf })} AND ${condition}
          ORDER BY ${alike ? shortness : sql`weighed.weight * ${shortness}`} DESC, entries_fts.rowid DESC
          LIMIT ${limit}
        )`
        return withPrelude(
          bindings,
          alike ? [counts, best] : [counts, ...weights, best],
          sql`SELECT ${columnsOf} FROM best JOIN entries e ON e.id = best.id`,
        )
      }

      const expression = query.expression as Expression
      const [found, totals, preferred, beyond] = await connection.read([
        rare !== undefined
          ? withRareTerms()
          : units
            ? holding(units)
            : candidates(expression, depth.candidates, expression.op === 'unit'),
        totalsOf({ dialect, scope, now }, room, counting, rare === undefined),
        ...(rare !== undefined
          ? []
          : [
              units || query.preferred === null
                ? sql`SELECT 1 WHERE 0`
                : candidates(query.preferred, depth.complete, true),
              // Words weigh what they weigh in the whole scope, also where only one thread is searched.
              wide === confined
                ? sql`SELECT 1 WHERE 0`
                : sql`SELECT json_group_array(json(count) ORDER BY place) AS counts FROM (${counted(inside(wide), COUNTED)})`,
            ]),
      ])
      return toSearch({ found, preferred, totals, beyond: rare === undefined ? beyond : undefined, columns, rare })
    },
  }
}
