import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WORKER_DIR } from '../support/build'
import { CLIENTS, type Connect } from '../support/clients'
import { type RunningServer, startServer } from '../support/server'

const connect = CLIENTS['SDK v2, revision 2026-07-28'] as Connect
const MOST_BYTES = 450_000

describe('modules of the Worker', () => {
  const loaded: string[] = []
  let server: RunningServer
  beforeAll(async () => {
    server = await startServer({}, undefined, { onModule: (name) => loaded.push(name) })
  })
  afterAll(() => server.stop())

  /** Source files of loaded modules, from the root. */
  const sources = (): string[] =>
    loaded.flatMap((name) => JSON.parse(readFileSync(join(WORKER_DIR, `${name}.map`), 'utf8')).sources as string[])
  const isOf = (folder: string) => (source: string) => source.includes(folder)

  it('[OPERATE-207] evaluates at most 450 KB (gzipped) before the first answer of MCP, and nothing of the dashboard or OAuth', async () => {
    const client = await connect(server.url)
    await client.close()
    const bytes = gzipSync(Buffer.concat(loaded.map((name) => readFileSync(join(WORKER_DIR, name))))).length
    expect(bytes).toBeGreaterThan(100_000)
    expect(bytes).toBeLessThanOrEqual(MOST_BYTES)
    const later = [
      'src/http/dashboard/',
      'src/services/transfer/import',
      '@cloudflare/workers-oauth-provider',
      '@lezer/',
    ]
    for (const folder of [...later, '/pg/', '@orama/stemmers', '/re2js/'])
      expect(sources().filter(isOf(folder))).toEqual([])
  })

  it('[OPERATE-208] loads the dashboard with the first page, and time zones with the first call that names a time', async () => {
    const client = await connect(server.url)
    expect(sources().some(isOf('temporal-polyfill'))).toBe(false)
    await client.call('list_changes', { after: 'yesterday' })
    expect(sources().some(isOf('temporal-polyfill'))).toBe(true)
    await client.close()
    const page = await fetch(new URL('/', server.url), { headers: { accept: 'text/html' } })
    expect([page.status, sources().some(isOf('src/http/dashboard/'))]).toEqual([200, true])
  })
})
