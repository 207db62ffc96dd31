// How is a query asked of the full-text index of PostgreSQL? Every term reaches the engine as a term, never as syntax.
import { type SQL, sql } from 'drizzle-orm'
import type { Analyzer } from '../../domain/search/analysis'
import type { Expression, Unit } from '../../domain/search/query'
import type { ScoredTerm } from '../../domain/search/score'
import type { TextColumn } from '../../ports/full-text'
import { joinConditions } from '../sql/core/compile-filter'
import { phraseColumns } from '../sql/tables/search/candidates'
import { MARK } from './full-text-index'

export interface TextCompiler {
  /** What entries with a term fulfil, as a `tsquery`, and some that hold it in date or agent where only the text is asked. */
  readonly term: (term: ScoredTerm) => SQL
  /**
   * A condition on index rows `f` that were found by a stem, given as `text`: one of the columns that are asked holds it. Null for what was
   * found as it is written, of which the index has told all.
   */
  readonly among: (term: SQL) => SQL
  /** Whether an expression means the entries with any of these terms and no others. */
  readonly isAnyOf: (expression: Expression, terms: readonly ScoredTerm[]) => boolean
  /** A condition on the index row `f`: an expression inside a scope, given as a `tsquery`. */
  readonly within: (expression: Expression, scope: SQL) => SQL
}

const joined = (parts: readonly SQL[], operator: '&&' | '||'): SQL =>
  parts.length === 1 ? (parts[0] as SQL) : sql`(${sql.join([...parts], sql.raw(` ${operator} `))})`

const byOf = ({ terms, prefix }: Unit, place: number): ScoredTerm['by'] =>
  !prefix ? 'stem' : place === terms.length - 1 ? 'beginning' : 'word'

/** Whether an entry holds a unit where it has its one term, in a column that is asked. */
const isTerm = ({ terms, phrase }: Unit): boolean => terms.length === 1 && !phrase

/** Compiles queries for an index of these words, that look into these columns. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createTextCompiler({ stemming }: Analyzer, columns: readonly TextColumn[]): TextCompiler {
  // Stems of body and context are one to the index.
  const besideIsAsked = columns.includes('body') === columns.includes('context')
  const marks = [
    ...(columns.includes('body') || columns.includes('context') ? [''] : []),
    ...(columns.includes('title') ? [MARK.title] : []),
    ...(columns.includes('code') ? [MARK.code] : []),
  ]

  function lexemes(term: string, by: ScoredTerm['by']): SQL {
    const any = {
      stem: marks.map((mark) => `'${mark}${term}'`),
      word: [`'${term}':A`, `'${MARK.written}${term}'`],
      beginning: [`'${term}':*A`, `'${MARK.written}${term}':*`],
    }[by]
    return sql`${any.join(' | ')}::tsquery`
  }

  /** Whether a term of the index stands elsewhere than in date and agent: these are short and seldom hold it, so texts are seldom read. */
  const inColumns = (term: SQL): SQL => {
    const stands = (column: string) => sql`strpos(' ' || ${sql.raw(`f.${column}`)} || ' ', ' ' || ${term} || ' ') > 0`
    // As a rule not even its letters stand there, which is told without a copy.
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

  /** Whether the index alone cannot tell: it knows which terms an entry has, not where. */
  const needsLook = (unit: Unit): boolean => !isTerm(unit) || (!unit.prefix && !besideIsAsked)

  const someNeedLook = (expression: Expression): boolean =>
    expression.op === 'unit'
      ? needsLook(expression.unit)
      : expression.op === 'not'
        ? someNeedLook(expression.of)
        : expression.of.some(someNeedLook)

  /** What the index is asked: fulfilled by every entry that is meant, and by some that are not where a look is needed. */
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
   * Whether the terms stand next to each other in one of the columns; phrases never in date and agent.
   *
   * @param isIndexed whether the index has told already that the entry has them
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

  /** @param isIndexed whether the index has told already that `candidates` of the expression hold: what it knows of a text is long */
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

  return {
    term: ({ term, by }) => lexemes(term, by),
    among: (term) => (besideIsAsked ? sql`true` : sql`(${term} IS NULL OR ${inColumns(term)})`),
    isAnyOf: (expression, terms) => {
      const named = new Set(terms.map(({ term, by }) => `${by} ${term}`))
      const parts = expression.op === 'or' ? expression.of : [expression]
      return parts.every(
        (part) => part.op === 'unit' && isTerm(part.unit) && named.has(`${byOf(part.unit, 0)} ${part.unit.terms[0]}`),
      )
    },
    within: (expression, scope) => {
      const found = sql`f.words @@ (${scope} && ${candidates(expression, scope)})`
      return someNeedLook(expression) ? sql`${found} AND ${exactly(expression, true)}` : found
    },
  }
}
