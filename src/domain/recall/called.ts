import type { Analyzer } from '../search/analysis'
import { namesHeldBy } from '../search/names'
import type { Unit } from '../search/query-unit'
import type { ScoredTerm, TermStatistics } from '../search/score'
import { CALLED, type Share } from './similarity'

/** A query by words, and what they weigh. */
interface Asked {
  readonly text: string
  readonly terms: readonly ScoredTerm[]
  readonly units: readonly Unit[]
  readonly statistics: TermStatistics
}

/** Which memories a query calls by an alias, and what share of it that leaves each. */
export interface Calls {
  readonly isCalled: (aliases: readonly string[]) => boolean
  /** @param held units that the memory with these aliases holds, by their places */
  readonly shareOf: (aliases: readonly string[], held: readonly number[]) => number
}

/**
 * Memories that a query calls by an alias hold as much of it as an answer does. A word that is somebody's name tells only of who is
 * called so: of the others the rest of the words counts.
 *
 * @param found the aliases of all that words found
 */
export function callsIn(
  { text, terms, units, statistics }: Asked,
  found: readonly (readonly string[])[],
  { share, analyzer }: { readonly share: Share; readonly analyzer: Analyzer },
): Calls {
  if (found.every(({ length }) => length === 0)) return { isCalled: () => false, shareOf: (_, held) => share(held) }
  const words = new Map(analyzer.tokenize(text).map(({ term, word }) => [term, word]))
  const namesIn = namesHeldBy(
    {
      terms: terms.map(({ term }) => term),
      spelled: terms.map(({ term }) => words.get(term) ?? term),
      ...{ holding: statistics.entriesWithTerm, entries: statistics.entries, isEmpty: () => false },
    },
    analyzer,
  )
  const said = new Set(found.flatMap((aliases) => namesIn(aliases).flatMap(({ said: places }) => places)))
  const names = new Set([...said].map((place) => terms[place]?.term))
  const isName = new Set(units.flatMap((unit, place) => (unit.terms.every((term) => names.has(term)) ? [place] : [])))
  const isCalled = (aliases: readonly string[]): boolean => namesIn(aliases).length > 0
  return {
    isCalled,
    shareOf: (aliases, held) =>
      isCalled(aliases) ? Math.max(CALLED, share(held)) : share(held.filter((place) => !isName.has(place))),
  }
}
