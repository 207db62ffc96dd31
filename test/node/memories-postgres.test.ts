import { afterAll, beforeAll } from 'vitest'
import { createPostgresConnection, type PostgresConnection } from '../../src/adapters/postgres/connection'
import { createPostgresDialect } from '../../src/adapters/postgres/dialect'
import { createAnalyzer } from '../../src/domain/search/analysis'
import { codeMeaningContract } from '../contracts/code-meaning'
import { codeNamesContract } from '../contracts/code-names'
import { memoryCostContract } from '../contracts/memory-costs'
import { memoryLifeContract } from '../contracts/memory-life'
import { memoryListContract } from '../contracts/memory-lists'
import { orientationContract } from '../contracts/orientation'
import { freshDatabase, type TestDatabase } from '../support/postgres'
import { TestClock } from '../support/scope'

// workerd has it; the Node that runs the tests has not yet.
Uint8Array.fromBase64 ??= (text) => new Uint8Array(Buffer.from(text, 'base64'))

/** Decay scans every organization of a database, so it has a separate one here. */
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
codeNamesContract('PostgreSQL', async () => ({ connection }))
memoryCostContract('PostgreSQL', async () => ({ connection, clock: new TestClock() }))
memoryListContract('PostgreSQL', async () => ({ connection, clock: new TestClock() }))
