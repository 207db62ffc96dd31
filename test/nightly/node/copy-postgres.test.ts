import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '../../support/build'
import { connect, copy, fill, hashOf, query } from '../../support/copying'
import { startD1Api } from '../../support/d1-api'
import { startDevServer } from '../../support/dev-server'
import { freshDatabase, type TestDatabase } from '../../support/postgres'

describe('commonplace copy, between every pair of backends', () => {
  let scratch: string
  let database: TestDatabase
  let local: string[]
  beforeAll(async () => {
    scratch = mkdtempSync(join(tmpdir(), 'commonplace-copy-'))
    database = await freshDatabase()
    local = ['--state', join(scratch, 'first'), '--from', 'd1:local', '--to', database.url]
    const server = await startDevServer(join(scratch, 'first'))
    const client = await connect(server.url)
    await fill(client)
    await client.close()
    await server.stop()
    expect(await copy(['--org', 'local', ...local])).toMatchObject({ code: 0, err: '' })
  })
  afterAll(async () => {
    rmSync(scratch, { recursive: true, force: true })
    await database.drop()
  })

  it('copies the same back into a D1, also through the API of Cloudflare', async () => {
    const back = await copy([
      '--org',
      'local',
      '--from',
      database.url,
      '--to',
      'd1:local',
      '--state',
      mkdtempSync(join(scratch, 'back-')),
    ])
    expect(back).toMatchObject({ code: 0, err: '' })
    const { openLocal } = (await import(`${ROOT}src/cli/copy/d1-local.mjs`)) as {
      openLocal(state: string): Promise<{ database: D1Database; close(): Promise<void> }>
    }
    const deployed = join(scratch, 'deployed')
    mkdirSync(deployed)
    const { database: d1, close } = await openLocal(deployed)
    const api = await startD1Api({ 'some-id': d1 })
    const env = { CLOUDFLARE_API_BASE_URL: api.url, CLOUDFLARE_ACCOUNT_ID: 'account', CLOUDFLARE_API_TOKEN: 'secret' }
    const remote = await copy(['--org', 'local', '--from', database.url, '--to', 'd1:some-id'], { env })
    const refused = await copy(['--org', 'local', '--from', database.url, '--to', 'd1:some-id'], {
      env: { ...env, CLOUDFLARE_API_TOKEN: 'wrong' },
    })
    await api.stop()
    await close()
    expect(remote).toMatchObject({ code: 0, err: '' })
    expect(hashOf(remote)).toEqual(hashOf(back))
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('Authentication error') })
  })

  it('finds what differs afterwards, names it, and ends with 1', async () => {
    const target = await freshDatabase()
    const again = () => copy(['--org', 'local', ...local.slice(0, -1), target.url])
    expect((await again()).code).toBe(0)
    await query(
      target.url,
      `UPDATE entries SET text = text || '.' WHERE id = 11; DELETE FROM entry_vectors WHERE entry_id = 12`,
    )
    const { code, out, err } = await again()
    expect([code, out, err]).toEqual([
      1,
      expect.stringContaining('different: 11, 12'),
      expect.stringContaining('NOT equal'),
    ])
    await query(target.url, `DELETE FROM entries WHERE id = 13`)
    expect((await again()).out).toContain('only in the source: 13')
    await target.drop()
  })
})
