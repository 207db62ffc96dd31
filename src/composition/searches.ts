import type { SqlConnection } from '../adapters/sql/core/connection'
import { pagesWithCaptured } from '../adapters/sql/stores/entries/captured-page'
import type { Levels } from '../domain/recall/similarity'
import type { Analyzer } from '../domain/search/analysis'
import type { Clock } from '../ports/clock'
import type { EntryStore } from '../ports/entry-store'
import type { EntryTexts } from '../ports/entry-texts'
import type { FullText } from '../ports/full-text'
import type { Reranker } from '../ports/reranker'
import type { CatchUp } from '../services/keeping/catch-up'
import { createRankedSearches } from '../services/searching/ranked/ranked-search'
import type { SearchSemantic } from '../services/searching/ranked/search-semantic'
import { createSearchText } from '../services/searching/ranked/search-text'
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
  const searchText = createSearchText({ fullText, analyzer })
  const rankedSearches = createRankedSearches({
    ...{ entries, analyzer, searchText, searchSemantic, reranker, overfetch, levels, unfinished },
    suggestWords: createSuggestWords({ fullText, analyzer }),
  })
  return {
    rankedSearches,
    grepTexts: createGrepTexts({ texts }),
    entries: { ...entries, page: pagesWithCaptured(connection, clock, entries) },
  }
}
