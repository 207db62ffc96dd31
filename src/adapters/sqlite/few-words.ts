import type { TextQuery } from '../../domain/search/query'
import type { TextSearch } from '../../ports/full-text'
import { tellingWords } from '../sql/tables/search/candidate-rules'
import type { AnySearch, TermCount } from '../sql/tables/search/candidates'
import type { WordCounts } from './under-filter'

/** How candidates are chosen by some words of a query. */
export interface FewWords {
  /** In how many entries each of these stands. */
  readonly counts: WordCounts
  /** And each word of the query. */
  readonly ofAll: WordCounts
}

/** The same search, whose candidates are chosen by the terms at some places of the query. */
export function searchBySome(request: AnySearch, places: readonly number[]): AnySearch {
  const { query, terms } = request
  const wanted = places.map((place) => terms[place] as (typeof terms)[number])
  const units = wanted.map(({ term }) => ({ terms: [term], prefix: false, phrase: false, stops: [false] }))
  const some: TextQuery = {
    ...query,
    expression: { op: 'or', of: units.map((unit) => ({ op: 'unit', unit })) },
    // A search by units finds entries with these alone; another one also finds entries with every word, whichever choose.
    ...(request.units === undefined ? {} : { units }),
  }
  return { ...request, terms: wanted, query: some }
}

/**
 * The candidates of the words that tell most, and beside them, where these are too few, of those that follow.
 *
 * @param ofAll in how many entries each word of the query stands
 * @param ask a search by some of its words
 */
export async function byFewWords(
  request: AnySearch,
  ofAll: WordCounts,
  ask: (request: AnySearch, few: FewWords) => Promise<TextSearch>,
): Promise<TextSearch> {
  const { depth } = request
  const by = (places: readonly number[]): Promise<TextSearch> => {
    const counts = places.map((place) => ofAll[place] as TermCount)
    return ask(searchBySome(request, places), { counts, ofAll })
  }
  const [first, next] = tellingWords(ofAll.map(([n]) => n))
  const found = await by(first)
  if (found.hits.length >= depth.candidates || next.length === 0) return found
  const known = new Set(found.hits.map(({ id }) => id))
  const others = await by(next)
  const further = others.hits.filter(({ id }) => !known.has(id))
  const behind =
    request.units === undefined ? further : further.map((hit, i) => ({ ...hit, place: known.size + i + 1 }))
  return { ...found, hits: [...found.hits, ...behind] }
}
