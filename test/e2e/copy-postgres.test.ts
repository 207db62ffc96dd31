import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runHere } from '../support/command-here'
import { connect, copy, FILLED, fill, LONG, query, type Run } from '../support/copying'
import { startDevServer } from '../support/dev-server'
import { startPlace } from '../support/places'
import { freshDatabase, type TestDatabase } from '../support/postgres'

describe('commonplace copy', () => {
  let scratch: string
  let database: TestDatabase
  let highest: number
  let local: string[]
  /** Number of copied entries when the first try was killed, and the output of the second one. */
  let stopped: number
  let run: Run
  beforeAll(async () => {
    scratch = mkdtempSync(join(tmpdir(), 'commonplace-copy-'))
    database = await freshDatabase()
    local = ['--state', join(scratch, 'first'), '--from', 'd1:local', '--to', database.url]
    const server = await startDevServer(join(scratch, 'first'))
    const client = await connect(server.url)
    highest = await fill(client)
    await client.close()
    await server.stop()
    for (const name of FILLED) await query(database.url, `ALTER TABLE ${name} SET (autovacuum_enabled = false)`)
    await copy(['--org', 'local', ...local], { until: /100\/\d+ copied/ })
    // The last statements of the killed Worker may still be written; they are counted, or ended, but not both.
    await query(
      database.url,
      'SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    )
    stopped = Number((await query(database.url, 'SELECT count(*) AS n FROM entries'))[0]?.n)
    const again = await startDevServer(join(scratch, 'first'))
    const writer = await connect(again.url)
    await writer.call('update_context', { context_id: 5, text: 'changed while the copy was stopped' })
    await writer.close()
    await again.stop()
    run = await copy(['--org', 'local', ...local])
  })
  afterAll(async () => {
    rmSync(scratch, { recursive: true, force: true })
    await database.drop()
  })

  it('continues where it was stopped, and ends with both sides equal', async () => {
    expect(stopped).toBeGreaterThanOrEqual(100)
    expect(stopped).toBeLessThan(400)
    // Keys stay behind, so none of the target's may be given an owner of these entries.
    expect(await query(database.url, 'SELECT org, name FROM owners')).toEqual([{ org: 'local', name: 'local' }])
    expect(run).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringContaining('The copy is complete; both databases are equal.'),
    })
    expect(/ (\d+)\/400 copied/.exec(run.out)?.[1]).toBe(String(stopped))
    expect(run.out).toMatch(
      /entries +400 +400\ntags +798 +798\nimages +1 +1\nlinks +\d+ +\d+\nvectors +(\d+) +\1\nversions +5 +5\n/,
    )
    expect(await query(database.url, 'SELECT text, version FROM entries WHERE id = 5')).toEqual([
      { text: 'changed while the copy was stopped', version: 2 },
    ])
    expect(await query(database.url, 'SELECT lines FROM text_line_index')).toEqual([{ lines: 2000 }])
    // The planner has statistics of the rows; the first try was killed before it updated them.
    const known = await query(
      database.url,
      `SELECT relname AS name, reltuples > 0 AS counted, EXISTS (SELECT FROM pg_stats WHERE tablename = relname) AS described
      FROM pg_class WHERE relname IN (${FILLED.map((name) => `'${name}'`)}) ORDER BY relname`,
    )
    expect(known).toEqual(FILLED.map((name) => ({ name, counted: true, described: true })))
  })

  it('lets the other backend answer as the first did: by words, by meaning, by id, in counts, with new ids', async () => {
    const server = await startPlace({}, { hyperdrive: database.url })
    const client = await connect(server.url)
    const words = await client.call('fts_search_context', { query: 'heliotrope', limit: 10 })
    expect(words.data.total).toBe(5)
    const meaning = await client.call('semantic_search_context', { query: 'A changed heliotrope note', limit: 1 })
    expect(meaning.data.results[0].id).toBe(3)
    const { data } = await client.call('get_context_by_ids', { context_ids: [3] })
    expect(data.result[0]).toMatchObject({
      metadata: { rank: 99, nested: { z: [1, null, 'x'], a: true } },
      version: 2,
    })
    const history = await client.call('get_context_history', { context_id: 3, version: 1 })
    expect(history.data.result[0]).toMatchObject({ version: 1, metadata: { status: 'open', rank: 2 / 8 } })
    const back = await client.call('restore_context', { context_ids: [7, highest] })
    expect(back.data.restored).toEqual([
      { context_id: 7, version: 3 },
      { context_id: highest, version: 3 },
    ])
    const whole = await client.call('get_context_by_ids', { context_ids: [highest] })
    expect(whole.data.result[0].text_content).toBe(LONG)
    await client.call('delete_context', { context_ids: [7, highest] })
    const threads = await client.call('list_threads')
    expect(
      threads.data.threads
        .map(({ entry_count }: { entry_count: number }) => entry_count)
        .reduce((a: number, b: number) => a + b),
    ).toBe(400)
    const stored = await client.call('store_context', { thread_id: 'new', source: 'user', text: 'after the copy' })
    expect(stored.data.context_id).toBeGreaterThan(highest)
    await client.call('delete_context', { context_ids: [stored.data.context_id] })
    await client.close()
    await server.stop()
  })

  it('refuses a target that has entries of its own, or whose ids exist', async () => {
    const other = await freshDatabase()
    await query(
      other.url,
      `INSERT INTO entries (org, thread_id, source, layer, created_at, updated_at, created_by, text_hash, bytes, text_words, text, title)
       VALUES ('local', 't', 'user', 3, 0, 0, 'key-1', 'h', 4, 1, 'mine', 'mine')`,
    )
    const args = ['copy', '--org', 'local', '--from', database.url, '--to', other.url]
    expect(await runHere(args)).toMatchObject({
      code: 1,
      err: expect.stringContaining('already holds entries of local'),
    })
    await query(other.url, `UPDATE entries SET org = 'another', id = 2`)
    expect(await runHere(args)).toMatchObject({ code: 1, err: expect.stringContaining('2 belongs to another org') })
    expect(await query(other.url, 'SELECT count(*) AS n FROM entries')).toEqual([{ n: '1' }])
    await other.drop()
  })

  it.each([
    ['no org', ['--from', 'd1:local', '--to', 'd1:x'], '--org is missing'],
    ['no source', ['--org', 'o', '--to', 'd1:local'], '--from is missing'],
    ['an unknown backend', ['--org', 'o', '--from', 'd1:local', '--to', 'mysql://h/d'], 'mysql://h/d'],
    ['one database for both', ['--org', 'o', '--from', 'd1:local', '--to', 'd1:local'], 'the same database'],
    ["another command's option", ['--org', 'o', '--url', 'http://localhost'], 'takes no --url'],
  ])('exits with 2 and reports what is wrong: %s', async (_, args, words) => {
    expect(await runHere(['copy', ...args])).toMatchObject({ code: 2, err: expect.stringContaining(words) })
  })
})
