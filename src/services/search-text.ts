import type { Analyzer } from '../domain/analysis'
import { MAX_TEXT_BYTES } from '../domain/draft'
import type { EntryPreview } from '../domain/entry'
import type { Filter } from '../domain/filter'
import { highlight } from '../domain/highlight'
import { parseQuery, type SearchMode } from '../domain/query'
import type { Scope } from '../domain/scope'
import { type Candidate, countTerms, rank, scoredTerms } from '../domain/score'
import { RANK_DEPTH, type Window } from '../domain/window'
import type { EntryStore } from '../ports/entry-store'
import type { FullText } from '../ports/full-text'

export interface TextSearchRequest extends Window {
  readonly query: string
  readonly mode: SearchMode
  readonly filter: Filter
  readonly highlight: boolean
  /** Code points of text to bring with each result. */
  readonly previewLength: number
}

export interface TextResult {
  readonly entry: EntryPreview
  readonly score: number
  /** Null when not asked for, or when the text itself holds no hit. */
  readonly highlighted: string | null
}

export interface TextSearchResult {
  readonly results: readonly TextResult[]
  /** Matches, counted up to the rank depth. */
  readonly total: number
  readonly warnings: readonly string[]
}

export type SearchText = ReturnType<typeof createSearchText>

export function createSearchText(dependencies: {
  readonly fullText: FullText
  readonly entries: EntryStore
  readonly analyzer: Analyzer
}) {
  const { fullText, entries, analyzer } = dependencies

  /**
   * Finds entries by words: the engine's candidates, ranked by one scorer, cut to the window of one ordering. Two round
   * trips at most.
   *
   * @throws Problem invalid_input for a malformed boolean query
   */
  return async (scope: Scope, request: TextSearchRequest): Promise<TextSearchResult> => {
    const query = parseQuery(request.query, request.mode, analyzer)
    const nothing = { results: [], total: 0, warnings: query.warnings }
    if (query.expression === null || request.offset >= RANK_DEPTH) return nothing

    const terms = scoredTerms(query.units)
    const { hits, statistics } = await fullText.search(scope, query, terms, request.filter)
    const candidates: Candidate[] = hits.map((hit) => ({
      id: hit.id,
      length: hit.length,
      following: hit.following,
      complete: hit.complete,
      frequencies: countTerms(terms, analyzer.tokenize(`${hit.text}\n${hit.context}`)),
    }))
    const ordering = rank(candidates, statistics, request.mode).slice(0, RANK_DEPTH)
    const page = ordering.slice(request.offset, Math.min(request.offset + request.limit, RANK_DEPTH))

    const previewLength = request.highlight ? MAX_TEXT_BYTES : request.previewLength
    const found = await entries.previews(
      scope,
      request.filter,
      page.map(({ id }) => id),
      previewLength,
    )
    const byId = new Map(found.map((entry) => [entry.id, entry]))
    const results = page.flatMap(({ id, score }) => {
      const entry = byId.get(id)
      if (entry === undefined) return []
      return [{ entry, score, highlighted: request.highlight ? highlight(entry.text, query.units, analyzer) : null }]
    })
    return { results, total: ordering.length, warnings: query.warnings }
  }
}
