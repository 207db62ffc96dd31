import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ROOT } from '../support/build'
import { migrate } from '../support/migrate-postgres'
import { emptyDatabase, type TestDatabase } from '../support/postgres'

/** A PostgreSQL database of the last release, with entries in it, brought to this one; D1's twin is test/worker/upgrade.test.ts. */
const LAST_RELEASE = '0005'

let database: TestDatabase
let files: string
beforeEach(async () => {
  database = await emptyDatabase()
  files = mkdtempSync(join(tmpdir(), 'commonplace-release-'))
  const all = join(ROOT, 'migrations', 'postgres')
  for (const name of readdirSync(all)) if (name.slice(0, 4) <= LAST_RELEASE) cpSync(join(all, name), join(files, name))
  expect((await migrate([database.url, '--files', files])).code).toBe(0)
})
afterEach(async () => {
  rmSync(files, { recursive: true })
  await database.drop()
})

async function query(text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: database.url })
  await client.connect()
  try {
    return (await client.query(text, values)).rows
  } finally {
    await client.end()
  }
}

const old = (metadata: object, columns: string, values: string) =>
  query(
    `INSERT INTO entries (org, thread_id, source, layer, created_at, updated_at, owner, created_by, text_hash, bytes,
      text_words, text, metadata, ${columns})
     VALUES ('o', 't', 'user', 2, 0, 0, 'ada', 'key-1', 'h', 5, 1, 'glacier', $1, ${values})`,
    [JSON.stringify(metadata)],
  )

it('brings back what the word "archived" hid, and tells apart what metadata said of the life of an entry', async () => {
  await old({ status: 'archived' }, 'status, archived', `'archived', 1`)
  await old({ weight: 5, pinned: true, expires_at: '2099-01-01' }, 'weight, pinned, expires_at', '5, 1, 4070908800000')
  await old({ weight: 9 }, 'links', `'[["REFERENCES", 1], ["supersedes", 2]]'`)
  expect(await migrate([database.url])).toMatchObject({ code: 0, err: '' })

  expect(await query('SELECT entries::int FROM thread_counters')).toEqual([{ entries: 3 }])
  expect(
    await query(
      'SELECT id::int, listed, weight, named_weight, given_weight, pinned, expires_at FROM entries ORDER BY id',
    ),
  ).toEqual([
    { id: 1, listed: 1, weight: 3, named_weight: null, given_weight: 3, pinned: 0, expires_at: null },
    { id: 2, listed: 1, weight: 5, named_weight: 5, given_weight: 3, pinned: 1, expires_at: '4070908800000' },
    { id: 3, listed: 1, weight: 3, named_weight: null, given_weight: 3, pinned: 0, expires_at: null },
  ])
  expect(await query('SELECT part, items::int, bytes::int FROM org_usage')).toEqual([
    { part: 'entries', items: 3, bytes: 15 },
  ])
  expect(await query('SELECT from_id::int, relation, to_id::int, origin FROM links ORDER BY relation')).toEqual([
    { from_id: 3, relation: 'references', to_id: 1, origin: 'metadata' },
    { from_id: 3, relation: 'supersedes', to_id: 2, origin: 'metadata' },
  ])
})
