import { Client } from 'pg'
import { expect, it } from 'vitest'
import { postgresSchema, writtenSchema } from '../../scripts/schema.mjs'
import { emptyDatabase, isRealServer } from '../support/postgres'

/** Another version may spell the same schema in other words. */
const MAJOR = 15

it.skipIf(!isRealServer())(
  'finds in migrations/schema.postgres.sql what the migrations of PostgreSQL make',
  async ({ skip }) => {
    const database = await emptyDatabase()
    const client = new Client({ connectionString: database.url })
    try {
      await client.connect()
      const { rows } = await client.query(`SELECT current_setting('server_version_num')::int / 10000 AS major`)
      if (rows[0].major !== MAJOR) return skip(`the file was written by PostgreSQL ${MAJOR}`)
      expect(await postgresSchema(client), 'npm run schema').toBe(writtenSchema('postgres'))
    } finally {
      await client.end()
      await database.drop()
    }
  },
)
