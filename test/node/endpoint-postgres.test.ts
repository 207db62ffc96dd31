import { describe } from 'vitest'
import { playAgainst } from '../contracts/endpoint/session'
import { ENDPOINT_SUITES } from '../contracts/endpoint/suites'
import { CLIENTS } from '../support/clients'
import { POSTGRES } from '../support/server-postgres'

playAgainst(POSTGRES)

/**
 * Every suite once, the clients by turns: what differs between clients is the wire, and no database stands behind a part of it that
 * the other has not.
 */
const clients = Object.entries(CLIENTS)
clients.forEach(([name, connect], turn) => {
  describe(`${name}, on PostgreSQL`, () => {
    ENDPOINT_SUITES.filter((_, at) => at % clients.length === turn).forEach((suite) => {
      suite(connect)
    })
  })
})
