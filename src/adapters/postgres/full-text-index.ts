// Writes the full-text index of PostgreSQL: the terms of the shared analysis as a tsvector, without a text search parser of the database.

import { type SQL, sql } from 'drizzle-orm'
import type { Scope } from '../../domain/identity/scope'
import type { Analyzer } from '../../domain/search/analysis'
import { BREAK, type IndexedText, wordsOf } from '../../domain/search/indexed-text'
import { utf8Length } from '../../domain/text'
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
 * Prefixes of terms. One tsvector holds everything, so that a query needs one lookup in a GIN index. A term without a prefix is a stem of
 * body or context; the others start with a character that no word contains, so that they match neither words nor prefix searches. Weight A
 * marks a stem that occurs in the text as a word, which prefix searches rely on; words that differ from their stem are stored in addition.
 */
export const MARK = { scope: '/', title: '^', code: '#', written: '=' } as const

/** Maximum bytes of a tsvector, which PostgreSQL limits to 1 MB. Further terms are not indexed; the write succeeds. */
const MAX_VECTOR_BYTES = 900_000
/** Bytes that a tsvector needs for a term in addition to its letters. */
const TERM_BYTES = 10
/** Maximum bytes of the ordered terms, by which phrases are found. */
const MAX_TERM_BYTES = 900_000

/** Returns the ordered terms up to the maximum. */
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

type Words = Pick<IndexedText, 'terms' | 'written'>

const listOf = (terms: string): string[] => terms.split(' ').filter((term) => term !== '')

/** Collects a tsvector. Terms consist of letters, digits and prefixes, so quoting them is enough. */
function createVector() {
  const weights = new Map<string, 'A' | ''>()
  let bytes = 0
  const add = (term: string, weight: 'A' | '' = ''): void => {
    const known = weights.get(term)
    if (known === undefined) {
      bytes += utf8Length(term) + TERM_BYTES
      if (bytes > MAX_VECTOR_BYTES) return
      weights.set(term, weight)
    } else if (weight === 'A') weights.set(term, weight)
  }
  return {
    add,
    /** Adds terms with a prefix before each. */
    addTerms: (terms: string, mark: string): void => {
      for (const term of listOf(terms)) add(`${mark}${term}`)
    },
    addWords: ({ terms, written }: Words): void => {
      const words = listOf(written)
      for (const [i, term] of listOf(terms).entries()) {
        add(term, term === words[i] ? 'A' : '')
        if (term !== words[i]) add(`${MARK.written}${words[i]}`)
      }
    },
    toString: () => [...weights].map(([term, weight]) => `'${term}':1${weight}`).join(' '),
  }
}

const vectorOf = (words: Words): string => {
  const vector = createVector()
  vector.addWords(words)
  return vector.toString()
}

/** Returns a scope term in the syntax of a `tsquery`. */
export const scopeTerm = (term: string): string => `'${MARK.scope}${term}'`

/** Returns a query that matches exactly the entries in the scope. */
export const scopeQuery = (scope: Scope, confined: Confined): SQL => {
  const { groups, without } = scopeTerms(scope, confined)
  const all = [
    ...groups.map((terms) => `(${terms.map(scopeTerm).join(' | ')})`),
    ...without.map((term) => `!${scopeTerm(term)}`),
  ]
  return sql`${all.join(' & ')}::tsquery`
}

/** Returns the day, month and year of a timestamp; the database decides when an entry was created. */
const dayOf = (createdAt: SQL): SQL => sql`(to_timestamp(${createdAt} / 1000) AT TIME ZONE 'UTC')`
const nameOf = (day: SQL, names: readonly string[]): SQL => {
  const list = names.map((name) => `'${name.replaceAll("'", "''")}'`).join(', ')
  return sql`(ARRAY[${sql.raw(list)}])[extract(month FROM ${day})::integer]`
}
const dayWords = (createdAt: SQL, months: readonly string[]): SQL => {
  const day = dayOf(createdAt)
  return sql`(extract(day FROM ${day})::text || ' ' || ${nameOf(day, months)} || ' ' || extract(year FROM ${day})::text)`
}

const monthsOf = (analyzer: Analyzer): readonly Words[] => MONTHS.map((month) => wordsOf(analyzer, month))

/** Returns the day an entry was created as index terms. */
export const dateWords = (analyzer: Analyzer, createdAt: SQL): SQL =>
  dayWords(
    createdAt,
    monthsOf(analyzer).map(({ terms }) => terms),
  )

function dateVector(analyzer: Analyzer, createdAt: SQL): SQL {
  const day = dayOf(createdAt)
  const number = (part: 'day' | 'year') => sql`'''' || extract(${sql.raw(part)} FROM ${day})::text || ''':1A'`
  const month = nameOf(day, monthsOf(analyzer).map(vectorOf))
  return sql`(${number('day')} || ' ' || ${month} || ' ' || ${number('year')})::tsvector`
}

/** Columns of the index, except the day. */
const INDEX_COLUMNS = ['vector', 'sample', 'body', 'around', 'title', 'code', 'written', 'written_around'] as const
type Parts<T> = Readonly<Record<(typeof INDEX_COLUMNS)[number], T>>

function partsOf(analyzer: Analyzer, { org, content, indexed }: ToIndex): Parts<string> {
  const title = wordsOf(analyzer, content.title ?? '')
  const agent = wordsOf(analyzer, content.agent ?? '')
  const ends = { terms: indexed.ends, written: indexed.ends }

  const vector = createVector()
  vector.addTerms([...entryScopeTerms(org, content), lengthTerm(org, stepOf(indexed.words))].join(' '), MARK.scope)
  for (const words of [agent, ends]) vector.addWords(words)
  vector.addTerms(title.terms, MARK.title)
  vector.addTerms(title.written, MARK.written)
  vector.addWords(indexed)
  vector.addTerms(indexed.code, MARK.code)
  return {
    vector: vector.toString(),
    sample: `${scopeTerm(sampleTerm(org))}:1`,
    body: firstTerms(indexed.terms),
    around: `${agent.terms} ${indexed.ends}`,
    title: title.terms,
    code: indexed.code,
    // Without stemming, the other columns hold the words as written.
    written: analyzer.stemming ? `${title.written} ${BREAK} ${firstTerms(indexed.written)} ${BREAK} ` : '',
    written_around: analyzer.stemming ? `${agent.written} ${indexed.ends}` : '',
  }
}

/** Inserts index rows. @param from `entries e` joined with its parts, up to the end of the conditions */
function insertParts(analyzer: Analyzer, parts: Parts<SQL>, length: SQL, from: SQL): SQL {
  const createdAt = sql`e.created_at`
  const context = sql`${dateWords(analyzer, createdAt)} || ' ' || ${parts.around}::text`
  const written = analyzer.stemming
    ? sql`${parts.written}::text || ${dayWords(createdAt, MONTHS)} || ' ' || ${parts.written_around}::text`
    : sql`NULL`
  return sql`INSERT INTO entries_fts (entry_id, length, words, body, context, title, code, written)
    SELECT e.id, ${length}, ${parts.vector}::tsvector || ${dateVector(analyzer, createdAt)}
        || CASE WHEN ${isSampled(sql`e.id`)} THEN ${parts.sample}::tsvector ELSE ''::tsvector END,
      ${parts.body}, ${context}, ${parts.title}, ${parts.code}, ${written}
    FROM ${from}
    ON CONFLICT (entry_id) DO UPDATE SET length = excluded.length, words = excluded.words, body = excluded.body,
      context = excluded.context, title = excluded.title, code = excluded.code, written = excluded.written`
}

/** Writes the terms of the entry that `row` selects; no row when the condition matches none. */
export function indexEntry(analyzer: Analyzer, entry: ToIndex, row: SQL): SQL {
  const values = Object.entries(partsOf(analyzer, entry)).map(([name, value]) => [name, sql`${value}`])
  const parts = Object.fromEntries(values) as Parts<SQL>
  return insertParts(analyzer, parts, sql`${entry.indexed.words}`, sql`entries e WHERE ${row}`)
}

/** Writes the terms of those entries that still have the version read. */
export function indexEntries(analyzer: Analyzer, dialect: SqlDialect, entries: readonly ReadToIndex[]): SQL[] {
  const rows = entries.map((entry) => {
    const parts = partsOf(analyzer, entry)
    return [entry.id, entry.version, entry.indexed.words, ...INDEX_COLUMNS.map((name) => parts[name])]
  })
  const texts = Object.fromEntries(INDEX_COLUMNS.map((name) => [name, 'text'])) as Parts<'text'>
  const columns = { id: 'integer', version: 'integer', length: 'integer', ...texts } as const
  const given = Object.fromEntries(INDEX_COLUMNS.map((name) => [name, sql.raw(`given.${name}`)])) as Parts<SQL>
  return jsonGroups(rows).map((json) =>
    insertParts(
      analyzer,
      given,
      sql`given.length`,
      sql`${dialect.jsonTable(sql`${json}`, columns)} given
        ${dialect.plan.follow('entries', 'e', sql`e.id = given.id AND e.version = given.version`)} WHERE true`,
    ),
  )
}
