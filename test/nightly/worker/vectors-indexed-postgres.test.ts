import { createPostgresVectorIndex } from '../../../src/adapters/postgres/vector-index'
import { semanticSearchContract } from '../../contracts/semantic-search'
import { onIndexedPgvector } from '../../support/indexed-vectors'

semanticSearchContract(
  'pgvector, by its HNSW index, among 6,000 entries,',
  (_, connection) => ({ index: createPostgresVectorIndex(connection, { few: 0 }), elapse: () => {} }),
  onIndexedPgvector,
)
