import type { SQL } from 'drizzle-orm'
import type { Analyzer } from '../../domain/search/analysis'
import type { Expression, Unit } from '../../domain/search/query'
import type { ScoredTerm } from '../../domain/search/score'
import type { TextColumn } from '../../ports/full-text'
import { render } from '../sql/core/connection'
import { phraseColumns } from '../sql/tables/search/candidates'

/** Quotes a term; user text is never FTS5 syntax. */
const quote = (term: string): string => `"${term.replaceAll('"', '""')}"`

/** Compiles queries to MATCH expressions for an index of these columns. */
export function createCompiler({ stemming }: Analyzer, columns: readonly TextColumn[]) {
  const inAny = (list: readonly string[]) => `{${list.join(' ')}}`
  const anywhere = inAny(columns)
  // Without stemming, the other columns have the words as written.
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

  /** Returns whether the units, one by one, are these terms and no others. */
  const areTerms = (parts: readonly Expression[], terms: readonly ScoredTerm[]): boolean => {
    const asked = new Set(terms.map(term))
    return parts.length === asked.size && parts.every((part) => part.op === 'unit' && asked.delete(unit(part.unit)))
  }

  return {
    unit,
    term,
    /** Returns whether an expression matches the entries with any of these terms and no others. */
    isAnyOf: (expression: Expression, terms: readonly ScoredTerm[]): boolean =>
      expression.op === 'or' && areTerms(expression.of, terms),
    /** Returns whether it matches exactly the entries with all of them. */
    isAllOf: (expression: Expression, terms: readonly ScoredTerm[]): boolean =>
      expression.op === 'and' ? areTerms(expression.of, terms) : areTerms([expression], terms),
    within: (expression: Expression, scope: string): string => `${scope} AND ${match(expression, scope)}`,
  }
}

export type MatchCompiler = ReturnType<typeof createCompiler>

/**
 * After this, a number is part of the statement: SQLite plans by it, and would plan a cached statement again at every call.
 */
const LIMITS = /\bLIMIT $/

/**
 * Returns a statement for SQLite, with each value bound once, however often it occurs: D1 allows 100 values in a statement.
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
