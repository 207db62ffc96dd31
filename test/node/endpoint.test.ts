import { describe } from 'vitest'
import { protocolContract } from '../contracts/endpoint/protocol'
import { ENDPOINT_SUITES } from '../contracts/endpoint/suites'
import { writingContract } from '../contracts/endpoint/writing'
import { CLIENTS } from '../support/clients'
import { DATABASE, IS_NIGHTLY } from '../support/database'

/**
 * On D1 every suite with the newest client, and the protocol with the others; every suite with these in the nightly tier. On PostgreSQL
 * writing with the newest client; every other suite in the nightly tier.
 */
Object.entries(CLIENTS).forEach(([name, connect], at) => {
  const suites = at === 0 ? ENDPOINT_SUITES : [protocolContract]
  const played = DATABASE === 'd1' ? suites : suites.filter((suite) => (suite === writingContract) !== IS_NIGHTLY)
  if (at > 0 && DATABASE === 'postgresql') return
  describe(name, () => {
    for (const suite of played) suite(connect)
  })
})
