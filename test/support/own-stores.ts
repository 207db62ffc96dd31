// What does a test file in workerd find stored? Nothing, though files share a process (`isolate: false`): a file of PostgreSQL has a
// database of its own there, since the outbox, the schedule and the sequences are the whole database's.
import { env } from 'cloudflare:workers'
import { Client } from 'pg'
import { afterAll, expect } from 'vitest'
import { renewBindings } from './bindings'
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

const { testPath = '' } = expect.getState()
if (!/postgres[^/]*$/.test(testPath)) renewBindings()
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
