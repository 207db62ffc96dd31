import { type SQL, sql } from 'drizzle-orm'
import type { Analyzer } from '../../domain/analysis'
import type { IndexedContent } from '../../domain/entry'
import { type IndexedText, termsOf } from '../../domain/indexed-text'
import type { Scope } from '../../domain/scope'
import { entryScopeTerms, MONTHS, scopeGroups } from '../sql/scope-terms'

/**
 * What stands in the FTS5 table, and how a query is confined to what its scope may see: one column holds terms for the
 * org (or the one owner who may read), the project and the thread, and every MATCH begins with them.
 */

/** A MATCH expression that every entry in the scope fulfils and no other does. */
export function scopeExpression(scope: Scope, threadId: string | null): string {
  const groups = scopeGroups(scope, threadId)
  return groups.map((terms) => `scope : (${terms.map((term) => `"${term}"`).join(' OR ')})`).join(' AND ')
}

/** The day an entry was made as index terms, in words such as `8 may 2023`; only the database knows it for certain. */
export function dateWords(analyzer: Analyzer, createdAt: SQL): SQL {
  const months = MONTHS.map((month) => termsOf(analyzer, month).padEnd(9)).join('')
  const part = (format: string) => sql.raw(`strftime('${format}', `).append(sql`${createdAt} / 1000, 'unixepoch')`)
  return sql`ltrim(${part('%d')}, '0') || ' ' || rtrim(substr(${sql.raw(`'${months}'`)}, ${part('%m')} * 9 - 8, 9)) || ' ' || ${part('%Y')}`
}

/** Writes the terms of the one entry that `row` names; nothing when the condition holds for none. */
export function indexEntry(
  analyzer: Analyzer,
  { org, content, indexed }: { org: string; content: IndexedContent; indexed: IndexedText },
  row: SQL,
): SQL {
  const scope = entryScopeTerms(org, content).join(' ')
  const title = termsOf(analyzer, content.title ?? '')
  const beside = `${termsOf(analyzer, content.agent ?? '')} ${indexed.ends}`
  return sql`INSERT OR REPLACE INTO entries_fts (rowid, scope, title, body, code, context) SELECT e.id, ${scope}, ${title}, ${indexed.terms}, ${indexed.code}, ${dateWords(analyzer, sql`e.created_at`)} || ' ' || ${beside} FROM entries e WHERE ${row}`
}

/** How many of the entries that a condition on `e` admits stand in the index. */
export const countIndexed = (scope: Scope, visible: SQL): SQL =>
  sql`SELECT count(*) AS indexed FROM entries_fts JOIN entries e ON e.id = entries_fts.rowid WHERE entries_fts MATCH ${scopeExpression(scope, null)} AND ${visible}`
