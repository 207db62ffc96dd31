import { createPostgresVectorIndex } from '../../../src/adapters/postgres/vector-index'
import { createObjectVectorIndex } from '../../../src/adapters/vector-object'
import { semanticSearchContract } from '../../contracts/semantic-search'
import { bindings } from '../../support/bindings'
import { onPgvector } from '../../support/indexed-vectors'

semanticSearchContract(
  'a Durable Object with PostgreSQL, with 1,500 entries,',
  (_, connection) => ({
    index: createPostgresVectorIndex(connection, { auxiliary: createObjectVectorIndex(bindings.VECTORS) }),
    elapse: () => {},
    crowd: 1_500,
  }),
  onPgvector,
)
