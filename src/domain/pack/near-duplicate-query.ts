import type { Analyzer } from '../search/analysis'
import { type Expression, parseQuery, type TextQuery, type Unit } from '../search/query'
import { firstCodePoints } from '../text'
import { DUPLICATE_LIMITS } from './near-duplicates'

/** Queries that find possible near-duplicates of a new entry and match few others, even for common words. */

/** Code points of a text that are used for the query. */
const LOOKED_FOR = 2_000
/** Maximum number of words, because FTS5 reads the occurrences of each. */
const MOST_WORDS = 24

const unitExpression = (unit: Unit): Expression => ({ op: 'unit', unit })
const joined = (op: 'and' | 'or', parts: readonly Expression[]): Expression =>
  parts.length === 1 ? (parts[0] as Expression) : { op, of: parts }

const wordsOf = (text: string, analyzer: Analyzer): TextQuery =>
  parseQuery(firstCodePoints(text, LOOKED_FOR).replaceAll('"', ' '), 'match', analyzer)

/** Long words are rare more often than short ones. */
const lengthOf = ({ terms }: Unit): number => terms.reduce((sum, term) => sum + term.length, 0)

/**
 * A query that every near-duplicate of a text matches. The longest words are split into groups, one more than the
 * number of words a near-duplicate can lack, so that it contains at least one group completely. Null for a text without
 * words.
 */
export function nearDuplicateQuery(text: string, analyzer: Analyzer): TextQuery | null {
  const query = wordsOf(text, analyzer)
  const { length } = query.units
  if (length === 0) return null
  const units = query.units.toSorted((a, b) => lengthOf(b) - lengthOf(a)).slice(0, MOST_WORDS)
  const most = Math.min(units.length, Math.floor(length * (1 - DUPLICATE_LIMITS.words)) + 1)
  const groups = Array.from({ length: most }, (_, group) => units.filter((_, i) => i % most === group))
  const holding = groups.map((group) => joined('and', group.map(unitExpression)))
  return { ...query, units, expression: joined('or', holding), preferred: null }
}

/** A query for all words of a title. Null for a title without words. */
export function sameTitleQuery(title: string, analyzer: Analyzer): TextQuery | null {
  const query = wordsOf(title, analyzer)
  return query.units.length === 0
    ? null
    : { ...query, expression: joined('and', query.units.map(unitExpression)), preferred: null }
}
