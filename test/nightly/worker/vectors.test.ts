import { beforeAll } from 'vitest'
import { createObjectVectorIndex } from '../../../src/adapters/vector-object'
import { lateVectorize } from '../../contracts/late-vectorize'
import { newestVectorsContract } from '../../contracts/newest-vectors'
import { semanticSearchContract } from '../../contracts/semantic-search'
import { bindings, migrate } from '../../support/bindings'

beforeAll(migrate)

lateVectorize('Vectorize, late and out of order', 0, 1_500, true)
lateVectorize('Vectorize, losing a tenth of its updates, with 1,500 entries,', 0.1, 1_500, true)

semanticSearchContract('a Durable Object, among as many as production compares,', () => ({
  index: createObjectVectorIndex(bindings.VECTORS),
  elapse: () => {},
}))

newestVectorsContract(4)
