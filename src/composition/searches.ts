import type { SqlConnection } from '../adapters/sql/core/connection'
import { pagesWithCaptured } from '../adapters/sql/stores/entries/captured-page'
import { createSqlLargeMetadata } from '../adapters/sql/stores/entries/large-metadata'
import type { Levels } from '../domain/recall/similarity'
import type { Analyzer } from '../domain/search/analysis'
import type { Filter } from '../domain/search/filter'
import type { Clock } from '../ports/clock'
import type { EntryStore, PageRequest } from '../ports/entry-store'
import type { EntryTexts } from '../ports/entry-texts'
import type { FullText } from '../ports/full-text'
import type { Reranker } from '../ports/reranker'
import type { CatchUp } from '../services/keeping/catch-up'
import { createRankedSearches } from '../services/searching/ranked/ranked-search'
import type { SearchSemantic } from '../services/searching/ranked/search-semantic'
import { createSearchText } from '../services/searching/ranked/search-text'
import { createSettled } from '../services/searching/ranked/settle-filter'
import { createSuggestWords } from '../services/searching/ranked/suggest-words'
import { createGrepTexts } from '../services/searching/texts/grep-texts'
import type { Services } from '../services/services'

/** The part of compose.ts that searches under the filters of threads. */
export function composeSearches(given: {
  readonly connection: SqlConnection
  readonly clock: Clock
  readonly analyzer: Analyzer
  readonly entries: EntryStore
  readonly texts: EntryTexts
  readonly fullText: FullText
  readonly searchSemantic: SearchSemantic | null
  readonly reranker: Reranker | null
  readonly overfetch: number
  readonly levels: () => Promise<Levels>
  readonly unfinished: CatchUp['warnings']
}): Pick<Services, 'rankedSearches' | 'grepTexts' | 'entries'> {
  const { connection, clock, analyzer, entries, texts, fullText, searchSemantic, reranker } = given
  const { overfetch, levels, unfinished } = given
  const settled = createSettled({ large: createSqlLargeMetadata(connection, clock) })
  const searchText = createSearchText({ fullText, analyzer })
  const ranked = createRankedSearches({
    ...{ entries, analyzer, searchText, searchSemantic, reranker, overfetch, levels, unfinished },
    suggestWords: createSuggestWords({ fullText, analyzer }),
  })
  const paged = pagesWithCaptured(connection, clock, entries)
  const page = settled((scope, { filter, ...request }: PageRequest & { readonly filter: Filter }) =>
    paged(scope, filter, request),
  )
  return {
    rankedSearches: {
      byWords: settled(ranked.byWords),
      byMeaning: settled(ranked.byMeaning),
      byBoth: settled(ranked.byBoth),
    },
    grepTexts: settled(createGrepTexts({ texts })),
    entries: { ...entries, page: (scope, filter, request) => page(scope, { ...request, filter }) },
  }
}
