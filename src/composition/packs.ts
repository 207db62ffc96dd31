import type { SqlConnection } from '../adapters/sql/core/connection'
import { createSqlPacks } from '../adapters/sql/stores/packs/packs'
import type { Levels } from '../domain/recall/similarity'
import type { Analyzer } from '../domain/search/analysis'
import type { Clock } from '../ports/clock'
import type { FullText } from '../ports/full-text'
import type { Embedder } from '../ports/models'
import type { VectorIndex } from '../ports/vector-index'
import type { FindDisagreements } from '../services/currency/disagreements'
import type { FinishIndex } from '../services/maintenance/pending-index'
import type { CatchUp } from '../services/maintenance/sync-vectors'
import { type CompilePack, createCompilePack } from '../services/pack/compile-pack'
import { createFindCandidates } from '../services/pack/find-candidates'
import type { SearchSemantic } from '../services/searching/ranked/search-semantic'
import { createSuggestWords } from '../services/searching/ranked/suggest-words'

/** Dependencies of packs. */
export interface PackParts {
  readonly connection: SqlConnection
  readonly clock: Clock
  readonly analyzer: Analyzer
  readonly fullText: FullText
  /** Whether full-text search is enabled. */
  readonly words: boolean
  readonly embedder: Embedder | null
  readonly index: VectorIndex
  readonly searchSemantic: SearchSemantic | null
  readonly finishing: FinishIndex
  /** Reference cosines of the model. */
  readonly levels: () => Promise<Levels>
  readonly unfinished: CatchUp['warnings']
  readonly findDisagreements: FindDisagreements
  /** Whether packs only contain approved entries (PACK_TRUST). */
  readonly isApproved: boolean
}

/** Wires the compilation of packs. */
export function composeCompilePack(given: PackParts): CompilePack {
  const { connection, clock, analyzer, fullText, words, embedder, index, searchSemantic, finishing, levels } = given
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
  const { findDisagreements, unfinished, isApproved } = given
  return createCompilePack({ reads, findCandidates, findDisagreements, analyzer, clock, unfinished, isApproved })
}
