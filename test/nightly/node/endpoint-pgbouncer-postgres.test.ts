import { describe } from 'vitest'
import { readingContract } from '../../contracts/endpoint/reading'
import { searchingContract } from '../../contracts/endpoint/searching'
import { playAgainst } from '../../contracts/endpoint/session'
import { writingContract } from '../../contracts/endpoint/writing'
import { CLIENTS, type Connect } from '../../support/clients'
import { freshDatabase, isRealServer } from '../../support/postgres'
import { execute } from '../../support/postgres-server'
import { startServer } from '../../support/server'
import { POSTGRES } from '../../support/server-postgres'

/** Nothing relies on state of a session: behind this pooler each transaction may run in another. */
playAgainst({
  ...POSTGRES,
  start: async (vars) => {
    const database = await freshDatabase()
    if (database.pooledUrl === null)
      throw new Error('There is no pgbouncer: with PG_URL, PG_POOLED_URL has to be set too.')
    const { url, stop } = await startServer(vars, database.pooledUrl)
    return { url, sql: (statement) => execute(database.url, statement), stop: () => stop().then(database.drop) }
  },
})

describe.skipIf(!isRealServer())('through pgbouncer in transaction mode', () => {
  const connect = CLIENTS['SDK v2, revision 2026-07-28'] as Connect
  writingContract(connect)
  readingContract(connect)
  searchingContract(connect)
})
