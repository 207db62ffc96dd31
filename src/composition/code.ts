import { createCodeParser } from '../adapters/code/parser'
import type { SqlConnection } from '../adapters/sql/core/connection'
import { createSqlCodeIndex } from '../adapters/sql/stores/code/code-index'
import type { Quotas } from '../domain/quota'
import type { Levels } from '../domain/recall/similarity'
import type { Analyzer } from '../domain/search/analysis'
import type { Clock } from '../ports/clock'
import type { Embedder } from '../ports/models'
import { createSearchCode } from '../services/searching/code/search-code'
import type { Services } from '../services/services'
import { createIndexCode, createPrepareCode } from '../services/writing/code/index-code'

/** Wires the index and search of source code. */
export function composeCode(given: {
  readonly connection: SqlConnection
  readonly embedder: Embedder | null
  readonly analyzer: Analyzer
  readonly levels: () => Promise<Levels>
  readonly clock: Clock
  readonly onEmbeddingFailure: 'fail' | 'defer'
  readonly quotas: Quotas
}): Services['code'] {
  const { connection, embedder, analyzer, levels, clock, onEmbeddingFailure, quotas } = given
  const index = createSqlCodeIndex(connection, clock, quotas)
  const parser = createCodeParser()
  const prepareCode = createPrepareCode({ parser, analyzer, embedder, onEmbeddingFailure })
  return {
    ...createIndexCode({ index, prepareCode, clock }),
    search: createSearchCode({ index, embedder, analyzer, levels, clock }),
  }
}
