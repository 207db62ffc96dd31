import type { SQL } from 'drizzle-orm'
import type { Analyzer } from '../../domain/search/analysis'
import type { Expression, Unit } from '../../domain/search/query'
import type { ScoredTerm } from '../../domain/search/score'
import type { TextColumn } from '../../ports/full-text'
import { render } from '../sql/core/connection'
import { phraseColumns } from '../sql/tables/search/candidates'

/** Every term reaches the engine quoted; user text is never FTS5 syntax. */
const quote = (term: string): string => `"${term.replaceAll('"', '""')}"`

/** Compiles queries into MATCH expressions, for an index of these words. */
export function createCompiler({ stemming }: Analyzer, columns: readonly TextColumn[]) {
  const inAny = (list: readonly string[]) => `{${list.join(' ')}}`
  const anywhere = inAny(columns)
  // Without stems, the other columns have the words as they are written.
  const written = stemming ? 'written' : inAny(['title', 'body', 'context'])

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

  const term = ({ term: word, by }: ScoredTerm): string =>
    `${by === 'stem' ? anywhere : written} : ${quote(word)}${by === 'beginning' ? ' *' : ''}`

  /** Whether units, each by itself, are these terms and no others. */
  const areTerms = (parts: readonly Expression[], terms: readonly ScoredTerm[]): boolean => {
    const asked = new Set(terms.map(term))
    return parts.length === asked.size && parts.every((part) => part.op === 'unit' && asked.delete(unit(part.unit)))
  }

  return {
    unit,
    term,
    /** Whether an expression means the entries with any of these terms and no others. */
    isAnyOf: (expression: Expression, terms: readonly ScoredTerm[]): boolean =>
      expression.op === 'or' && areTerms(expression.of, terms),
    /** Whether it means those that hold them all. */
    isAllOf: (expression: Expression, terms: readonly ScoredTerm[]): boolean =>
      expression.op === 'and' ? areTerms(expression.of, terms) : areTerms([expression], terms),
    within: (expression: Expression, scope: string): string => `${scope} AND ${match(expression, scope)}`,
  }
}

export type MatchCompiler = ReturnType<typeof createCompiler>

/** After this a number stands as it is: SQLite looks at it to plan, and so would compile a cached statement anew at every call. */
const LIMITS = /\bLIMIT $/

/**
 * A statement as SQLite takes it. Each value once, however often it stands in it: the database reads and checks each of them, and D1 takes
 * 100 a statement.
 */
export function toQuery(statement: SQL): { sql: string; params: unknown[] } {
  const places = new Map<unknown, string>()
  const sql = render(statement, (value, before) => {
    if (Number.isSafeInteger(value) && LIMITS.test(before)) return String(value)
    const place = places.get(value) ?? `?${places.size + 1}`
    places.set(value, place)
    return place
  })
  return { sql, params: [...places.keys()] }
}
