import { beforeAll } from 'vitest'
import { lateVectorize } from '../../contracts/late-vectorize'
import { migrate } from '../../support/bindings'

beforeAll(migrate)

lateVectorize('Vectorize, late and out of order', 0)
