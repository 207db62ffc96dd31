import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WORKER_DIR } from '../support/build'
import { type House, houseOf, type Person } from '../support/dashboard'
import { ADMIN_TOKEN, startDeployment } from '../support/oauth'
import { type RunningServer, startServer } from '../support/server'

describe('the Worker with all its pages', () => {
  it('is at most 1,150 KB, packed as wrangler measures an upload', () => {
    const files = readdirSync(WORKER_DIR).filter((name) => /\.(js|wasm|sql)$/.test(name))
    const upload = Buffer.concat(files.map((name) => readFileSync(join(WORKER_DIR, name))))
    expect(files).toContain('index.js')
    expect(gzipSync(upload).length).toBeLessThanOrEqual(1_150_000)
  })
})

describe('the dashboard behind https', () => {
  it('keeps its session where no other host, no script and no plain connection gets it', async () => {
    const deployment = await startDeployment({ origin: 'https://memory.example' })
    try {
      const { key } = await deployment.key()
      const door = await deployment.ask('/login', { headers: { accept: 'text/html' } })
      const page = /name="page" value="([^"]*)"/.exec(await door.text())?.[1] ?? ''
      const answer = await deployment.ask('/login', {
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          origin: deployment.base,
          cookie: door.headers.getSetCookie()[0]?.split(';')[0] ?? '',
        },
        body: new URLSearchParams({ page, key, next: '/threads' }).toString(),
      })
      expect([answer.status, answer.headers.get('location')]).toEqual([303, '/threads'])
      const [session = ''] = answer.headers.getSetCookie().filter((one) => one.startsWith('__Host-commonplace='))
      expect(session).toMatch(
        /^__Host-commonplace=[^;]{80,}; Max-Age=28800; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
      )
      const cookie = session.split(';')[0] ?? ''
      expect((await deployment.ask('/threads', { headers: { accept: 'text/html', cookie } })).status).toBe(200)
    } finally {
      await deployment.stop()
    }
  })
})

describe('what a page of the dashboard costs', () => {
  const ENTRIES = 400
  let server: RunningServer
  let house: House
  let admin: Person
  let batches: { rowsRead: number; rowsWritten: number }[] = []

  beforeAll(async () => {
    const onLog = (line: string) => {
      for (const one of line.split('\n')) if (one.includes('"event":"sql"')) batches.push(JSON.parse(one))
    }
    server = await startServer({ AUTH_MODE: 'required', ADMIN_TOKEN, LOG_LEVEL: 'DEBUG' }, undefined, { onLog })
    house = houseOf(server)
    await house.admin('POST', '/orgs', { id: 'acme', name: 'Acme' })
    const somebody = await house.somebody({ role: 'admin' })
    admin = somebody
    for (let i = 0; i < ENTRIES / 100; i++)
      await house.call(somebody.key.key, 'store_context_batch', {
        entries: Array.from({ length: 100 }, (_, j) => ({
          ...{ thread_id: `thread ${j % 20}`, source: 'agent', text: `ferry number ${i * 100 + j} of the fleet` },
          metadata: { project: `p${j % 3}`, agent_name: `a${j % 4}`, kind: j % 2 === 0 ? 'note' : 'decision' },
        })),
      })
    await house.call(somebody.key.key, 'update_context', { context_id: 1, text: 'another ferry' })
  }, 300_000)
  afterAll(() => server?.stop())

  /** Batches of the second request: the first one fills the caches of an isolate. One of them looks up the key. */
  const cost = async (path: string) => {
    await admin.get(path)
    // Work after an answer is done before the next one starts.
    await admin.get('/projects')
    batches = []
    expect((await admin.get(path)).status).toBe(200)
    const seen = [...batches]
    return { trips: seen.length, rows: seen.reduce((sum, { rowsRead }) => sum + rowsRead, 0) }
  }

  it('takes at most three round trips and one for the key, all counted here', async () => {
    // One more counts the sessions that wait for review, while the page reads its own.
    for (const [path, most] of [
      ['/', 2],
      ['/threads', 2],
      ['/threads?begins=thread', 2],
      ['/threads/thread%201', 2],
      ['/search', 1],
      ['/search?project=p1', 2],
      ['/search?q=fleet&by=words', 3],
      ['/search?q=fleet&by=meaning', 3],
      ['/search?q=fleet', 4],
      // A search that finds nothing with its filters searches again, to suggest a spelling.
      ['/search?q=flete&by=words&kind=task', 4],
      ['/search?q=flete&kind=task', 5],
      ['/search?q=flete&live=1', 4],
      ['/entries/1', 3],
      ['/entries/2', 2],
      ['/entries/1/versions/1', 2],
      ['/entries/1/edit', 2],
      ['/pack?goal=the+fleet', 4],
      ['/activity', 2],
      ['/review', 3],
      ['/stale', 3],
      ['/usage', 2],
      ['/projects', 2],
      ['/keys', 3],
      ['/audit', 2],
      ['/backups', 2],
      ['/cost', 2],
      ['/settings', 3],
    ] as const)
      expect([path, (await cost(path)).trips]).toEqual([path, expect.toSatisfy((n: number) => n <= most + 1)])
  })

  it('[OPERATE-140] is at most 60,000 bytes of HTML for each list', async () => {
    const lists = [
      '/',
      '/threads',
      '/threads/thread%201',
      '/search?project=p1',
      '/search?q=fleet',
      '/pack?goal=the+fleet',
    ]
    for (const path of [
      ...lists,
      '/activity',
      '/review',
      '/stale',
      '/usage',
      '/projects',
      '/keys',
      '/audit',
      '/backups',
      '/cost',
      '/settings',
      '/help',
    ]) {
      const { text } = await admin.get(path)
      expect([path, new TextEncoder().encode(text).length]).toEqual([
        path,
        expect.toSatisfy((n: number) => n <= 60_000),
      ])
    }
  })

  it('is a bounded number of rows: the newest for lists, and what is counted for the overview and for searches', async () => {
    for (const [path, most] of [
      // Each of the newest 10,000 by its index and its row, and twice as it is counted.
      ['/', 5 * ENTRIES + 1_000],
      ['/threads', 300],
      ['/threads/thread%201', 400],
      ['/search', 20],
      ['/search?project=p1', 400],
      // All have the word: then searches and packs read as much as agents' tools at most.
      ['/search?q=fleet&by=words', 8 * ENTRIES],
      ['/search?q=fleet&by=meaning', 3 * ENTRIES],
      ['/search?q=fleet', 13 * ENTRIES],
      ['/search?q=flete&by=words&kind=task', 4 * ENTRIES],
      ['/pack?goal=the+fleet', 140 * ENTRIES],
      ['/entries/1', 100],
      ['/entries/1/versions/1', 20],
      ['/entries/1/edit', 20],
      ['/activity', 2_500],
      ['/review', 20],
      ['/suggest?field=tag&q=t', 20],
      ['/suggest?field=thread&q=thread', 300],
      ['/stale', 400],
      ['/projects', 200],
      ['/keys', 20],
      ['/audit', 100],
      ['/backups', 100],
      ['/cost', 100],
      ['/settings', 250],
    ] as const) {
      const { rows } = await cost(path)
      expect([path, rows]).toEqual([path, expect.toSatisfy((n: number) => n <= most)])
    }
  })
})
