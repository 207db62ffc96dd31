import { type SQL, sql } from 'drizzle-orm'
import { type Analyzer, codeOf, runEnds, termText } from '../../domain/analysis'
import type { IndexedContent } from '../../domain/entry'
import type { Scope } from '../../domain/scope'

/**
 * What stands in the FTS5 table, and how a query is confined to what its scope may see: one column holds terms for the
 * org (or the one owner who may read), the project and the thread, and every MATCH begins with them.
 */

/** 53 bits of a string as decimal digits, which no tokenizer changes (cyrb53). A collision costs a row that SQL drops. */
function digits(text: string): string {
  let h1 = 0xdeadbeef
  let h2 = 0x41c6ce57
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    h1 = Math.imul(h1 ^ unit, 2654435761)
    h2 = Math.imul(h2 ^ unit, 1597334677)
  }
  h1 = Math.imul(h1 ^ (h1 >>> 16), 2246822507) ^ Math.imul(h2 ^ (h2 >>> 13), 3266489909)
  h2 = Math.imul(h2 ^ (h2 >>> 16), 2246822507) ^ Math.imul(h1 ^ (h1 >>> 13), 3266489909)
  return String(4294967296 * (2097151 & h2) + (h1 >>> 0))
}

/** The org stands by itself in the term of an owner: who chooses names of owners could make those of two orgs collide. */
const readerTerm = (org: string, reader: string): string =>
  reader === '' ? `o${digits(org)}` : `w${digits(org)}x${digits(`${org}\n${reader}`)}`
const projectTerm = (org: string, project: string | null): string =>
  project === null ? `j${digits(org)}` : `p${digits(`${org}\n${project}`)}`
const threadTerm = (org: string, thread: string): string => `t${digits(`${org}\n${thread}`)}`

/** A MATCH expression that every entry in the scope fulfils and no other does. */
export function scopeExpression(scope: Scope, threadId: string | null): string {
  const readers = scope.owner === null ? [''] : ['', scope.owner]
  const groups = [readers.map((reader) => readerTerm(scope.org, reader))]
  if (scope.projects !== null) groups.push([null, ...scope.projects].map((project) => projectTerm(scope.org, project)))
  if (threadId !== null) groups.push([threadTerm(scope.org, threadId)])
  return groups.map((terms) => `scope : (${terms.map((term) => `"${term}"`).join(' OR ')})`).join(' AND ')
}

const MONTHS = 'january february march april may june july august september october november december'.split(' ')

/** The day an entry was made as index terms, in words such as `8 may 2023`; only the database knows it for certain. */
export function dateWords(analyzer: Analyzer, createdAt: SQL): SQL {
  const months = MONTHS.map((month) => termText(analyzer.tokenize(month)).padEnd(9)).join('')
  const part = (format: string) => sql.raw(`strftime('${format}', `).append(sql`${createdAt} / 1000, 'unixepoch')`)
  return sql`ltrim(${part('%d')}, '0') || ' ' || rtrim(substr(${sql.raw(`'${months}'`)}, ${part('%m')} * 9 - 8, 9)) || ' ' || ${part('%Y')}`
}

/** Writes the terms of the one entry that `row` names; nothing when the condition holds for none. */
export function indexEntry(analyzer: Analyzer, org: string, content: IndexedContent, row: SQL): SQL {
  const terms = (text: string, maxBytes?: number) => termText(analyzer.tokenize(text), maxBytes)
  const scope = [
    readerTerm(org, content.reader),
    projectTerm(org, content.project),
    threadTerm(org, content.threadId),
  ].join(' ')
  const beside = `${terms(content.agent ?? '')} ${runEnds(content.text)}`
  return sql`INSERT OR REPLACE INTO entries_fts (rowid, scope, title, body, code, context) SELECT e.id, ${scope}, ${terms(content.title ?? '')}, ${terms(content.text)}, ${terms(codeOf(content.text), 200_000)}, ${dateWords(analyzer, sql`e.created_at`)} || ' ' || ${beside} FROM entries e WHERE ${row}`
}

/** How many of the entries that a condition on `e` admits stand in the index. */
export const countIndexed = (scope: Scope, visible: SQL): SQL =>
  sql`SELECT count(*) AS indexed FROM entries_fts JOIN entries e ON e.id = entries_fts.rowid WHERE entries_fts MATCH ${scopeExpression(scope, null)} AND ${visible}`
