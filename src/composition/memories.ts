import type { SqlConnection } from '../adapters/sql/core/connection'
import { createSqlCurrentMemories } from '../adapters/sql/stores/memories/current'
import { createSqlMemories } from '../adapters/sql/stores/memories/memories'
import { createSqlSightings } from '../adapters/sql/stores/memories/sightings'
import { modelKey } from '../domain/meaning/vector'
import type { Analyzer } from '../domain/search/analysis'
import { EVERYTHING } from '../domain/search/filter'
import type { Clock } from '../ports/clock'
import type { Embedder } from '../ports/embedder'
import type { EntryStore } from '../ports/entry-store'
import type { FullText } from '../ports/full-text'
import type { VectorIndex } from '../ports/vector-index'
import type { VectorRows } from '../ports/vector-rows'
import type { CatchUp } from '../services/keeping/catch-up'
import type { FinishIndex } from '../services/keeping/pending-index'
import { createGetCurrent } from '../services/searching/memories/current'
import { createOrient } from '../services/searching/memories/orient'
import { createRankMemories } from '../services/searching/memories/rank-memories'
import { createRecall } from '../services/searching/memories/recall'
import { createRecallWords } from '../services/searching/memories/recall-words'
import type { SearchSemantic } from '../services/searching/ranked/search-semantic'
import { createSuggestWords } from '../services/searching/ranked/suggest-words'
import type { Services } from '../services/services'
import type { DeleteEntries } from '../services/writing/entries/delete-entries'
import type { Generate } from '../services/writing/entries/generate'
import type { StoreEntries } from '../services/writing/entries/store-entries'
import type { UpdateEntries } from '../services/writing/entries/update-entries'
import { createReportEvent } from '../services/writing/events/report-event'
import { createSimilarMemories } from '../services/writing/events/similar-memories'
import { createMemoryService } from '../services/writing/memories/memories'
import { createSummarize } from '../services/writing/memories/summarize'

/** The part of the composition that keeps memories in layers, and finds them. */
export function composeMemories(given: {
  readonly connection: SqlConnection
  readonly clock: Clock
  readonly analyzer: Analyzer
  readonly entries: EntryStore
  readonly deleteEntries: DeleteEntries
  readonly storeEntries: StoreEntries
  readonly updateEntries: UpdateEntries
  readonly generate: Generate
  readonly embedder: Embedder | null
  readonly rows: VectorRows
  readonly index: VectorIndex
  readonly fullText: FullText
  /** Whether words are searched. */
  readonly words: boolean
  readonly searchSemantic: SearchSemantic | null
  readonly levels: Parameters<typeof createRankMemories>[0]['levels']
  readonly finishing: FinishIndex
  readonly unfinished: CatchUp['warnings']
  readonly code: Parameters<typeof createReportEvent>[0]['code']
  readonly afterwards: Services['afterwards']
}): Pick<Services, 'memories' | 'recall' | 'getCurrent' | 'orient' | 'reportEvent' | 'summarize'> {
  const { connection, clock, analyzer, entries, deleteEntries, storeEntries, updateEntries } = given
  const { generate, embedder, rows, index, fullText, searchSemantic, levels, finishing, unfinished, code, afterwards } =
    given
  const stored = createSqlMemories(connection, clock)
  const recallWords = createRecallWords({ fullText, analyzer })
  const legs = { words: given.words ? recallWords : null, semantic: searchSemantic, levels, finishing }
  const memories = createMemoryService({
    ...{ memories: stored, entries, deleteEntries, storeEntries, updateEntries, generate },
    isEmbedded: async (scope, id) =>
      embedder === null || (await rows.ofEntries(scope, modelKey(embedder), EVERYTHING, [id], 1, null)).length > 0,
  })
  return {
    memories,
    recall: createRecall({
      ...{ rank: createRankMemories({ ...legs, unfinished }), memories: stored, analyzer },
      ...(given.words ? { suggestWords: createSuggestWords({ fullText, analyzer }) } : {}),
    }),
    reportEvent: createReportEvent({
      ...{ memories, code, clock },
      similarMemories: createSimilarMemories({ fullText, entries, analyzer }),
    }),
    orient: createOrient({ sightings: createSqlSightings(connection, clock), clock }),
    getCurrent: createGetCurrent({
      current: createSqlCurrentMemories(connection, clock, index.nearby !== null),
      ...{ memories: stored, clock, ...legs },
      afterwards: (work) => afterwards(work()),
    }),
    summarize: createSummarize({ memories: stored, storeEntries, clock }),
  }
}
