import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isRealServer } from '../../support/postgres'
import { execute, spawnServer } from '../../support/postgres-server'

/** The database that `npm run dev:postgres` installs and stores. */
describe.skipIf(!isRealServer() || process.platform !== 'linux')('a database with durable data', () => {
  let folder: string
  let data: string
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'commonplace-durable-'))
    chmodSync(folder, 0o755) // the server does not run as root
    data = join(folder, 'data')
    const { url, stop } = await start()
    await execute(url, 'CREATE TABLE kept (n int); INSERT INTO kept VALUES (0)')
    await stop()
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }))

  const start = () => spawnServer('serve', '--data', data)
  const serverPid = () => Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0])
  async function rows(url: string, text: string): Promise<Record<string, unknown>[]> {
    const client = new Client({ connectionString: url })
    await client.connect()
    try {
      return (await client.query(text)).rows
    } finally {
      await client.end()
    }
  }

  it('has acknowledged writes on the disk, and its settings guarantee that', async () => {
    const { url, stop } = await start()
    const settings = await rows(
      url,
      `SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') ORDER BY 1`,
    )
    expect(settings.map(({ setting }) => setting)).toEqual(['on', 'on', 'on'])
    await stop()
  })

  it('starts again at once, with everything acknowledged, each time its server was killed', async () => {
    for (let n = 1; n <= 5; n++) {
      const { url } = await start()
      await execute(url, `INSERT INTO kept VALUES (${n})`)
      process.kill(serverPid(), 'SIGKILL')
    }
    const { url, stop } = await start()
    expect(await rows(url, 'SELECT n FROM kept WHERE n BETWEEN 0 AND 5 ORDER BY n')).toEqual(
      [0, 1, 2, 3, 4, 5].map((n) => ({ n })),
    )
    await stop()
  })

  it('exits with the process that started it, however that one ends, and starts again', async () => {
    const first = await start()
    await execute(first.url, 'INSERT INTO kept VALUES (6)')
    process.kill(first.pid, 'SIGKILL')
    const { url, stop } = await start()
    expect(await rows(url, 'SELECT n FROM kept WHERE n IN (0, 6) ORDER BY n')).toEqual([{ n: 0 }, { n: 6 }])
    await stop()
  })

  it('is not kept from starting by a number that belongs to another program now', async () => {
    writeFileSync(
      join(data, 'postmaster.pid'),
      `${process.pid}\n${data}\n1700000000\n5432\n\n127.0.0.1\n  0 0\nready\n`,
    )
    const { url, stop } = await start()
    expect(await rows(url, 'SELECT n FROM kept WHERE n = 0')).toEqual([{ n: 0 }])
    await stop()
  })
})
