import { describe } from 'vitest'
import { protocolContract } from '../contracts/endpoint/protocol'
import { ENDPOINT_SUITES } from '../contracts/endpoint/suites'
import { CLIENTS } from '../support/clients'

/** Every suite with the newest client; the others play the protocol here, and every suite in the nightly tier. */
Object.entries(CLIENTS).forEach(([name, connect], at) => {
  describe(name, () => {
    for (const suite of at === 0 ? ENDPOINT_SUITES : [protocolContract]) suite(connect)
  })
})
