import { describe } from 'vitest'
import { readingContract } from '../../contracts/endpoint/reading'
import { searchingContract } from '../../contracts/endpoint/searching'
import { playAgainst } from '../../contracts/endpoint/session'
import { writingContract } from '../../contracts/endpoint/writing'
import { CLIENTS, type Connect } from '../../support/clients'
import { freshDatabase } from '../../support/postgres'
import { execute } from '../../support/postgres-server'
import { startServer } from '../../support/server'
import { POSTGRES } from '../../support/server-postgres'

/** A session of the database for each request, as without a pooler. */
playAgainst({
  ...POSTGRES,
  start: async (vars) => {
    const database = await freshDatabase()
    const { url, stop } = await startServer(vars, database.url)
    return { url, sql: (statement) => execute(database.url, statement), stop: () => stop().then(database.drop) }
  },
})

describe('on PostgreSQL without a pooler', () => {
  const connect = CLIENTS['SDK v2, revision 2026-07-28'] as Connect
  writingContract(connect)
  readingContract(connect)
  searchingContract(connect)
})
