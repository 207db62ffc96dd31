import { type SQL, sql } from 'drizzle-orm'
import { createStatements } from '../../../domain/in-parts'
import { weightOf } from '../../../domain/search/filter-weight'
import type { Expression } from '../../../domain/search/query-unit'
import type { Yielder } from '../../../domain/yielder'
import { type Decode, readOne } from '../../sql/core/batch'
import type { SqlConnection } from '../../sql/core/connection'
import { asRows, num } from '../../sql/core/rows'
import { entriesById, withPrelude } from '../../sql/tables/entries/read-statements'
import { entriesWithin, shareOf } from '../../sql/tables/entries/share'
import type { AnySearch } from '../../sql/tables/search/candidates'
import { splitUnits, type TermCount } from '../../sql/tables/search/candidates'
import { COUNTED } from '../../sql/tables/search/choosing'
import type { MatchCompiler } from '../match'
import { type Best, createBest } from './best-candidates'
import type { Shares } from './cost'
import { createCount, createSampledCount } from './counts'
import { type Admission, createIndexParts } from './index-parts'
import { type AskedUnit, tooMuch } from './unit-reader'

/**
 * What one statement finds of a search, found by several with rests between: each asks for some words in some entries. The answer is the
 * same, entry by entry; the parts follow the ids.
 */

/** D1 answers a thousand queries of a request. */
const MOST_STATEMENTS = 900

export interface SearchInParts {
  readonly connection: SqlConnection
  readonly yielder: Yielder
  readonly shares: Shares
  readonly compiler: MatchCompiler
  readonly request: AnySearch
  /** The part of the scope that is searched, and the scope in which words are counted, as MATCH expressions. */
  readonly confined: string
  readonly wide: string
  /** What scope and filter ask of entries. */
  readonly admission: Admission['by']
}

export interface FoundInParts {
  readonly found: readonly Best[]
  readonly preferred: readonly Best[]
  readonly counts: readonly TermCount[]
  /** Null where candidates come from the whole scope. */
  readonly beyond: readonly TermCount[] | null
}

/** @throws Problem limit_exceeded when there is more to be gone through than one request may ask for */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one search, part after part, with the state that the parts share
export async function searchInParts(given: SearchInParts): Promise<FoundInParts> {
  const { connection, yielder, shares, compiler, request, confined, wide, admission } = given
  const { dialect } = connection
  const { query, terms, depth, units, rare, filter } = request
  const share = shareOf(dialect, filter)
  const readsMetadata = weightOf(filter).byte > 0
  /** Entries whose metadata one statement looks at. */
  const atOnce = share !== null && readsMetadata ? entriesWithin(share) : Number.POSITIVE_INFINITY
  const once = createStatements({ yielder, most: MOST_STATEMENTS, tooMany: tooMuch })
  const read = <T>(statement: SQL, decode: Decode<T>): Promise<T> => once(() => readOne(connection, statement, decode))

  const parts = createIndexParts(read, compiler, shares)

  const ofTerms = terms.map(
    (term): AskedUnit => ({
      match: compiler.term(term),
      unit: { terms: [term.term], prefix: term.by === 'beginning', phrase: false },
    }),
  )
  const asked = new Map(ofTerms.map((unit) => [unit.match, unit]))
  /** A unit for whatever the expression asks. */
  const prepare = (expression: Expression): void => {
    if (expression.op === 'unit') {
      const { unit } = expression
      const match = compiler.unit(unit)
      asked.set(match, { match, unit })
    } else if (expression.op === 'not') {
      asked.set('', { match: '', unit: { terms: [''], prefix: false, phrase: false } })
      prepare(expression.of)
    } else expression.of.forEach(prepare)
  }
  const holds = (expression: Expression, isIn: (match: string) => boolean): boolean => {
    switch (expression.op) {
      case 'unit':
        return isIn(compiler.unit(expression.unit))
      case 'not':
        return isIn('') && !holds(expression.of, isIn)
      case 'and':
        return expression.of.every((part) => holds(part, isIn))
      case 'or':
        return expression.of.some((part) => holds(part, isIn))
    }
  }

  const { alone, composed } = splitUnits(query.units, terms)
  const expression = query.expression as Expression
  if (units !== undefined) for (const unit of composed) prepare({ op: 'unit', unit })
  else if (rare === undefined) for (const one of [expression, query.preferred]) if (one !== null) prepare(one)
  const alike = units === undefined && rare === undefined && expression.op === 'unit'

  /** Those that are admitted, with the words that each has. */
  async function admittedOf(ids: readonly number[]): Promise<Map<number, number>> {
    const words = new Map<number, number>()
    for (let at = 0; at < ids.length; at += atOnce) {
      const { bindings, condition } = admission()
      const some = entriesById(dialect, ids.slice(at, at + atOnce))
      const statement = withPrelude(
        bindings,
        [],
        sql`SELECT e.id, e.text_words AS words FROM ${some} WHERE ${condition}`,
      )
      for (const row of await read(statement, asRows)) words.set(num(row, 'id'), num(row, 'words'))
    }
    return words
  }

  const counts = terms.map(() => (rare === undefined ? createSampledCount() : createCount(rare + 1)))
  const best = createBest({ rare, alike, most: depth.candidates })
  const preferred = createBest({ rare: undefined, alike: true, most: depth.complete })
  const beside = { by: admission, most: readsMetadata ? 0 : (share?.entries ?? Number.POSITIVE_INFINITY) }
  for await (const { found, admitted } of parts(confined, () => [...asked.values()], beside)) {
    const sets = new Map([...found].map(([match, ids]) => [match, new Set(ids)]))
    for (const [i, { match }] of ofTerms.entries()) counts[i]?.add(found.get(match) ?? [])
    const wanted: { id: number; places: number[]; held: number; meant: boolean; complete: boolean }[] = []
    for (const id of new Set([...found.values()].flat())) {
      const isIn = (match: string) => sets.get(match)?.has(id) === true
      const places = ofTerms.flatMap(({ match }, i) => (isIn(match) ? [i] : []))
      const held =
        places.filter((place) => alone.includes(place)).length +
        composed.filter((unit) => isIn(compiler.unit(unit))).length
      const meant = rare !== undefined ? places.length > 0 : units ? held >= units.atLeast : holds(expression, isIn)
      const complete = !units && rare === undefined && query.preferred !== null && holds(query.preferred, isIn)
      if (meant || complete) wanted.push({ id, places, held: units ? held : 0, meant, complete })
    }
    if (wanted.length === 0) continue
    const words = admitted ?? (await admittedOf(wanted.map(({ id }) => id)))
    for (const { id, places, held, meant, complete } of wanted) {
      const length = words.get(id)
      if (length === undefined) continue
      if (meant) best.add({ id, words: length, held, places })
      if (complete) preferred.add({ id, words: length, held: 0, places: [] })
    }
  }

  const further = terms.map(() => createCount(COUNTED))
  const isBeyond = wide !== confined && rare === undefined
  if (isBeyond)
    for await (const { found } of parts(wide, () => ofTerms.filter((_, i) => !further[i]?.isFull())))
      for (const [i, { match }] of ofTerms.entries()) further[i]?.add(found.get(match) ?? [])
  const numbers = counts.map((count) => count.value())
  return {
    found: best.chosen(numbers.map(([n]) => n)),
    preferred: preferred.chosen([]),
    counts: numbers,
    beyond: isBeyond ? further.map((count) => count.value()) : null,
  }
}
