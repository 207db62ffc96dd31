import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { migrate } from '../support/migrate-postgres'
import { isRealServer } from '../support/postgres'
import { execute, spawnServer } from '../support/postgres-server'

/** A server that speaks TLS with a certificate of its own for `localhost`, as a hosted one does with that of its provider. */
const REQUEST =
  'openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout server.key -out server.crt && chmod 600 server.key'

describe.skipIf(!isRealServer())('a PostgreSQL server that speaks TLS', () => {
  let server: Awaited<ReturnType<typeof spawnServer>>
  let certificate: string
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-tls-'))
  const at = (host: string, query = '') => {
    const url = new URL(server.url)
    url.hostname = host
    return `${url.href}${query}`
  }

  beforeAll(async () => {
    server = await spawnServer('serve')
    await execute(
      server.url,
      `COPY (SELECT 1) TO PROGRAM 'unset LD_LIBRARY_PATH; ${REQUEST}'`,
      'ALTER SYSTEM SET ssl = on',
      'SELECT pg_reload_conf()',
    )
    const client = new Client({ connectionString: server.url })
    await client.connect()
    const { rows } = await client.query(`SELECT pg_read_file('server.crt') AS certificate`)
    await vi.waitFor(async () => expect((await client.query('SHOW ssl')).rows[0].ssl).toBe('on'), { timeout: 60_000 })
    await client.end()
    certificate = join(folder, 'root.crt')
    writeFileSync(certificate, rows[0].certificate)
  })
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true })
    await server?.stop()
  })

  it('is migrated in TLS, with its certificate verified if requested', async () => {
    const verified = await migrate([at('localhost', `?sslmode=verify-full&sslrootcert=${certificate}`)])
    expect([verified.code, verified.err]).toEqual([0, ''])
    expect(await migrate([at('127.0.0.1', '?sslmode=require')])).toMatchObject({ code: 0 })
    expect(await migrate([at('127.0.0.1', `?sslmode=verify-ca&sslrootcert=${certificate}`)])).toMatchObject({ code: 0 })
  })

  it('is left alone when its certificate is unknown or for another name', async () => {
    expect(await migrate([at('localhost', '?sslmode=verify-full')])).toMatchObject({
      code: 1,
      err: expect.stringContaining('sslrootcert=FILE'),
    })
    expect(await migrate([at('127.0.0.1', `?sslmode=verify-full&sslrootcert=${certificate}`)])).toMatchObject({
      code: 1,
      err: expect.stringContaining('for another host'),
    })
  })

  it('is reached by IPv6', async () => {
    const run = await migrate([at('[::1]', '?sslmode=require'), '--schema', 'sixth'])
    expect([run.code, run.err]).toEqual([0, ''])
    expect(run.out).toContain('[::1]')
  })
})
