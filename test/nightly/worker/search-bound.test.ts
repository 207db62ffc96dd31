import { beforeAll, describe } from 'vitest'
import { pageInPartsCases } from '../../contracts/page-in-parts'
import { searchBoundCases } from '../../contracts/search-bound'
import { d1Adapters, migrate } from '../../support/bindings'
import { TestClock } from '../../support/scope'

describe('a search by words in D1', () => {
  beforeAll(migrate)

  const make = () => {
    const clock = new TestClock()
    return { ...d1Adapters(clock), clock }
  }
  searchBoundCases(make, 1_280)
  pageInPartsCases(make, true)
})
