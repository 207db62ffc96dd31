// Which words do the statements of a search ask of the index, and how often?
import type { Expression, Unit } from '../../../domain/search/query-unit'
import type { ScoredTerm } from '../../../domain/search/score'
import type { AnySearch } from '../../sql/tables/search/candidates'
import type { WordOrBeginning } from './postings'

/**
 * How many times a search by classes goes through its words where many entries hold all of them: counting them, looking whether they do,
 * and the few steps that lead to enough. By that the longest of those that were measured, of three words four times, takes no longer than a
 * share may (docs/decisions/006-work-in-parts.md).
 */
export const together = (words: number): number => Math.max(4, words + 1)

/** A word that statements ask for. */
export interface AskedWord extends WordOrBeginning {
  /** How many times. */
  readonly times: number
}

const wordsOfUnit = ({ terms, prefix }: Unit): WordOrBeginning[] =>
  terms.map((word, i) => ({ word, prefix: prefix && i === terms.length - 1 }))

const wordsOfTerm = ({ term, by }: ScoredTerm): WordOrBeginning[] => [{ word: term, prefix: by === 'beginning' }]

const unitsIn = (expression: Expression): Unit[] =>
  expression.op === 'unit'
    ? [expression.unit]
    : expression.op === 'not'
      ? unitsIn(expression.of)
      : expression.of.flatMap(unitsIn)

/** The same words, each once. */
function addedUp(words: readonly AskedWord[]): AskedWord[] {
  const times = new Map<string, AskedWord>()
  for (const asked of words) {
    const key = `${asked.prefix ? '*' : '='}${asked.word}`
    times.set(key, { ...asked, times: asked.times + (times.get(key)?.times ?? 0) })
  }
  return [...times.values()]
}

/** How entries are found by words. */
export type Way = 'classes' | 'class' | 'any' | 'other'

/**
 * The words that the statements of a search ask of the index.
 *
 * @param counting how many statements count the terms
 * @param way `classes`: by classes of entries that hold the same of them. `class`: those that an expression means are one. `any`: what they
 *   lead to is all that is asked for, so that each is as good as asked for once more, to be grouped
 */
export function askedBy({ query, terms, units, rare }: AnySearch, counting: number, way: Way): AskedWord[] {
  const often = (words: readonly WordOrBeginning[], times: number) => words.map((word) => ({ ...word, times }))
  if (way === 'classes') return addedUp(often(terms.flatMap(wordsOfTerm), counting - 1 + together(terms.length)))
  if (way === 'class') {
    // One pass where few are in it; else as many steps of it as lead to enough.
    const own = unitsIn(query.expression as Expression).flatMap(wordsOfUnit)
    return addedUp([...often(terms.flatMap(wordsOfTerm), counting), ...often(own, together(own.length))])
  }
  const expressions = [
    query.expression as Expression,
    ...(query.preferred === null || way === 'any' ? [] : [query.preferred]),
  ]
  const alone = units === undefined && rare === undefined && query.expression?.op === 'unit'
  const looked = rare !== undefined ? [] : units ? query.units : expressions.flatMap(unitsIn)
  return addedUp([
    ...often(terms.flatMap(wordsOfTerm), counting + (alone ? 0 : 1)),
    ...often(looked.flatMap(wordsOfUnit), 1),
    // Words next to each other are asked for by themselves and, where entries hold all units, together with the others.
    ...often(units ? looked.filter((unit) => unit.terms.length > 1).flatMap(wordsOfUnit) : [], 1),
  ])
}
