import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { afterAll, beforeAll } from 'vitest'
import { createPostgresConnection, type PostgresConnection } from '../../src/adapters/postgres/connection'
import { createPostgresDialect } from '../../src/adapters/postgres/dialect'
import { createAnalyzer } from '../../src/domain/search/analysis'
import { feedKeepingContract } from '../contracts/keeping/change-feed'
import { imageRemovalContract } from '../contracts/keeping/images'
import { modelCallsContract } from '../contracts/keeping/model-calls'
import { outboxContract } from '../contracts/keeping/outbox'
import { scheduleContract } from '../contracts/keeping/schedule'
import { freshDatabase, type TestDatabase } from '../support/postgres'
import { TestClock } from '../support/scope'

// workerd has it; the Node that runs the tests has not yet.
Uint8Array.prototype.setFromBase64 ??= function (text) {
  const bytes = Buffer.from(text, 'base64')
  this.set(bytes)
  return { read: text.length, written: bytes.length }
}

/** The schedule works for every org of a database, so it has one of its own here, and a bucket. */
let database: TestDatabase
let storage: Miniflare
const opened: PostgresConnection[] = []
beforeAll(async () => {
  database = await freshDatabase()
  storage = new Miniflare(
    convertV4MiniflareOptions({ modules: true, script: 'export default {}', r2Buckets: ['IMAGES'] }),
  )
})
afterAll(async () => {
  for (const connection of opened) await connection.close()
  await storage.dispose()
  await database.drop()
})

const make = async () => {
  const dialect = createPostgresDialect(createAnalyzer('english'))
  const connection = createPostgresConnection({ connectionString: database.url, schema: 'public' }, dialect)
  opened.push(connection)
  const bucket = (await storage.getR2Bucket('IMAGES')) as unknown as R2Bucket
  return { connection, bucket, clock: new TestClock() }
}

outboxContract('PostgreSQL', make)

modelCallsContract('PostgreSQL', make)

imageRemovalContract('PostgreSQL', make)

scheduleContract('PostgreSQL', make)

feedKeepingContract('PostgreSQL', make)
