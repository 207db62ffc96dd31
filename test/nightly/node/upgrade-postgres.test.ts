import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../../../scripts/ports.mjs'
import { ROOT, WORKER_DIR } from '../../support/build'
import { emptyDatabase, isRealServer } from '../../support/postgres'
import { startServer } from '../../support/server'

/**
 * Upgrade and rollback: the Worker of the last release (`migrations/released.json`) and this one on the same data, in the order in which a
 * deployment and a rollback combine them. That Worker is built from its commit, with the packages of this checkout.
 */
const file = join(ROOT, 'migrations', 'released.json')
const released: { version: string; commit: string; migrations: Record<string, string> } | null = existsSync(file)
  ? JSON.parse(readFileSync(file, 'utf8'))
  : null
const commit = process.env.RELEASED_COMMIT ?? released?.commit
const isKnown = commit !== undefined && spawnSync('git', ['cat-file', '-e', commit], { cwd: ROOT }).status === 0

const folder = mkdtempSync(join(tmpdir(), 'commonplace-upgrade-'))
const source = join(folder, 'source')
const lastWorker = join(folder, 'worker')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A call of a tool over HTTP, in open mode. */
async function call(url: URL, name: string, args: object) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
  })
  const { result } = (await response.json()) as {
    result: { isError?: boolean; structuredContent: Record<string, unknown> }
  }
  expect([name, result.isError ?? false, result.structuredContent.error]).toEqual([name, false, undefined])
  return result.structuredContent
}

const TEXT = 'The harbour crane needs a new brake before winter'

/** A team's work of a day, each with what it finds again. */
async function work(url: URL, thread: string): Promise<number> {
  const stored = await call(url, 'store_context', { thread_id: thread, source: 'agent', text: TEXT, tags: [thread] })
  const id = stored.context_id as number
  await call(url, 'remember', { title: `Brakes of ${thread}`, content: TEXT, kind: 'decision', project: thread })
  await call(url, 'update_context', { context_id: id, text: `${TEXT}, says ${thread}` })
  await read(url, thread, id)
  const gone = await call(url, 'store_context', { thread_id: thread, source: 'agent', text: 'soon gone' })
  await call(url, 'delete_context', { context_ids: [gone.context_id] })
  return id
}

async function read(url: URL, thread: string, id: number): Promise<void> {
  const ids = (found: Record<string, unknown>) => (found.results as { id: number }[]).map((one) => one.id)
  for (const tool of ['fts_search_context', 'hybrid_search_context', 'semantic_search_context'])
    expect(ids(await call(url, tool, { query: 'brake of the crane', thread_id: thread }))).toContain(id)
  const { result } = await call(url, 'get_context_by_ids', { context_ids: [id] })
  expect(JSON.stringify(result)).toContain(`says ${thread}`)
  expect(JSON.stringify(await call(url, 'context', { goal: 'mend the crane', project: thread }))).toContain('Brakes of')
  expect(JSON.stringify(await call(url, 'get_context_history', { context_id: id }))).toContain(TEXT)
}

describe.runIf(isKnown)('next to the last release', () => {
  beforeAll(() => {
    mkdirSync(source)
    const archive = execFileSync('git', ['archive', commit ?? ''], { cwd: ROOT, maxBuffer: 2 ** 30 })
    execFileSync('tar', ['-x', '-C', source], { input: archive })
    symlinkSync(join(ROOT, 'node_modules'), join(source, 'node_modules'))
    const wrangler = join(ROOT, 'node_modules', 'wrangler', 'bin', 'wrangler.js')
    execFileSync(process.execPath, [wrangler, 'deploy', '--dry-run', '--outdir', lastWorker], {
      ...{ cwd: source, stdio: 'pipe' },
      env: { ...process.env, WRANGLER_SEND_METRICS: 'false' },
    })
  })

  /** Serves with one Worker after the other from one folder. */
  async function serving<Result>(worker: string, place: string, use: (url: URL) => Promise<Result>, url?: string) {
    const kept = { folder: place, port: await freePort() }
    const server = await startServer({}, url, { worker, kept })
    try {
      return await use(server.url)
    } finally {
      await server.stop()
    }
  }
  const ready = async (url: URL) => {
    const response = await fetch(new URL('/ready', url))
    return { status: response.status, body: JSON.stringify(await response.json()) }
  }

  it('lets the Worker of the last release run with the newer schema, and this one find its writes (D1)', async () => {
    const place = join(folder, 'forward')
    const first = await serving(WORKER_DIR, place, (url) => work(url, 'before'))
    const between = await serving(lastWorker, place, async (url) => {
      expect((await ready(url)).status).toBe(200)
      await read(url, 'before', first)
      return work(url, 'between')
    })
    await serving(WORKER_DIR, place, async (url) => {
      await read(url, 'before', first)
      await read(url, 'between', between)
      await work(url, 'after')
    })
  })

  it('migrates the data of the last release (D1)', async () => {
    const place = join(folder, 'upgrade')
    const old = await serving(lastWorker, place, (url) => work(url, 'old'))
    await serving(WORKER_DIR, place, async (url) => {
      await read(url, 'old', old)
      await work(url, 'new')
    })
  })

  it.runIf(isRealServer())(
    'does both on PostgreSQL, where the schema is migrated before the Worker is deployed',
    async () => {
      const migrate = (from: string, url: string) =>
        execFileSync(process.execPath, [join(from, 'src', 'cli', 'migrate-postgres.mjs')], {
          ...{ env: { ...process.env, DATABASE_URL: `${url}?sslmode=disable` }, stdio: 'pipe' },
        })
      const database = await emptyDatabase()
      migrate(source, database.url)
      const old = await serving(lastWorker, join(folder, 'pg-1'), (url) => work(url, 'old'), database.url)
      await serving(
        WORKER_DIR,
        join(folder, 'pg-2'),
        async (url) => {
          const { status, body } = await ready(url)
          if (status !== 200) expect(body).toContain('migrate:postgres')
        },
        database.url,
      )
      migrate(ROOT, database.url)
      const between = await serving(
        lastWorker,
        join(folder, 'pg-3'),
        async (url) => {
          await read(url, 'old', old)
          return work(url, 'between')
        },
        database.url,
      )
      await serving(
        WORKER_DIR,
        join(folder, 'pg-4'),
        async (url) => {
          await read(url, 'old', old)
          await read(url, 'between', between)
        },
        database.url,
      )
      await database.drop()
    },
  )
})
