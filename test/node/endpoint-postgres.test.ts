import { describe } from 'vitest'
import { protocolContract } from '../contracts/endpoint/protocol'
import { playAgainst } from '../contracts/endpoint/session'
import { ENDPOINT_SUITES } from '../contracts/endpoint/suites'
import { CLIENTS } from '../support/clients'
import { POSTGRES } from '../support/server-postgres'

playAgainst(POSTGRES)

/**
 * Every suite of what is stored, once, the clients by turns: what differs between clients is the wire, and no database stands behind a
 * part of it that the other has not. The protocol on PostgreSQL: test/nightly.
 */
const suites = ENDPOINT_SUITES.filter((suite) => suite !== protocolContract)
const clients = Object.entries(CLIENTS)
clients.forEach(([name, connect], turn) => {
  describe(`${name}, on PostgreSQL`, () => {
    suites
      .filter((_, at) => at % clients.length === turn)
      .forEach((suite) => {
        suite(connect)
      })
  })
})
