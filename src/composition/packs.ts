import type { SqlConnection } from '../adapters/sql/core/connection'
import { createSqlMemories } from '../adapters/sql/stores/memories/memories'
import { createSqlPacks } from '../adapters/sql/stores/packs/packs'
import type { Levels } from '../domain/recall/similarity'
import type { Analyzer } from '../domain/search/analysis'
import type { Clock } from '../ports/clock'
import type { Embedder } from '../ports/embedder'
import type { EntryStore } from '../ports/entry-store'
import type { FullText } from '../ports/full-text'
import type { VectorIndex } from '../ports/vector-index'
import type { FindEarlier } from '../services/currency/find-earlier'
import type { CatchUp } from '../services/keeping/catch-up'
import type { FinishIndex } from '../services/keeping/pending-index'
import { contextOf, createCompilePack } from '../services/pack/compile-pack'
import { createFindCandidates } from '../services/pack/find-candidates'
import { createRemember } from '../services/pack/remember'
import type { SearchSemantic } from '../services/searching/ranked/search-semantic'
import { createSuggestWords } from '../services/searching/ranked/suggest-words'
import type { Services } from '../services/services'
import type { StoreEntries } from '../services/writing/entries/store-entries'

/** The part of compose.ts that makes packs. */
export function composePacks(given: {
  readonly connection: SqlConnection
  readonly clock: Clock
  readonly analyzer: Analyzer
  readonly entries: EntryStore
  readonly storeEntries: StoreEntries
  readonly fullText: FullText
  /** Whether words are searched. */
  readonly words: boolean
  readonly embedder: Embedder | null
  readonly index: VectorIndex
  readonly searchSemantic: SearchSemantic | null
  readonly finishing: FinishIndex
  /** Reference cosines of the model. */
  readonly levels: () => Promise<Levels>
  readonly unfinished: CatchUp['warnings']
  readonly findEarlier: FindEarlier
  /** Whether packs have approved entries alone (PACK_TRUST). */
  readonly isApproved: boolean
}): Services['packs'] {
  const { connection, clock, analyzer, entries, storeEntries, fullText, words, embedder, index } = given
  const { searchSemantic, finishing, levels, unfinished, findEarlier, isApproved } = given
  const reads = createSqlPacks(connection, clock)
  const semantic =
    embedder === null || searchSemantic === null ? null : { embed: searchSemantic.embed, embedder, index, levels }
  const findCandidates = createFindCandidates({
    reads,
    fullText: words ? fullText : null,
    analyzer,
    ...(words ? { suggestWords: createSuggestWords({ fullText, analyzer }) } : {}),
    semantic,
    finishing,
  })
  const explained = createCompilePack({
    ...{ reads, findCandidates, analyzer, clock, unfinished, isApproved },
  })
  return {
    context: contextOf(explained),
    explained,
    remember: createRemember({
      storeEntries,
      entries,
      fullText,
      memories: createSqlMemories(connection, clock),
      analyzer,
      findEarlier,
    }),
  }
}
