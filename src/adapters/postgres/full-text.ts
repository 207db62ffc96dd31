// Which entries does a full-text query mean? Candidates by GIN; every term reaches the engine as a term, never as syntax.
import { type SQL, sql } from 'drizzle-orm'
import type { Analyzer } from '../../domain/analysis'
import type { Expression, Unit } from '../../domain/query'
import type { ScoredTerm } from '../../domain/score'
import type { Clock } from '../../ports/clock'
import { type FullText, SCORED_LENGTH } from '../../ports/full-text'
import { BREVITY, COMMON, COUNTED, estimateEntries, threadOf, toHit } from '../sql/candidates'
import { compileFilter, joinConditions } from '../sql/compile-filter'
import type { Row, SqlConnection } from '../sql/connection'
import { liveThreads } from '../sql/read-statements'
import { listed } from '../sql/visibility'
import { dateWords, scopeQuery } from './full-text-index'

const CANDIDATES = 200
const COMPLETE_CANDIDATES = 100

/** Whether the index alone cannot tell: it knows which terms an entry has, not where, and not whether date or text. */
const needsLook = ({ terms, phrase }: Unit): boolean => phrase || terms.length > 1

const someNeedLook = (expression: Expression): boolean =>
  expression.op === 'unit'
    ? needsLook(expression.unit)
    : expression.op === 'not'
      ? someNeedLook(expression.of)
      : expression.of.some(someNeedLook)

const joined = (parts: readonly SQL[], operator: '&&' | '||'): SQL =>
  sql`(${sql.join([...parts], sql.raw(` ${operator} `))})`

function createCompiler() {
  const term = (given: string, prefix: boolean): SQL => sql`${`'${given}'${prefix ? ':*' : ''}`}::tsquery`

  const termsOf = ({ terms, prefix }: Unit): SQL[] =>
    terms.map((word, i) => term(word, prefix && i === terms.length - 1))

  /** What the index is asked: fulfilled by every entry that is meant, and by some that are not where a look is needed. */
  function candidateQuery(expression: Expression, everything: SQL): SQL {
    switch (expression.op) {
      case 'unit':
        return joined(termsOf(expression.unit), '&&')
      case 'not':
        return someNeedLook(expression.of) ? everything : sql`(!! ${candidateQuery(expression.of, everything)})`
      default:
        return joined(
          expression.of.map((part) => candidateQuery(part, everything)),
          expression.op === 'and' ? '&&' : '||',
        )
    }
  }

  /** Whether the terms stand next to each other: in the text, or for words without quotes in date and agent. */
  function look({ terms, prefix, phrase }: Unit): SQL {
    const words = sql`${terms.join(' ')}::text`
    const wanted = sql`' ' || ${words} || ${sql.raw(prefix ? `''` : `' '`)}`
    const stands = (column: SQL) => sql`strpos(' ' || ${column} || ' ', ${wanted}) > 0`
    return phrase ? stands(sql`f.body`) : sql`(${stands(sql`f.body`)} OR ${stands(sql`f.context`)})`
  }

  function exactCondition(expression: Expression): SQL {
    switch (expression.op) {
      case 'unit':
        return needsLook(expression.unit)
          ? look(expression.unit)
          : sql`f.words @@ ${joined(termsOf(expression.unit), '&&')}`
      case 'not':
        return sql`(NOT ${exactCondition(expression.of)})`
      default:
        return joinConditions(expression.op, expression.of.map(exactCondition))
    }
  }

  return {
    term,
    condition: (expression: Expression, within: SQL): SQL => {
      const found = sql`f.words @@ (${within} && ${candidateQuery(expression, within)})`
      return someNeedLook(expression) ? sql`${found} AND ${exactCondition(expression)}` : found
    },
  }
}

export function createPostgresFullText(connection: SqlConnection, analyzer: Analyzer, clock: Clock): FullText {
  const { dialect } = connection
  const compiler = createCompiler()
  return {
    engine: 'tsvector',
    language: analyzer.language,
    stemming: analyzer.stemming,

    async search(scope, query, terms, filter) {
      const now = clock.now()
      const wide = scopeQuery(scope, null)
      const confined = scopeQuery(scope, threadOf(filter))

      // Candidates are weighed as in D1, by the words they hold and how rare those are within the scope: `ts_rank()` knows
      // nothing of rarity, and reads the whole tsvector of every entry that it ranks.
      const matching = terms.map(
        ({ term, prefix }, i) =>
          sql`SELECT ${sql.raw(String(i))} AS term, f.entry_id AS id FROM entries_fts f WHERE f.words @@ (${confined} && ${compiler.term(term, prefix)})`,
      )
      const weights = [
        sql`found AS MATERIALIZED (${matching.length === 0 ? sql`SELECT 0 AS term, 0::bigint AS id WHERE false` : sql.join(matching, sql` UNION ALL `)})`,
        sql`rarity AS MATERIALIZED (SELECT term, ln(1 + 10.0::double precision * max(least(count(*), ${COMMON})) OVER () / least(count(*), ${COMMON})) AS weight FROM found GROUP BY term)`,
        sql`weighed AS MATERIALIZED (SELECT found.id, sum(rarity.weight ORDER BY found.term) AS weight FROM found JOIN rarity ON rarity.term = found.term GROUP BY found.id)`,
      ]

      /** @param alike whether all that match hold the same words; then only their lengths differ */
      const candidates = (expression: Expression, limit: number, alike: boolean): SQL => {
        const condition = compileFilter(filter, dialect, dialect.bindings().bind)
        const next = sql`coalesce((SELECT jsonb_agg(n.id ORDER BY n.id) FROM (SELECT n.id FROM entries n WHERE ${listed(dialect, scope, now, 'n')} AND n.thread_id = e.thread_id AND n.id > e.id ORDER BY n.id LIMIT 2) n), '[]')::text`
        const best = sql`best AS (SELECT f.entry_id AS id FROM entries_fts f JOIN entries e ON e.id = f.entry_id ${alike ? sql`` : sql`LEFT JOIN weighed ON weighed.id = e.id`} WHERE ${compiler.condition(expression, confined)} AND ${listed(dialect, scope, now)} AND ${condition} ORDER BY ${alike ? BREVITY : sql`weighed.weight * ${BREVITY}`} DESC NULLS LAST, f.entry_id DESC LIMIT ${limit})`
        const context = sql`${dateWords(analyzer, sql`e.created_at`)} || ' ' || coalesce(e.agent, '')`
        return sql`WITH ${sql.join(alike ? [best] : [...weights, best], sql`, `)} SELECT e.id, e.thread_id, e.text_words AS words, substr(e.text, 1, ${SCORED_LENGTH}) AS text, ${context} AS context, ${next} AS following FROM best JOIN entries e ON e.id = best.id`
      }

      const counts = (list: readonly ScoredTerm[]): SQL => {
        const each = list.map(({ term, prefix }, i) => {
          const found = sql`SELECT f.entry_id AS id FROM entries_fts f WHERE f.words @@ (${wide} && ${compiler.term(term, prefix)}) LIMIT ${COUNTED}`
          return sql`SELECT ${sql.raw(String(i))} AS place, count(*) AS counted, max(id) AS reached FROM (${found}) AS found`
        })
        return each.length === 0
          ? sql`SELECT 1 WHERE false`
          : sql`SELECT * FROM (${sql.join(each, sql` UNION ALL `)}) AS terms ORDER BY place`
      }

      const expression = query.expression as Expression
      const live = liveThreads({ dialect, scope, now, indexedFields: new Set() })
      const statements = [
        candidates(expression, CANDIDATES, expression.op === 'unit'),
        counts(terms),
        sql`WITH ${live} SELECT coalesce(sum(entries), 0) AS entries, coalesce(sum(words), 0) AS words, min(first_id) AS first_id, max(last_id) AS last_id FROM live`,
        query.preferred === null ? sql`SELECT 1 WHERE false` : candidates(query.preferred, COMPLETE_CANDIDATES, true),
      ]
      const [found, counted, sums, preferred] = await connection.read(statements)

      const totals = sums?.[0] as Row
      const entries = Number(totals.entries)
      const complete = new Map((preferred ?? []).map((row) => [Number(row.id), toHit(row, true)]))
      const others = (found ?? []).filter((row) => !complete.has(Number(row.id))).map((row) => toHit(row, false))
      return {
        hits: [...complete.values(), ...others],
        statistics: {
          entries,
          averageLength: entries === 0 ? 0 : Number(totals.words) / entries,
          entriesWithTerm: (counted ?? []).map((row) =>
            estimateEntries(
              { counted: Number(row.counted), reached: row.reached === null ? null : Number(row.reached) },
              { firstId: Number(totals.first_id), lastId: Number(totals.last_id), entries },
            ),
          ),
        },
      }
    },
  }
}
