import { type SQL, sql } from 'drizzle-orm'
import type { Analyzer } from '../../domain/analysis'
import type { Expression, Unit } from '../../domain/query'
import type { ScoredTerm } from '../../domain/score'
import type { Clock } from '../../ports/clock'
import { type FullText, SCORED_LENGTH } from '../../ports/full-text'
import { BREVITY, COMMON, COUNTED, estimateEntries, threadOf, toHit } from '../sql/candidates'
import { compileFilter } from '../sql/compile-filter'
import type { Row, SqlConnection } from '../sql/connection'
import { liveThreads, withPrelude } from '../sql/read-statements'
import { listed } from '../sql/visibility'
import { dateWords, scopeExpression } from './full-text-index'

/** Candidates by FTS5. Every term reaches the engine quoted; user text is never FTS5 syntax. */
const CANDIDATES = 200
const COMPLETE_CANDIDATES = 100
const WORD_COLUMNS = '{body context}'

const quote = (term: string): string => `"${term.replaceAll('"', '""')}"`

function unitExpression({ terms, prefix, phrase }: Unit): string {
  const words = quote(terms.join(' ')) + (prefix ? ' *' : '')
  return `${phrase ? 'body' : WORD_COLUMNS} : ${words}`
}

/** FTS5 has no unary NOT, so `NOT x` is everything in the scope except x. */
function matchExpression(expression: Expression, scope: string): string {
  switch (expression.op) {
    case 'unit':
      return unitExpression(expression.unit)
    case 'not':
      return `((${scope}) NOT (${matchExpression(expression.of, scope)}))`
    default:
      return `(${expression.of.map((part) => matchExpression(part, scope)).join(expression.op === 'and' ? ' AND ' : ' OR ')})`
  }
}

export function createD1FullText(connection: SqlConnection, analyzer: Analyzer, clock: Clock): FullText {
  const { dialect } = connection
  return {
    engine: 'fts5',
    language: analyzer.language,
    stemming: analyzer.stemming,

    async search(scope, query, terms, filter) {
      const now = clock.now()
      const wide = scopeExpression(scope, null)
      const confined = scopeExpression(scope, threadOf(filter))
      const within = (expression: Expression) => `${confined} AND ${matchExpression(expression, confined)}`

      const termExpression = ({ term, prefix }: ScoredTerm, inside: string) =>
        `${inside} AND ${WORD_COLUMNS} : ${quote(term)}${prefix ? ' *' : ''}`

      // Candidates are weighed within the scope. `bm25()` would weigh words by how rare they are among the entries of all
      // orgs, and so tell one what the others hold, and read their share of the index for it.
      const inScope = JSON.stringify(terms.map((term) => termExpression(term, confined)))
      const weights = [
        sql`rarity AS MATERIALIZED (SELECT term.value AS words, (SELECT count(*) FROM (SELECT 1 FROM entries_fts WHERE entries_fts MATCH term.value LIMIT ${COMMON})) AS n FROM json_each(${inScope}) term)`,
        sql`weighed AS MATERIALIZED (SELECT entries_fts.rowid AS id, sum(ln(1 + 10.0 * (SELECT max(n) FROM rarity) / rarity.n)) AS weight FROM rarity CROSS JOIN entries_fts WHERE entries_fts MATCH rarity.words GROUP BY entries_fts.rowid)`,
      ]

      /** @param alike whether all that match hold the same words; then only their lengths differ */
      const candidates = (expression: Expression, limit: number, alike: boolean): SQL => {
        const bindings = dialect.bindings()
        const condition = compileFilter(filter, dialect, bindings.bind)
        const next = sql`(SELECT json_group_array(id) FROM (SELECT n.id FROM entries n WHERE ${listed(dialect, scope, now, 'n')} AND n.thread_id = e.thread_id AND n.id > e.id ORDER BY n.id LIMIT 2))`
        const best = sql`best AS (SELECT entries_fts.rowid AS id FROM entries_fts JOIN entries e ON e.id = entries_fts.rowid ${alike ? sql`` : sql`LEFT JOIN weighed ON weighed.id = e.id`} WHERE entries_fts MATCH ${within(expression)} AND ${listed(dialect, scope, now)} AND ${condition} ORDER BY ${alike ? BREVITY : sql`weighed.weight * ${BREVITY}`} DESC, entries_fts.rowid DESC LIMIT ${limit})`
        const context = sql`${dateWords(analyzer, sql`e.created_at`)} || ' ' || coalesce(e.agent, '')`
        return withPrelude(
          bindings,
          alike ? [best] : [...weights, best],
          sql`SELECT e.id, e.thread_id, e.text_words AS words, substr(e.text, 1, ${SCORED_LENGTH}) AS text, ${context} AS context, ${next} AS following FROM best JOIN entries e ON e.id = best.id`,
        )
      }

      const counts = (list: readonly ScoredTerm[]): SQL => {
        const expressions = list.map((term) => termExpression(term, wide))
        return sql`SELECT (SELECT json_array(count(*), max(id)) FROM (SELECT rowid AS id FROM entries_fts WHERE entries_fts MATCH term.value LIMIT ${COUNTED})) AS found FROM json_each(${JSON.stringify(expressions)}) term`
      }

      const expression = query.expression as Expression
      const live = liveThreads({ dialect, scope, now, indexedFields: new Set() })
      const rows = await connection.read([
        candidates(expression, CANDIDATES, expression.op === 'unit'),
        counts(terms),
        sql`WITH ${live} SELECT coalesce(sum(entries), 0) AS entries, coalesce(sum(words), 0) AS words, min(first_id) AS first_id, max(last_id) AS last_id FROM live`,
        ...(query.preferred ? [candidates(query.preferred, COMPLETE_CANDIDATES, true)] : []),
      ])

      const totals = rows[2]?.[0] as Row
      const entries = Number(totals.entries)
      const complete = new Map((rows[3] ?? []).map((row) => [Number(row.id), toHit(row, true)]))
      const others = (rows[0] ?? []).filter((row) => !complete.has(Number(row.id))).map((row) => toHit(row, false))
      return {
        hits: [...complete.values(), ...others],
        statistics: {
          entries,
          averageLength: entries === 0 ? 0 : Number(totals.words) / entries,
          entriesWithTerm: (rows[1] ?? []).map((row) => {
            const [counted, reached] = JSON.parse(row.found as string) as [number, number | null]
            return estimateEntries(
              { counted, reached },
              { firstId: Number(totals.first_id), lastId: Number(totals.last_id), entries },
            )
          }),
        },
      }
    },
  }
}
