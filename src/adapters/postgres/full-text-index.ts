// What stands in the full-text index of PostgreSQL? The terms of the shared analysis, written as a tsvector by this code, so
// that no parser of the database cuts words in its own way.
import { type SQL, sql } from 'drizzle-orm'
import type { Analyzer } from '../../domain/analysis'
import type { IndexedContent } from '../../domain/entry'
import { type IndexedText, termsOf } from '../../domain/indexed-text'
import type { Scope } from '../../domain/scope'
import { utf8Length } from '../../domain/text'
import { entryScopeTerms, MONTHS, scopeGroups } from '../sql/scope-terms'

/** A tsvector holds 1 MB of terms and positions; what is beyond is not found, and never makes a write fail. */
const MAX_VECTOR_BYTES = 900_000
const MAX_POSITION = 16_383
const MAX_POSITIONS = 250
/** Bytes of terms in order, from which neighbours are found. */
const MAX_TERM_BYTES = 900_000

/** As many terms as are kept in order, from which neighbours are found. */
function firstTerms(terms: string): string {
  if (terms.length * 3 <= MAX_TERM_BYTES || utf8Length(terms) <= MAX_TERM_BYTES) return terms
  let bytes = 0
  let end = 0
  while (end < terms.length) {
    const code = terms.codePointAt(end) as number
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
    if (bytes > MAX_TERM_BYTES) break
    end += code > 0xffff ? 2 : 1
  }
  return terms.slice(0, terms.lastIndexOf(' ', end))
}

/** Terms hold letters, digits and marks only, so quotes around them are enough. */
function vectorOf(terms: string): string {
  const positions = new Map<string, number[]>()
  let bytes = 0
  let place = 0
  for (const term of terms.split(' ')) {
    if (term === '') continue
    place++
    const known = positions.get(term)
    if (known === undefined) {
      bytes += utf8Length(term) + 6
      if (bytes > MAX_VECTOR_BYTES) break
      positions.set(term, [Math.min(place, MAX_POSITION)])
    } else if (known.length < MAX_POSITIONS && place <= MAX_POSITION && bytes < MAX_VECTOR_BYTES) {
      bytes += 2
      known.push(place)
    }
  }
  return [...positions].map(([term, places]) => `'${term}':${places.join(',')}`).join(' ')
}

/** Scope terms begin with a character that no word has, so that no word, and no beginning of one, is mistaken for them. */
const scopeTerm = (term: string): string => `'/${term}'`

/** A query that every entry in the scope fulfils and no other does. */
export const scopeQuery = (scope: Scope, threadId: string | null): SQL => {
  const groups = scopeGroups(scope, threadId).map((terms) => `(${terms.map(scopeTerm).join(' | ')})`)
  return sql`${groups.join(' & ')}::tsquery`
}

/** The day an entry was made as index terms; only the database knows it for certain. */
export function dateWords(analyzer: Analyzer, createdAt: SQL): SQL {
  const months = MONTHS.map((month) => `'${termsOf(analyzer, month)}'`).join(', ')
  const day = sql`(to_timestamp(${createdAt} / 1000) AT TIME ZONE 'UTC')`
  return sql`(extract(day FROM ${day})::text || ' ' || (ARRAY[${sql.raw(months)}])[extract(month FROM ${day})::integer] || ' ' || extract(year FROM ${day})::text)`
}

/** Writes the terms of the one entry that `row` names; nothing when the condition holds for none. */
export function indexEntry(
  analyzer: Analyzer,
  { org, content, indexed }: { org: string; content: IndexedContent; indexed: IndexedText },
  row: SQL,
): SQL {
  const body = firstTerms(indexed.terms)
  const vector = (words: string, weight: 'A' | 'B') => {
    return sql`setweight(${vectorOf(words)}::tsvector, ${sql.raw(`'${weight}'`)})`
  }

  const scope = sql`${entryScopeTerms(org, content).map(scopeTerm).join(' ')}::tsvector`
  const beside = `${termsOf(analyzer, content.agent ?? '')} ${indexed.ends}`
  const context = sql`${dateWords(analyzer, sql`e.created_at`)} || ' ' || ${beside}::text`
  const contextVector = sql`array_to_tsvector(array_remove(string_to_array(made.context, ' '), ''))`
  const aside = sql`${vector(termsOf(analyzer, content.title ?? ''), 'A')} || ${vector(indexed.code, 'B')}`
  return sql`INSERT INTO entries_fts (entry_id, words, body, context, aside) SELECT made.id, ${scope} || ${vector(body, 'A')} || ${contextVector}, ${body}::text, made.context, ${aside} FROM (SELECT e.id, ${context} AS context FROM entries e WHERE ${row}) AS made ON CONFLICT (entry_id) DO UPDATE SET words = excluded.words, body = excluded.body, context = excluded.context, aside = excluded.aside`
}

/** How many of the entries that a condition on `e` admits stand in the index; to look into their terms would read all of them. */
export const countIndexed = (_: Scope, visible: SQL): SQL =>
  sql`SELECT count(*) AS indexed FROM entries e JOIN entries_fts f ON f.entry_id = e.id WHERE ${visible}`
