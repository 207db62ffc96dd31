import { beforeAll } from 'vitest'
import { createObjectVectorIndex } from '../../../src/adapters/vector-object'
import { lateVectorize } from '../../contracts/late-vectorize'
import { semanticSearchContract } from '../../contracts/semantic-search'
import { vectorPartsContract } from '../../contracts/vector-parts'
import { bindings, migrate } from '../../support/bindings'

beforeAll(migrate)

lateVectorize('Vectorize, late and out of order', 0)

semanticSearchContract('a Durable Object, among as many as production compares,', () => ({
  index: createObjectVectorIndex(bindings.VECTORS),
  elapse: () => {},
}))

vectorPartsContract(4)
