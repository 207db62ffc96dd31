import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sql } from 'drizzle-orm'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { watchStorage } from '../../scripts/serve/storage.mjs'
import { LocalFault, translate } from '../../src/adapters/d1/errors'
import { hosted, NO_HOST, preparing, type StorageState } from '../../src/adapters/d1/hosted'
import type { SqlConnection } from '../../src/adapters/sql/core/connection'
import { unavailable } from '../../src/domain/errors'
import type { DatabaseHealth } from '../../src/ports/models'
import type { StorageFault, StorageHost } from '../../src/ports/storage-host'

type Local = SqlConnection & { readonly health: DatabaseHealth }

describe('the folder of a store', () => {
  let state: string
  let told: string[]
  beforeEach(() => {
    state = mkdtempSync(join(tmpdir(), 'commonplace-storage-'))
    told = []
  })
  afterEach(() => rmSync(state, { recursive: true, force: true }))
  const watch = () => watchStorage(state, (line) => told.push(line))
  const database = () => join(state, 'v3/d1/miniflare-D1DatabaseObject', `${'a'.repeat(64)}.sqlite`)
  const write = (bytes: string) => {
    mkdirSync(join(database(), '..'), { recursive: true })
    writeFileSync(database(), bytes)
  }
  const GOOD = 'SQLite format 3\0 and more'

  it('is in order when it is new, and when a server was stopped in its first moments', async () => {
    expect(watch().begin()).toBe(null)
    write('')
    expect(watch().begin()).toBe(null)
    expect(told).toEqual([])
  })

  it('misses a database from the first one on that was served from it', async () => {
    write(GOOD)
    const first = watch()
    first.begin()
    first.confirm()
    expect(await first.report(false)).toBe(null)
    for (const harm of [() => writeFileSync(database(), ''), () => rmSync(database())]) {
      harm()
      expect(watch().begin()).toBe('missing')
    }
    expect(await watch().report(false, 'empty')).toBe('missing')
    expect(told).toHaveLength(3)
    rmSync(join(state, 'commonplace.json'))
    expect([watch().begin(), await watch().report(false, 'empty')]).toEqual([null, null])
  })

  it('has nothing else instead of its database', () => {
    write('a text')
    expect(watch().begin()).toBe('foreign')
    expect(readFileSync(database(), 'utf8')).toBe('a text')
  })

  it('reserves space for reading, and releases it when the runtime finds no more', async () => {
    write(GOOD)
    const storage = watch()
    storage.begin()
    storage.confirm()
    const reserve = join(state, 'reserve')
    expect(statSync(reserve).size).toBeGreaterThanOrEqual(2_000_000)
    expect(statSync(reserve).size).toBeLessThanOrEqual(32_000_000)
    expect(storage.heard('e = workerd/util/sqlite.c++:1757: failed: database or disk is full: SQLITE_FULL')).toBe(true)
    expect(existsSync(reserve)).toBe(false)
    expect(storage.heard('{"level":"ERROR","message":"SQLITE_FULL"}')).toBe(false)
  })

  it('is damaged from the start where the file is, before anybody asks for what is lost', async () => {
    write('')
    const file = new DatabaseSync(database())
    file.exec('CREATE TABLE t (a); CREATE INDEX t_by_a ON t (a)')
    file.exec(
      "INSERT INTO t SELECT value || 'words' FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n LIMIT 5000) SELECT * FROM n)",
    )
    file.close()
    expect(watch().begin()).toBe(null)
    const bytes = readFileSync(database())
    bytes.fill(0xa5, bytes.length - 4096)
    writeFileSync(database(), bytes)
    const storage = watch()
    expect(storage.begin()).toBe('damaged')
    expect(await storage.report(false)).toBe('damaged')
    expect(told).toEqual([expect.stringContaining('is damaged')])
  })

  it('lets its reserve grow with the free space of the disk', () => {
    write(GOOD)
    const { bavail, bsize } = statfsSync(state)
    const reserve = join(state, 'reserve')
    writeFileSync(reserve, Buffer.alloc(2_000_000))
    const storage = watch()
    storage.begin()
    storage.confirm()
    const most = Math.min(32_000_000, Math.floor((bavail * bsize + 2_000_000) / 4))
    expect(Math.abs(statSync(reserve).size - most)).toBeLessThan(1_000_000)
    expect(JSON.parse(readFileSync(join(state, 'commonplace.json'), 'utf8')).reserve).toBe(statSync(reserve).size)
  })

  it('reports the error of the runtime when a call has failed, once', async () => {
    const storage = watch()
    storage.heard('e = workerd/util/sqlite.c++:910: failed: database disk image is malformed: SQLITE_CORRUPT')
    expect([await storage.report(false), await storage.report(true), await storage.report(true)]).toEqual([
      null,
      'damaged',
      'damaged',
    ])
    expect(told).toEqual([expect.stringContaining('is damaged')])
  })
})

describe('a local database whose files are broken', () => {
  const failing = unavailable('The database did not respond')
  const reads = sql`SELECT 1`
  const writes = sql`INSERT INTO t VALUES (1)`

  function open(fault: StorageFault | null) {
    const found = { fault, asked: 0, ran: [] as number[], fails: false }
    const run = async (statements: readonly unknown[]) => {
      found.ran.push(statements.length)
      if (found.fails) throw failing
      return statements.map((_, i) => [{ i }])
    }
    const connection = { batch: run, read: run, health: { backend: 'sqlite', ping: async () => void (await run([])) } }
    const host: StorageHost = {
      async report() {
        found.asked++
        return found.fault
      },
    }
    const state: StorageState = { fault: null }
    return {
      found,
      state,
      host,
      connection: hosted(connection as unknown as Local, host, state),
    }
  }

  it('makes no checks while nothing fails', async () => {
    const { found, connection } = open(null)
    await connection.batch([writes])
    expect([found.asked, found.ran]).toEqual([0, [1]])
  })

  it('reports why a call failed, and continues to read while it is full without trying to write', async () => {
    const { found, connection } = open('full')
    found.fails = true
    await expect(connection.batch([writes])).rejects.toMatchObject({ fault: 'full', retryable: false })
    found.fails = false
    await expect(connection.batch([writes])).rejects.toMatchObject({ fault: 'full' })
    expect(found.ran).toEqual([1])
    expect(await connection.batch([reads])).toEqual([[{ i: 0 }]])
    // A record of use is left out, and the reads in the batch still run.
    expect(await connection.batch([reads, writes], { org: 'o', isNote: true })).toEqual([[{ i: 0 }], []])
    // A delete uses the reserve.
    expect(await connection.batch([writes, writes], { org: 'o', usesReserve: true })).toHaveLength(2)
    expect(found.ran.at(-1)).toBe(2)
    found.fault = 'readonly'
    await expect(connection.batch([writes], { org: 'o', usesReserve: true })).rejects.toMatchObject({
      fault: 'readonly',
    })
    found.fault = 'full'
    await expect(connection.health.ping()).rejects.toMatchObject({ fault: 'full' })
    found.fault = null
    await connection.health.ping()
    await connection.batch([writes])
    expect(found.ran.at(-1)).toBe(1)
  })

  it('remembers the failed write where the host cannot be asked, until one succeeds', async () => {
    const full = translate(new Error('D1_ERROR: database or disk is full: SQLITE_FULL'), true)
    const failure = { is: full as unknown }
    const run = async () => {
      if (failure.is) throw failure.is
      return []
    }
    const bare = { batch: run, read: async () => [], health: { ping: async () => {} } }
    const { batch, health } = hosted(bare as unknown as Local, NO_HOST, { fault: null })
    await expect(batch([writes])).rejects.toBe(full)
    await expect(health.ping()).rejects.toMatchObject({ message: expect.stringContaining('is full') })
    failure.is = null
    await batch([writes])
    await health.ping()
  })

  it('is not replaced with a new one when it is missing', async () => {
    const { host, state, found } = open('missing')
    let begun = 0
    await expect(preparing(host, state, async () => void begun++)).rejects.toBeInstanceOf(LocalFault)
    expect(begun).toBe(0)
    found.fault = null
    await preparing(host, state, async () => void begun++)
    expect(begun).toBe(1)
  })
})
