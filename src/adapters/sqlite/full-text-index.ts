import { type SQL, sql } from 'drizzle-orm'
import type { Scope } from '../../domain/identity/scope'
import type { Analyzer } from '../../domain/search/analysis'
import { BREAK, wordsOf } from '../../domain/search/indexed-text'
import type { ReadToIndex, SqlDialect, ToIndex } from '../sql/core/dialect'
import { jsonGroups } from '../sql/core/rows'
import { isSampled, stepOf } from '../sql/tables/search/candidates'
import {
  type Confined,
  entryScopeTerms,
  lengthTerm,
  MONTHS,
  sampleTerm,
  scopeTerms,
} from '../sql/tables/search/scope-terms'

/**
 * Writes the FTS5 table. One column has the terms of the scope: organization (or the one owner who may read), project and thread; every
 * MATCH begins with them.
 */

/** A term outside every scope, which matches nothing. */
export const NOWHERE = 'scope : "0"'

/** Returns a MATCH expression that matches exactly the entries in the scope. */
export function scopeExpression(scope: Scope, confined: Confined = {}): string {
  const { groups, without } = scopeTerms(scope, confined)
  const oneOf = (terms: readonly string[]) => `scope : (${terms.map((term) => `"${term}"`).join(' OR ')})`
  const within = groups.map(oneOf).join(' AND ')
  return without.length === 0 ? within : `((${within}) NOT (${oneOf(without)}))`
}

/** Returns the day of a time in words such as `8 may 2023`; the database decides when an entry was created. */
function dayWords(createdAt: SQL, months: readonly string[]): SQL {
  const part = (format: string) => sql.raw(`strftime('${format}', `).append(sql`${createdAt} / 1000, 'unixepoch')`)
  const names = sql.raw(`'${months.map((month) => month.padEnd(9)).join('')}'`)
  return sql`ltrim(${part('%d')}, '0') || ' ' || rtrim(substr(${names}, ${part('%m')} * 9 - 8, 9)) || ' ' || ${part('%Y')}`
}

/** Returns the day an entry was created as index terms. */
export const dateWords = (analyzer: Analyzer, createdAt: SQL): SQL =>
  dayWords(
    createdAt,
    MONTHS.map((month) => wordsOf(analyzer, month).terms),
  )

/** Columns of the index, except the day. */
const INDEX_COLUMNS = ['scope', 'sample', 'title', 'body', 'code', 'around', 'written', 'written_around'] as const
type Parts<T> = Readonly<Record<(typeof INDEX_COLUMNS)[number], T>>

function partsOf(analyzer: Analyzer, { org, content, indexed }: ToIndex): Parts<string> {
  const agent = wordsOf(analyzer, content.agent ?? '')
  const title = wordsOf(analyzer, content.title ?? '')
  return {
    scope: [...entryScopeTerms(org, content), lengthTerm(org, stepOf(indexed.words))].join(' '),
    sample: ` ${sampleTerm(org)}`,
    title: title.terms,
    body: indexed.terms,
    code: indexed.code,
    around: `${agent.terms} ${indexed.ends}`,
    // Without stemming, the other columns have the words as written.
    written: analyzer.stemming ? `${title.written} ${BREAK} ${indexed.written} ${BREAK} ` : '',
    written_around: analyzer.stemming ? `${agent.written} ${indexed.ends}` : '',
  }
}

/** Inserts index rows. @param from `entries e`, each with its parts */
function insertParts(analyzer: Analyzer, parts: Parts<SQL>, from: SQL): SQL {
  const createdAt = sql`e.created_at`
  const context = sql`${dateWords(analyzer, createdAt)} || ' ' || ${parts.around}`
  const written = analyzer.stemming
    ? sql`${parts.written} || ${dayWords(createdAt, MONTHS)} || ' ' || ${parts.written_around}`
    : sql`''`
  return sql`INSERT OR REPLACE INTO entries_fts (rowid, scope, title, body, code, context, written)
    SELECT e.id, ${parts.scope} || CASE WHEN ${isSampled(sql`e.id`)} THEN ${parts.sample} ELSE '' END,
      ${parts.title}, ${parts.body}, ${parts.code}, ${context}, ${written}
    FROM ${from}`
}

/** Writes the terms of the one entry that `row` selects; no row when the condition matches none. */
export function indexEntry(analyzer: Analyzer, entry: ToIndex, row: SQL): SQL {
  const values = Object.entries(partsOf(analyzer, entry)).map(([name, value]) => [name, sql`${value}`])
  return insertParts(analyzer, Object.fromEntries(values) as Parts<SQL>, sql`entries e WHERE ${row}`)
}

/** Writes the terms of those entries that still have the version read. */
export function indexEntries(analyzer: Analyzer, dialect: SqlDialect, entries: readonly ReadToIndex[]): SQL[] {
  const rows = entries.map((entry) => {
    const parts = partsOf(analyzer, entry)
    return [entry.id, entry.version, ...INDEX_COLUMNS.map((name) => parts[name])]
  })
  const texts = Object.fromEntries(INDEX_COLUMNS.map((name) => [name, 'text'])) as Parts<'text'>
  const columns = { id: 'integer', version: 'integer', ...texts } as const
  const given = Object.fromEntries(INDEX_COLUMNS.map((name) => [name, sql.raw(`given.${name}`)])) as Parts<SQL>
  return jsonGroups(rows).map((json) =>
    insertParts(
      analyzer,
      given,
      sql`${dialect.jsonTable(sql`${json}`, columns)} given
        ${dialect.plan.follow('entries', 'e', sql`e.id = given.id AND e.version = given.version`)}`,
    ),
  )
}
