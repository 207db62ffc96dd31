// By what are the candidates of a search come to: by classes of entries, by each word, by a few entries, or by its expression?

import type { Expression } from '../../domain/search/query-unit'
import type { Many, ManyMatch } from '../sql/tables/search/candidate-rules'
import { type AnySearch, demandsAll, isOfPlace, splitUnits } from '../sql/tables/search/candidates'
import { isForClasses } from './by-length'
import type { MatchCompiler } from './match'
import type { Way } from './search-bound'
import type { KnownOfMany } from './under-filter'

interface SearchWay {
  /** The name of the way, by which its cost is reckoned. */
  readonly way: Way
  /** What holds any of the terms is found. */
  readonly isAnyOf: boolean
  /** And what holds them all is preferred: it is not asked for once more. */
  readonly isWhole: boolean
  /** What the query prefers is asked for by itself. */
  readonly asksPreferred: boolean
  readonly isByClasses: boolean
  /** All that the expression means holds the same words. */
  readonly isOneClass: boolean
  /** What the index brings is admitted as a rule. */
  readonly isAdmitted: boolean
  /** The entries that are each asked for the words; null where these lead to entries. */
  readonly led: readonly number[] | null
  /** Whether entries can be asked each for the words. */
  readonly mayBeLed: boolean
  /** Where many entries match, what the filter admits of them decides the way. */
  readonly isForFilter: boolean
}

/** @param known what was asked of many matching entries */
export function wayOf(request: AnySearch, compiler: MatchCompiler, known: KnownOfMany | null): SearchWay {
  const { query, terms, filter, units, rare } = request
  const expression = query.expression as Expression
  const isByExpression = units === undefined && rare === undefined
  const isAnyOf = isByExpression && compiler.isAnyOf(expression, terms)
  const isPreferred = isByExpression && query.preferred !== null
  const isWhole = isPreferred && isAnyOf && terms.length === query.units.length
  const { alone, composed } = splitUnits(query.units, terms)
  const isOfWords = units ? composed.length === 0 && alone.length === terms.length : isAnyOf
  const asksPreferred = isPreferred && !isWhole
  const isOneClass = isByExpression && demandsAll(expression, terms)
  const mayBeLed = isOneClass ? compiler.isAllOf(expression, terms) : isOfWords && !asksPreferred
  const led = mayBeLed ? (known?.ids ?? null) : null
  const isAdmitted = isOfPlace(filter) || known?.admitsMany === true
  const isByClasses = isOfWords && led === null && isForClasses(terms.length, isAdmitted)
  // Where little is admitted it may be that all that has the words is looked at. What has one word is come to in one pass.
  const isAsClass = isOneClass && isAdmitted && expression.op !== 'unit'
  const way: Way = isByClasses && isAdmitted ? 'classes' : isAnyOf ? 'any' : isAsClass ? 'class' : 'other'
  const isForFilter = !isOfPlace(filter) && (isOneClass || mayBeLed)
  return { way, isAnyOf, isWhole, asksPreferred, isByClasses, isOneClass, isAdmitted, led, mayBeLed, isForFilter }
}

/** From where on many match: where few words may choose, or what a filter admits decides. */
export const whereMany = (isForFew: boolean, words: number, { filtered, ...few }: ManyMatch): Many =>
  isForFew ? few : isForClasses(words, false) ? filtered.classed : filtered.grouped
