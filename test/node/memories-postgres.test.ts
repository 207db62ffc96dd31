import { afterAll, beforeAll } from 'vitest'
import { createPostgresConnection, type PostgresConnection } from '../../src/adapters/postgres/connection'
import { createPostgresDialect } from '../../src/adapters/postgres/dialect'
import { createAnalyzer } from '../../src/domain/search/analysis'
import { codeMeaningContract } from '../contracts/code-meaning'
import { memoryContract } from '../contracts/endpoint/memories'
import { playAgainst } from '../contracts/endpoint/session'
import { memoryCostContract } from '../contracts/memory-costs'
import { memoryLifeContract } from '../contracts/memory-life'
import { memoryListContract } from '../contracts/memory-lists'
import { orientationContract } from '../contracts/orientation'
import { CLIENTS, type Connect } from '../support/clients'
import { freshDatabase, type TestDatabase } from '../support/postgres'
import { TestClock } from '../support/scope'
import { POSTGRES } from '../support/server-postgres'

// workerd has it; the Node that runs the tests has not yet.
Uint8Array.fromBase64 ??= (text) => new Uint8Array(Buffer.from(text, 'base64'))

playAgainst(POSTGRES)
const connect = CLIENTS['SDK v2, revision 2026-07-28'] as Connect
memoryContract(connect)

/** Decay looks at every org of a database, so it has one of its own here. */
let database: TestDatabase
let connection: PostgresConnection
beforeAll(async () => {
  database = await freshDatabase()
  const dialect = createPostgresDialect(createAnalyzer('english'))
  connection = createPostgresConnection({ connectionString: database.url, schema: 'public' }, dialect)
})
afterAll(async () => {
  await connection.close()
  await database.drop()
})

memoryLifeContract('PostgreSQL', async () => ({ connection, bucket: {} as R2Bucket, clock: new TestClock() }))
orientationContract('PostgreSQL', async () => ({ connection, clock: new TestClock() }))
codeMeaningContract('PostgreSQL', async () => ({ connection, clock: new TestClock() }))
memoryCostContract('PostgreSQL', async () => ({ connection, clock: new TestClock() }))
memoryListContract('PostgreSQL', async () => ({ connection, clock: new TestClock() }))
