import { createPostgresVectorIndex } from '../../../src/adapters/postgres/vector-index'
import { semanticSearchContract } from '../../contracts/semantic-search'
import { onPgvector } from '../../support/indexed-vectors'

semanticSearchContract(
  'pgvector, compared one by one,',
  (_, connection) => ({ index: createPostgresVectorIndex(connection), elapse: () => {} }),
  onPgvector,
)
