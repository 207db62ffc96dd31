import { beforeAll } from 'vitest'
import { filtersMean } from '../../contracts/filters'
import { d1Adapters, migrate } from '../../support/bindings'

beforeAll(migrate)

filtersMean('D1', (clock) => d1Adapters(clock), 25)
