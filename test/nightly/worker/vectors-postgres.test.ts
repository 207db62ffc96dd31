import { createPostgresVectorIndex } from '../../../src/adapters/postgres/vector-index'
import { semanticSearchContract } from '../../contracts/semantic-search'
import { postgresAdapters } from '../../support/bindings-postgres'

semanticSearchContract(
  'pgvector, compared one by one,',
  (_, connection) => ({ index: createPostgresVectorIndex(connection), elapse: () => {} }),
  { adapters: (clock) => postgresAdapters(clock), prepare: async () => {} },
)
