import { beforeAll } from 'vitest'
import { grepMeans } from '../../contracts/grep'
import { d1Adapters, migrate } from '../../support/bindings'
import { TestClock } from '../../support/scope'

beforeAll(migrate)
grepMeans('D1', () => d1Adapters(new TestClock()), 10)
