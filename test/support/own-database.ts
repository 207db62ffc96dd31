// Which PostgreSQL does a test file in workerd play against? A database of its own: the outbox, the schedule and the sequences are
// the whole database's, so that a file beside it would take this file's work, at another time by its clock.
import { env } from 'cloudflare:workers'
import { Client } from 'pg'
import { afterAll } from 'vitest'
import { renewBindings } from './bindings'

const { HYPERDRIVE, POSTGRES_TEMPLATE: template } = env as unknown as {
  HYPERDRIVE: Hyperdrive
  /** Empty on PGlite, which has one database for all. */
  POSTGRES_TEMPLATE: string
}

async function execute(statement: string): Promise<void> {
  const client = new Client({ connectionString: HYPERDRIVE.connectionString })
  // In workerd a socket that was closed is told as an error.
  client.on('error', () => {})
  await client.connect()
  await client.query(statement).finally(() => client.end())
}

if (!template) renewBindings()
else {
  const name = `${template}_${crypto.randomUUID().replaceAll('-', '')}`
  await execute(`CREATE DATABASE ${name} TEMPLATE ${template}`)
  const url = new URL(HYPERDRIVE.connectionString)
  url.pathname = `/${name}`
  renewBindings(url.href)
  afterAll(() => execute(`DROP DATABASE ${name} WITH (FORCE)`))
}
