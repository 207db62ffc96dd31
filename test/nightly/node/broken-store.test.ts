import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { freePort } from '../../../scripts/ports.mjs'
import { ownDisk } from '../../support/broken-disks'
import { type DevServer, failToStart, startDevServer } from '../../support/dev-server'

/** Messages of `npm start`, in the terminal, at /ready and to callers, when its data folder is broken. */
const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2025-11-25',
}
const PATIENCE = { timeout: 30_000, interval: 200 }

// biome-ignore lint/suspicious/noExplicitAny: answers are untyped
type Json = any

/** @returns the error of the tool, or of the request */
async function call(server: DevServer, name: string, args: Json): Promise<Json> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } })
  const answer: Json = await (await fetch(server.url, { method: 'POST', headers: HEADERS, body })).json()
  return answer.result?.structuredContent ?? answer
}

async function ready(server: DevServer): Promise<{ status: number; said: Json; text: string }> {
  const response = await fetch(new URL('/ready', server.url))
  const text = await response.text()
  return { status: response.status, said: JSON.parse(text), text }
}

const store = (server: DevServer, text: string) =>
  call(server, 'store_context', { thread_id: 't', source: 'agent', text })
const READS: readonly [string, Json][] = [
  ['fts_search_context', { query: 'numbat' }],
  ['semantic_search_context', { query: 'numbat' }],
  ['hybrid_search_context', { query: 'numbat' }],
  ['search_context', {}],
  ['get_context_by_ids', { context_ids: [1] }],
  ['list_threads', {}],
  ['get_statistics', {}],
  ['grep_context', { pattern: 'numbat' }],
  ['context_recall', { query: 'numbat' }],
  ['context_getCurrent', {}],
  ['context', { goal: 'numbat' }],
  ['list_changes', {}],
  ['get_context_history', { context_id: 1 }],
]
const find = (server: DevServer) => call(server, 'fts_search_context', { query: 'numbat' })

function databaseIn(state: string): string {
  const folder = join(state, 'v3/d1/miniflare-D1DatabaseObject')
  const name = readdirSync(folder).find((one) => /^[0-9a-f]{64}\.sqlite$/.test(one))
  return join(folder, name as string)
}

describe('npm start on data that are broken', () => {
  let folder: string
  let whole: string
  let server: DevServer | undefined
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'commonplace-broken-'))
    whole = join(folder, 'whole')
    const first = await startDevServer(whole)
    await store(first, 'a numbat')
    await first.stop()
    // All of it into the one file that is broken below.
    const database = new DatabaseSync(databaseIn(whole))
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    database.close()
  })
  afterEach(async () => {
    await server?.stop()
    server = undefined
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }))

  const copy = (name: string): string => {
    const state = join(folder, name)
    cpSync(whole, state, { recursive: true })
    return state
  }

  const breakages: Record<string, { harm: (database: string) => void; terminal: RegExp; told: RegExp }> = {
    'a text instead of the database': {
      harm: (database) => writeFileSync(database, 'I am a text.\n'),
      terminal: /is not a database of this server/,
      told: /is not one of this server/,
    },
    'the database of another program': {
      harm(database) {
        for (const end of ['', '-wal', '-shm']) rmSync(`${database}${end}`, { force: true })
        const other = new DatabaseSync(database)
        other.exec('CREATE TABLE notes (text)')
        other.close()
      },
      terminal: /is not a database of this server/,
      told: /is not a database of this server/,
    },
    'a damaged database': {
      harm(database) {
        for (const end of ['-wal', '-shm']) rmSync(`${database}${end}`, { force: true })
        const bytes = readFileSync(database)
        for (let at = 4096; at < bytes.length; at += 4096) bytes.fill(0xa5, at, at + 512)
        writeFileSync(database, bytes)
      },
      terminal: /is damaged\. Stop the server, save a copy/,
      told: /The database is damaged/,
    },
    'a database that has lost all that is in it': {
      harm(database) {
        for (const end of ['', '-wal', '-shm']) rmSync(`${database}${end}`, { force: true })
        const other = new DatabaseSync(database)
        other.exec('PRAGMA user_version = 1')
        other.close()
      },
      terminal: /is missing or empty, although .* had one/,
      told: /missing or empty, although it had memories/,
    },
    'an emptied database': {
      harm: (database) => truncateSync(database),
      terminal: /is missing or empty, although .* had one/,
      told: /missing or empty, although it had memories/,
    },
    'a deleted database': {
      harm: (database) => rmSync(database),
      terminal: /is missing or empty, although .* had one/,
      told: /missing or empty, although it had memories/,
    },
  }

  for (const [what, { harm, terminal, told }] of Object.entries(breakages))
    it(`reports what is wrong with ${what}, does not change it, and continues`, async () => {
      const state = copy(what.replaceAll(' ', '-'))
      const database = databaseIn(state)
      harm(database)
      const before = existsSync(database) ? readFileSync(database).subarray(0, 64) : null
      server = await startDevServer(state)
      expect(server.output()).toMatch(terminal)
      expect(server.output()).toContain(state)
      for (const answer of [await store(server, 'more'), await find(server)])
        expect(answer).toMatchObject({
          error: { code: 'unavailable', retryable: false, message: expect.stringMatching(told) },
        })
      const { status, text } = await ready(server)
      expect([status, text]).toEqual([503, expect.stringMatching(told)])
      // No internals: no path, no words of the runtime.
      expect(text).not.toMatch(/sqlite|\/v3\/|reference/i)
      expect(text).not.toContain(basename(state))
      expect((await fetch(new URL('/health', server.url))).status).toBe(200)
      // Of a database in good order the runtime writes its own marks.
      if (!/another program|has lost/.test(what))
        expect(existsSync(database) ? readFileSync(database).subarray(0, 64) : null).toEqual(before)
    })

  it('serves again, without a restart, when the missing file is restored', async () => {
    const state = copy('back')
    rmSync(databaseIn(state))
    server = await startDevServer(state)
    expect(await find(server)).toMatchObject({ error: { code: 'unavailable' } })
    cpSync(databaseIn(whole), join(state, 'v3/d1/miniflare-D1DatabaseObject', basename(databaseIn(whole))))
    expect(await find(server)).toMatchObject({ count: 1 })
    const { output } = server
    await vi.waitFor(() => expect(output()).toContain('Commonplace is ready'), PATIENCE)
  })

  it('reads and deletes while the disk is full, reports that everywhere, and writes when there is space again', async ({
    skip,
  }) => {
    const disk = ownDisk(96)
    if (disk === null) return skip()
    try {
      server = await startDevServer(disk.folder)
      await store(server, 'a numbat')
      for (let i = 0; i < 100; i++) await store(server, `${i} ${'words of a text '.repeat(60)}`)
      disk.fill()
      const full = {
        code: 'unavailable',
        retryable: false,
        message: expect.stringContaining('disk of the database is full'),
      }
      // Free space inside its files, and space that the runtime releases, is used up first.
      const some = 'words of a long text '.repeat(4_000)
      const serving = server
      await vi.waitFor(async () => {
        expect(await store(serving, some + Math.random())).toEqual({ error: full })
        expect(await store(serving, 'more')).toEqual({ error: full })
      }, PATIENCE)
      // Deletes continue, with the reserve, and so do all reads.
      const ids = (await call(server, 'search_context', { limit: 100 })).results.map(({ id }: Json) => id)
      for (const id of ids.filter((one: number) => one !== 1).slice(0, 60))
        expect(await call(server, 'delete_context', { context_ids: [id] })).toMatchObject({ deleted_count: 1 })
      for (let round = 0; round < 4; round++)
        for (const [name, args] of READS)
          expect([name, (await call(server, name, args)).error]).toEqual([name, undefined])
      expect((await find(server)).count).toBeGreaterThan(0)
      expect(
        (await call(server, 'context_recall', { query: 'numbat', threshold: 0.1 })).results.length,
      ).toBeGreaterThan(0)
      const { status, said } = await ready(server)
      expect([status, said.checks.database]).toEqual([503, { backend: 'sqlite', ok: false, problem: full.message }])
      expect(server.output()).toContain(`The disk of ${disk.folder} is full`)

      await server.stop()
      server = await startDevServer(disk.folder)
      expect(server.output()).toContain(`The disk of ${disk.folder} is full`)
      expect(await store(server, 'more')).toEqual({ error: full })
      expect((await find(server)).count).toBeGreaterThan(0)

      disk.empty()
      expect(await store(server, 'more')).toMatchObject({ success: true })
      expect((await ready(server)).status).toBe(200)
      expect(server.output()).toContain('can be used again')
    } finally {
      await server?.stop()
      server = undefined
      disk.drop()
    }
  })

  it('reports that a folder is read-only, with data in it and without', async ({ skip }) => {
    const disk = ownDisk(64)
    const other = ownDisk(1)
    if (disk === null || other === null) return skip()
    try {
      cpSync(whole, disk.folder, { recursive: true })
      disk.readOnly()
      server = await startDevServer(disk.folder)
      expect(server.output()).toContain(`${disk.folder} is not writable`)
      const told = {
        error: { code: 'unavailable', retryable: false, message: expect.stringContaining('is not writable') },
      }
      expect(await store(server, 'more')).toEqual(told)
      expect(await ready(server)).toMatchObject({ status: 503, said: told })
      other.readOnly()
      const { code, said } = await failToStart(['--persist-to', other.folder], { PORT: String(await freePort()) })
      expect([code, said.split('\n')]).toEqual([1, [expect.stringContaining(`${other.folder} is not writable`)]])
    } finally {
      await server?.stop()
      server = undefined
      disk.drop()
      other.drop()
    }
  })
})
