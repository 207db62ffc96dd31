import { inspected } from '../flaws'
import { withoutTrailing } from '../text'
import type { Analyzer } from './analysis'
import { parseBoolean } from './query-boolean'
import { matchUnits } from './query-match'
import { checkPhrases, type Expression, makeUnit, type Unit } from './query-unit'

export type { Expression, Unit } from './query-unit'

/** Full-text queries as the product means them (threads contract §6), before any engine sees them. */
export const SEARCH_MODES = ['match', 'prefix', 'phrase', 'boolean'] as const
export type SearchMode = (typeof SEARCH_MODES)[number]

export interface TextQuery {
  readonly mode: SearchMode
  /** Null when the query has no letter or digit: it finds nothing. */
  readonly expression: Expression | null
  /** In `match` with two or more units: what an entry must hold to come first. */
  readonly preferred: Expression | null
  /** Units that an entry may be found by, in order of appearance; those under NOT are left out. */
  readonly units: readonly Unit[]
  readonly warnings: readonly string[]
}

const MAX_UNITS = 64
const TOO_MANY = `only the first ${MAX_UNITS} distinct words of the query were used`

const NO_WORDS =
  'the query has no letter or digit, so that no word was looked for: name one that stands beside the signs'

/** A query of signs says why it finds nothing; of one whose phrases are too long that is told already. */
const sayingWhy = (query: TextQuery): TextQuery =>
  query.expression === null && query.warnings.length === 0 ? { ...query, warnings: [NO_WORDS] } : query

const unitKey = (unit: Unit): string => JSON.stringify([unit.terms, unit.prefix, unit.phrase])

const unitExpression = (unit: Unit): Expression => ({ op: 'unit', unit })

const join = (op: 'and' | 'or', units: readonly Unit[]): Expression | null =>
  units.length === 0
    ? null
    : units.length === 1
      ? unitExpression(units[0] as Unit)
      : { op, of: units.map(unitExpression) }

function distinct(units: readonly (Unit | null)[]): { units: Unit[]; warnings: string[] } {
  const unique = new Map<string, Unit>()
  for (const unit of units) {
    const key = unit === null ? '' : unitKey(unit)
    if (unit !== null && !unique.has(key)) unique.set(key, unit)
  }
  const all = [...unique.values()]
  return { units: all.slice(0, MAX_UNITS), warnings: all.length > MAX_UNITS ? [TOO_MANY] : [] }
}

function parseMatch(query: string, analyzer: Analyzer): TextQuery {
  const { units: found, warnings: ignored } = matchUnits(query, analyzer)
  const { units, warnings } = distinct(found)
  return {
    mode: 'match',
    expression: join('or', units),
    preferred: units.length > 1 ? join('and', units) : null,
    units,
    warnings: [...ignored, ...warnings],
  }
}

function parsePrefix(query: string, analyzer: Analyzer): TextQuery {
  const tokens = query.replaceAll('"', ' ').split(/\s+/)
  const { units, warnings } = distinct(
    tokens.map((token) => makeUnit(analyzer.tokenize(withoutTrailing(token, '*')), { prefix: true })),
  )
  checkPhrases(units)
  return { mode: 'prefix', expression: join('and', units), preferred: null, units, warnings }
}

function parsePhrase(query: string, analyzer: Analyzer): TextQuery {
  const unit = makeUnit(analyzer.tokenize(query.replaceAll('"', ' ')), { phrase: true })
  const units = unit === null ? [] : [unit]
  checkPhrases(units)
  return { mode: 'phrase', expression: join('and', units), preferred: null, units, warnings: [] }
}

function positiveUnits(expression: Expression, negated = false): Unit[] {
  if (expression.op === 'unit') return negated ? [] : [expression.unit]
  if (expression.op === 'not') return positiveUnits(expression.of, !negated)
  return expression.of.flatMap((part) => positiveUnits(part, negated))
}

/** @throws Problem invalid_input, in `boolean` mode only, with the position of what is malformed; limit_exceeded */
export const parseQuery = (query: string, mode: SearchMode, analyzer: Analyzer): TextQuery =>
  inspected((wrong) => wrong.check('query', query, () => parse(query, mode, analyzer))) as TextQuery

function parse(query: string, mode: SearchMode, analyzer: Analyzer): TextQuery {
  switch (mode) {
    case 'match':
      return sayingWhy(parseMatch(query, analyzer))
    case 'prefix':
      return sayingWhy(parsePrefix(query, analyzer))
    case 'phrase':
      return sayingWhy(parsePhrase(query, analyzer))
    case 'boolean': {
      const expression = parseBoolean(query, analyzer)
      const { units } = distinct(positiveUnits(expression))
      return { mode: 'boolean', expression, preferred: null, units, warnings: [] }
    }
  }
}
