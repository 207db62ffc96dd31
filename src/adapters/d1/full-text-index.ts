import { type SQL, sql } from 'drizzle-orm'
import type { Analyzer } from '../../domain/analysis'
import type { IndexedContent } from '../../domain/entry'
import { BREAK, type IndexedText, wordsOf } from '../../domain/indexed-text'
import type { Scope } from '../../domain/scope'
import { type Confined, entryScopeTerms, MONTHS, scopeGroups } from '../sql/scope-terms'

/**
 * What stands in the FTS5 table, and how a query is confined to what its scope may see: one column holds terms for the
 * org (or the one owner who may read), the project and the thread, and every MATCH begins with them.
 */

/** A MATCH expression that every entry in the scope fulfils and no other does. */
export function scopeExpression(scope: Scope, confined: Confined = {}): string {
  const groups = scopeGroups(scope, confined)
  return groups.map((terms) => `scope : (${terms.map((term) => `"${term}"`).join(' OR ')})`).join(' AND ')
}

/** The day of an instant in words such as `8 may 2023`; only the database knows for certain when an entry was made. */
function dayWords(createdAt: SQL, months: readonly string[]): SQL {
  const part = (format: string) => sql.raw(`strftime('${format}', `).append(sql`${createdAt} / 1000, 'unixepoch')`)
  const names = sql.raw(`'${months.map((month) => month.padEnd(9)).join('')}'`)
  return sql`ltrim(${part('%d')}, '0') || ' ' || rtrim(substr(${names}, ${part('%m')} * 9 - 8, 9)) || ' ' || ${part('%Y')}`
}

/** The day an entry was made as index terms. */
export const dateWords = (analyzer: Analyzer, createdAt: SQL): SQL =>
  dayWords(
    createdAt,
    MONTHS.map((month) => wordsOf(analyzer, month).terms),
  )

/** Writes the terms of the one entry that `row` names; nothing when the condition holds for none. */
export function indexEntry(
  analyzer: Analyzer,
  { org, content, indexed }: { org: string; content: IndexedContent; indexed: IndexedText },
  row: SQL,
): SQL {
  const createdAt = sql`e.created_at`
  const scope = entryScopeTerms(org, content).join(' ')
  const title = wordsOf(analyzer, content.title ?? '').terms
  const agent = wordsOf(analyzer, content.agent ?? '')
  const context = sql`${dateWords(analyzer, createdAt)} || ' ' || ${`${agent.terms} ${indexed.ends}`}`
  // Without stems, words stand in body and context as they are written.
  const written = analyzer.stemming
    ? sql`${`${indexed.written} ${BREAK} `} || ${dayWords(createdAt, MONTHS)} || ' ' || ${`${agent.written} ${indexed.ends}`}`
    : sql`''`
  return sql`INSERT OR REPLACE INTO entries_fts (rowid, scope, title, body, code, context, written)
    SELECT e.id, ${scope}, ${title}, ${indexed.terms}, ${indexed.code}, ${context}, ${written}
    FROM entries e WHERE ${row}`
}

/** How many of the entries that a condition on `e` admits stand in the index. */
export const countIndexed = (scope: Scope, visible: SQL): SQL =>
  sql`SELECT count(*) AS indexed FROM entries_fts
    JOIN entries e ON e.id = entries_fts.rowid
    WHERE entries_fts MATCH ${scopeExpression(scope)} AND ${visible}`
