// Compiles queries for the full-text index of PostgreSQL. Every term reaches the engine as a term, never as syntax.
import { type SQL, sql } from 'drizzle-orm'
import type { Analyzer } from '../../domain/search/analysis'
import type { Expression, Unit } from '../../domain/search/query'
import type { ScoredTerm } from '../../domain/search/score'
import type { TextColumn } from '../../ports/full-text'
import { joinConditions } from '../sql/core/compile-filter'
import { phraseColumns } from '../sql/tables/search/candidates'
import { MARK } from './full-text-index'

export interface TextCompiler {
  /**
   * Returns a `tsquery` that all entries with a term match, and some with the term in date or agent when only the text is searched.
   */
  readonly term: (term: ScoredTerm) => SQL
  /**
   * Returns a condition on index rows `f` that were found by a stem (`text`): one of the searched columns contains it. Null for terms that
   * were found as written, for which the index is exact.
   */
  readonly inSearchedColumns: (term: SQL) => SQL
  /** Returns whether an expression matches the entries with any of these terms and no others. */
  readonly isAnyOf: (expression: Expression, terms: readonly ScoredTerm[]) => boolean
  /** Returns a condition on the index row `f`: an expression within a scope, given as a `tsquery`. */
  readonly within: (expression: Expression, scope: SQL) => SQL
  /** Returns both parts of `within`: the query of the index, and the condition on the rows that it finds (null if it is exact). */
  readonly partsOf: (expression: Expression, scope: SQL) => { readonly query: SQL; readonly exactly: SQL | null }
  /** Returns the `tsquery` of `term` as text. */
  readonly termText: (term: ScoredTerm) => string
  /** Whether the index is exact for each stem, so that `inSearchedColumns` is always true. */
  readonly isExact: boolean
}

const joined = (parts: readonly SQL[], operator: '&&' | '||'): SQL =>
  parts.length === 1 ? (parts[0] as SQL) : sql`(${sql.join([...parts], sql.raw(` ${operator} `))})`

const byOf = ({ terms, prefix }: Unit, place: number): ScoredTerm['by'] =>
  !prefix ? 'stem' : place === terms.length - 1 ? 'beginning' : 'word'

/** Returns whether an entry contains the unit if a searched column has its only term. */
const isTerm = ({ terms, phrase }: Unit): boolean => terms.length === 1 && !phrase

/** Creates a compiler of queries for the columns to search. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createTextCompiler({ stemming }: Analyzer, columns: readonly TextColumn[]): TextCompiler {
  // The index does not distinguish stems of body and context.
  const besideIsAsked = columns.includes('body') === columns.includes('context')
  const marks = [
    ...(columns.includes('body') || columns.includes('context') ? [''] : []),
    ...(columns.includes('title') ? [MARK.title] : []),
    ...(columns.includes('code') ? [MARK.code] : []),
  ]

  function lexemesText(term: string, by: ScoredTerm['by']): string {
    const any = {
      stem: marks.map((mark) => `'${mark}${term}'`),
      word: [`'${term}':A`, `'${MARK.written}${term}'`],
      beginning: [`'${term}':*A`, `'${MARK.written}${term}':*`],
    }[by]
    return any.join(' | ')
  }
  const lexemes = (term: string, by: ScoredTerm['by']): SQL => sql`${lexemesText(term, by)}::tsquery`

  /**
   * Returns a condition that a term occurs outside date and agent. These are short and seldom contain it, so texts are seldom read.
   */
  const inColumns = (term: SQL): SQL => {
    const stands = (column: string) => sql`strpos(' ' || ${sql.raw(`f.${column}`)} || ' ', ' ' || ${term} || ' ') > 0`
    // Usually date and agent do not even contain its letters, which is checked without a copy.
    const elsewhere = columns.includes('context')
      ? []
      : [sql`strpos(f.context, ${term}) = 0`, sql`NOT ${stands('context')}`]
    return joinConditions('or', [...elsewhere, ...columns.map(stands)])
  }

  const termsOf = (unit: Unit): SQL =>
    joined(
      unit.terms.map((term, i) => lexemes(term, byOf(unit, i))),
      '&&',
    )

  /** Returns whether the index alone is not exact: it has the terms of an entry, not their columns. */
  const needsLook = (unit: Unit): boolean => !isTerm(unit) || (!unit.prefix && !besideIsAsked)

  const someNeedLook = (expression: Expression): boolean =>
    expression.op === 'unit'
      ? needsLook(expression.unit)
      : expression.op === 'not'
        ? someNeedLook(expression.of)
        : expression.of.some(someNeedLook)

  /** Returns the query of the index: every matching entry fulfils it, and when `needsLook` some others. */
  function candidates(expression: Expression, everything: SQL): SQL {
    switch (expression.op) {
      case 'unit':
        return termsOf(expression.unit)
      case 'not':
        return someNeedLook(expression.of) ? everything : sql`(!! ${candidates(expression.of, everything)})`
      default:
        return joined(
          expression.of.map((part) => candidates(part, everything)),
          expression.op === 'and' ? '&&' : '||',
        )
    }
  }

  /**
   * Returns a condition that the terms are adjacent in one of the columns; phrases never match in date and agent.
   *
   * @param isIndexed whether the index has already found that the entry has them
   */
  function look(unit: Unit, isIndexed: boolean): SQL {
    const { terms, prefix, phrase } = unit
    if (terms.length === 1 && !prefix && !phrase) {
      const elsewhere = inColumns(sql`${terms[0]}::text`)
      return isIndexed ? elsewhere : sql`(f.words @@ ${termsOf(unit)} AND ${elsewhere})`
    }
    const wanted = `${` ${terms.join(' ')}`}${prefix ? '' : ' '}`
    const where =
      prefix && !phrase
        ? stemming
          ? ['written']
          : ['title', 'body', 'context']
        : phrase
          ? phraseColumns(columns)
          : columns
    return joinConditions(
      'or',
      where.map((column) => sql`strpos(' ' || ${sql.raw(`f.${column}`)} || ' ', ${wanted}) > 0`),
    )
  }

  /**
   * Returns the exact condition. @param isIndexed whether the index has already matched `candidates` of the expression, which is not
   * repeated
   */
  function exactly(expression: Expression, isIndexed: boolean): SQL {
    switch (expression.op) {
      case 'unit':
        if (needsLook(expression.unit)) return look(expression.unit, isIndexed)
        return isIndexed ? sql`true` : sql`f.words @@ ${termsOf(expression.unit)}`
      case 'not':
        return sql`(NOT ${exactly(expression.of, false)})`
      default: {
        const isEach = isIndexed && expression.op === 'and'
        return joinConditions(
          expression.op,
          expression.of.map((part) => exactly(part, isEach)),
        )
      }
    }
  }

  const partsOf: TextCompiler['partsOf'] = (expression, scope) => ({
    query: sql`(${scope} && ${candidates(expression, scope)})`,
    exactly: someNeedLook(expression) ? exactly(expression, true) : null,
  })

  return {
    partsOf,
    isExact: besideIsAsked,
    termText: ({ term, by }) => lexemesText(term, by),
    term: ({ term, by }) => lexemes(term, by),
    inSearchedColumns: (term) => (besideIsAsked ? sql`true` : sql`(${term} IS NULL OR ${inColumns(term)})`),
    isAnyOf: (expression, terms) => {
      const named = new Set(terms.map(({ term, by }) => `${by} ${term}`))
      const parts = expression.op === 'or' ? expression.of : [expression]
      return parts.every(
        (part) => part.op === 'unit' && isTerm(part.unit) && named.has(`${byOf(part.unit, 0)} ${part.unit.terms[0]}`),
      )
    },
    within: (expression, scope) => {
      const { query, exactly } = partsOf(expression, scope)
      return exactly === null ? sql`f.words @@ ${query}` : sql`f.words @@ ${query} AND ${exactly}`
    },
  }
}
