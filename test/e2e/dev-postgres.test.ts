import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CLIENTS, type Connect, type TestClient } from '../support/clients'
import { type DevServer, startDevServer } from '../support/dev-server'
import { isRealServer, postgresUrl } from '../support/postgres'

const connect = CLIENTS['SDK v2, revision 2026-07-28'] as Connect

describe('npm run dev:postgres', () => {
  let folder: string
  let server: DevServer | undefined
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'commonplace-dev-postgres-'))
    // The server does not run as root.
    chmodSync(folder, 0o755)
  })
  afterAll(async () => {
    await server?.stop()
    // The database may still be writing its last words.
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
  })

  const start = async (env: Record<string, string>): Promise<TestClient> => {
    server = await startDevServer(join(folder, 'state'), 'dev:postgres', env)
    return connect(server.url)
  }

  it.skipIf(!isRealServer())(
    'starts database, migration and Worker, and keeps what was stored over a restart',
    async () => {
      const data = join(folder, 'data')
      const env = { COMMONPLACE_POSTGRES_DATA: data }
      const first = await start(env)
      const { data: stored } = await first.call('store_context', {
        thread_id: 't',
        source: 'user',
        text: 'kept in elephants',
      })
      await first.close()
      expect(server?.output()).toMatch(/used through the pooler at postgresql:/)
      await server?.stop()

      const second = await start(env)
      const { data: found } = await second.call('fts_search_context', { query: 'elephants', limit: 5 })
      const { data: statistics } = await second.call('get_statistics')
      await second.close()
      expect([found.results[0].id, statistics.backend]).toEqual([stored.context_id, 'postgresql'])
      expect(server?.output()).toMatch(/Up to date: 0 applied now/)
      await server?.stop()
    },
  )

  it('uses the database of DATABASE_URL, in the schema of POSTGRESQL_SCHEMA', async () => {
    const client = await start({ DATABASE_URL: postgresUrl(), POSTGRESQL_SCHEMA: 'dev_test' })
    expect((await client.call('get_statistics')).data).toMatchObject({ backend: 'postgresql', total_entries: 0 })
    await client.close()
    expect(server?.output()).toMatch(/schema dev_test/)
    expect(server?.output()).not.toMatch(/postgres:postgres@/)
  })
})
