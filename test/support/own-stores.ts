// Gives a test file in workerd empty stores, because files share a process (`isolate: false`). A file on PostgreSQL
// gets its own database, because outbox, schedule and sequences belong to a database.
import { env } from 'cloudflare:workers'
import { Client } from 'pg'
import { afterAll } from 'vitest'
import { renewBindings } from './bindings'
import { DATABASE } from './database'
import { settleAll } from './left-behind'

const { HYPERDRIVE, POSTGRES_TEMPLATE: template } = env as unknown as {
  HYPERDRIVE: Hyperdrive
  /** Empty on PGlite, which has one database for all. */
  POSTGRES_TEMPLATE: string
}

async function execute(statement: string): Promise<void> {
  const client = new Client({ connectionString: HYPERDRIVE.connectionString })
  // In workerd a closed socket is reported as an error.
  client.on('error', () => {})
  await client.connect()
  await client.query(statement).finally(() => client.end())
}

if (DATABASE === 'd1') renewBindings()
else if (!template) renewBindings(HYPERDRIVE.connectionString)
else {
  const name = `${template}_${crypto.randomUUID().replaceAll('-', '')}`
  await execute(`CREATE DATABASE ${name} TEMPLATE ${template}`)
  const url = new URL(HYPERDRIVE.connectionString)
  url.pathname = `/${name}`
  renewBindings(url.href)
  afterAll(() => execute(`DROP DATABASE ${name} WITH (FORCE)`))
}
// Before that, pending messages are processed first.
afterAll(settleAll)
