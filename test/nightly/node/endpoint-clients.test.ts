import { describe } from 'vitest'
import { connectorContract } from '../../contracts/endpoint/connector'
import { ENDPOINT_SUITES } from '../../contracts/endpoint/suites'
import { CLIENTS } from '../../support/clients'

for (const [name, connect] of Object.entries(CLIENTS).slice(1)) {
  describe(name, () => {
    for (const suite of [...ENDPOINT_SUITES, connectorContract]) suite(connect)
  })
}
