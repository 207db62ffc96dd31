import type { Analyzer } from '../domain/analysis'
import type { Filter } from '../domain/filter'
import { parseQuery, type SearchMode, type Unit } from '../domain/query'
import type { Scope } from '../domain/scope'
import { type Candidate, countTerms, type Ranked, rank, scoredTerms } from '../domain/score'
import type { FullText } from '../ports/full-text'

/** What entries were found by. */
export interface FoundBy {
  readonly units: readonly Unit[]
}

export interface TextRanking extends FoundBy {
  /** Best first. */
  readonly ordering: readonly Ranked[]
  readonly warnings: readonly string[]
}

export type SearchText = ReturnType<typeof createSearchText>

export function createSearchText({ fullText, analyzer }: { readonly fullText: FullText; readonly analyzer: Analyzer }) {
  /**
   * Finds entries by words: the engine's candidates, ranked by one scorer. One round trip.
   *
   * @throws Problem invalid_input for a malformed boolean query
   */
  return async (scope: Scope, text: string, mode: SearchMode, filter: Filter): Promise<TextRanking> => {
    const query = parseQuery(text, mode, analyzer)
    const { units, warnings } = query
    if (query.expression === null) return { ordering: [], units, warnings }
    const terms = scoredTerms(units)
    const { hits, statistics } = await fullText.search(scope, query, terms, filter)
    const candidates: Candidate[] = hits.map((hit) => ({
      id: hit.id,
      length: hit.length,
      following: hit.following,
      complete: hit.complete,
      frequencies: countTerms(terms, analyzer.tokenize(`${hit.text}\n${hit.context}`)),
    }))
    return { ordering: rank(candidates, statistics, { mode, units: units.length }), units, warnings }
  }
}
