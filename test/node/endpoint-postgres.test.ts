import { describe } from 'vitest'
import { meaningContract } from '../contracts/endpoint/meaning'
import { readingContract } from '../contracts/endpoint/reading'
import { searchingContract } from '../contracts/endpoint/searching'
import { playAgainst } from '../contracts/endpoint/session'
import { writingContract } from '../contracts/endpoint/writing'
import { CLIENTS } from '../support/clients'
import { POSTGRES } from '../support/server-postgres'

playAgainst(POSTGRES)

/**
 * Every suite of what the database stores and finds, once, the clients by turns: what differs between clients is the wire. Images, whose
 * bytes are in no database, resources, long entries and the protocol on PostgreSQL: test/nightly.
 */
const suites = [writingContract, readingContract, searchingContract, meaningContract]
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
