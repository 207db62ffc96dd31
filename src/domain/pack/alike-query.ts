import type { Analyzer } from '../search/analysis'
import { type Expression, parseQuery, type TextQuery, type Unit } from '../search/query'
import { firstCodePoints } from '../text'
import { LIKENESS } from './likeness'

/** Which entries may be nearly the same as a new one: queries that lead to few, however common their words. */

/** Of a text, what is looked for in others. */
const LOOKED_FOR = 2_000
/** Words of it; FTS5 goes through what each stands in, until it has found enough. */
const MOST_WORDS = 24

const unitExpression = (unit: Unit): Expression => ({ op: 'unit', unit })
const joined = (op: 'and' | 'or', parts: readonly Expression[]): Expression =>
  parts.length === 1 ? (parts[0] as Expression) : { op, of: parts }

const wordsOf = (text: string, analyzer: Analyzer): TextQuery =>
  parseQuery(firstCodePoints(text, LOOKED_FOR).replaceAll('"', ' '), 'match', analyzer)

/** Long words are rare ones more often than short ones. */
const lengthOf = ({ terms }: Unit): number => terms.reduce((sum, term) => sum + term.length, 0)

/**
 * What nearly the same text is bound to hold: the longest of its words are dealt into one group more than there may be words that it lacks,
 * so that it holds one of the groups whole. Each group has some of the longest. Null for a text without words.
 */
export function nearlySameText(text: string, analyzer: Analyzer): TextQuery | null {
  const query = wordsOf(text, analyzer)
  const { length } = query.units
  if (length === 0) return null
  const units = query.units.toSorted((a, b) => lengthOf(b) - lengthOf(a)).slice(0, MOST_WORDS)
  const most = Math.min(units.length, Math.floor(length * (1 - LIKENESS.words)) + 1)
  const groups = Array.from({ length: most }, (_, group) => units.filter((_, i) => i % most === group))
  const holding = groups.map((group) => joined('and', group.map(unitExpression)))
  return { ...query, units, expression: joined('or', holding), preferred: null }
}

/** What the same title is bound to hold: all of its words. Null for a title without words. */
export function sameTitle(title: string, analyzer: Analyzer): TextQuery | null {
  const query = wordsOf(title, analyzer)
  return query.units.length === 0
    ? null
    : { ...query, expression: joined('and', query.units.map(unitExpression)), preferred: null }
}
