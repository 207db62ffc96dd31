import { describe } from 'vitest'
import { imageContract } from '../contracts/endpoint/images'
import { longEntriesContract } from '../contracts/endpoint/long-entries'
import { meaningContract } from '../contracts/endpoint/meaning'
import { protocolContract } from '../contracts/endpoint/protocol'
import { readingContract } from '../contracts/endpoint/reading'
import { resourceContract } from '../contracts/endpoint/resources'
import { searchingContract } from '../contracts/endpoint/searching'
import { playAgainst } from '../contracts/endpoint/session'
import { writingContract } from '../contracts/endpoint/writing'
import { CLIENTS } from '../support/clients'
import { POSTGRES } from '../support/server-postgres'

playAgainst(POSTGRES)

const SUITES = [
  protocolContract,
  writingContract,
  imageContract,
  readingContract,
  resourceContract,
  searchingContract,
  longEntriesContract,
  meaningContract,
]

/**
 * Every suite once, the clients by turns: what differs between clients is the wire, and no database stands behind a part of it that
 * the other has not; each suite with each client is `endpoint.test.ts`.
 */
const clients = Object.entries(CLIENTS)
clients.forEach(([name, connect], turn) => {
  describe(`${name}, on PostgreSQL`, () => {
    SUITES.filter((_, at) => at % clients.length === turn).forEach((suite) => {
      suite(connect)
    })
  })
})
