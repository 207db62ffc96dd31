import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseConfig } from '../../src/config'
import { PRERELEASE_STORE } from '../../src/domain/prerelease.mjs'
import { ROOT } from '../support/build'
import { migrate, migrateByProgram } from '../support/migrate-postgres'
import { emptyDatabase, isRealServer, type TestDatabase } from '../support/postgres'

let database: TestDatabase
let files: string
const begin = async () => {
  database = await emptyDatabase()
  files = mkdtempSync(join(tmpdir(), 'commonplace-migrations-'))
}
const end = async () => {
  rmSync(files, { recursive: true })
  await database.drop()
}

async function query(text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: database.url })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

const write = (name: string, sql: string) => writeFileSync(join(files, name), sql)
const given = () => [database.url, '--files', files]
const run = (...more: string[]) => migrate([...given(), ...more])
const journal = async (schema = 'public') =>
  (await query(`SELECT name FROM ${schema}.schema_migrations ORDER BY name`)).map(({ name }) => name)
const tables = async () =>
  (
    await query(`SELECT relname FROM pg_class WHERE relname IN ('first', 'second', 'schema_migrations') ORDER BY 1`)
  ).map(({ relname }) => relname)

describe('npm run migrate:postgres', () => {
  beforeEach(begin)
  afterEach(end)

  it('applies missing files in order, prints each file with its time, and does nothing the second time', async () => {
    write(
      '0001_first.sql',
      'CREATE TABLE first (v vector(3));\n\nCREATE FUNCTION f() RETURNS int LANGUAGE sql AS $$ SELECT 1; $$;',
    )
    write('0002_second.sql', 'INSERT INTO first VALUES (NULL); CREATE TABLE second (id int);')
    const first = await run()
    expect(first).toMatchObject({ code: 0, err: '' })
    expect(first.out).toMatch(
      /applied 0001_first\.sql {2}\d+ ms\n {2}applied 0002_second\.sql {2}\d+ ms\nUp to date: 2 applied now, 0 already applied\./,
    )
    expect(await journal()).toEqual(['0001_first.sql', '0002_second.sql'])
    expect((await run()).out).toMatch(/Up to date: 0 applied now, 2 already applied\./)
    expect(await query('SELECT * FROM first')).toHaveLength(1)
  })

  it('applies the files of this release and the indexed fields, and prints neither password nor user', async () => {
    const { code, out } = await migrateByProgram([database.url])
    expect(code).toBe(0)
    expect(out).toMatch(/applied 0001_initial\.sql/)
    expect(out).not.toMatch(/postgres:postgres/)
    expect(await journal()).toContain('0001_initial.sql')
  })

  it.skipIf(!isRealServer())('lets several runners meet: each file is applied once, and all end well', async () => {
    write('0001_first.sql', 'CREATE TABLE first (id int); SELECT pg_sleep(0.2);')
    write('0002_second.sql', 'CREATE TABLE second (id int); INSERT INTO first VALUES (1);')
    const runs = await Promise.all(Array.from({ length: 4 }, () => migrateByProgram(given())))
    expect(runs.map(({ code, err }) => [code, err])).toEqual(Array(4).fill([0, '']))
    expect(
      runs
        .map(({ out }) => out)
        .join('')
        .match(/ {2}applied /g),
    ).toHaveLength(2)
    expect(await query('SELECT * FROM first')).toHaveLength(1)
  })

  it('updates the row counts of the planner', async () => {
    write('0001_first.sql', 'CREATE TABLE first (id integer); INSERT INTO first SELECT generate_series(1, 40);')
    await run()
    expect(await query(`SELECT reltuples::integer AS rows FROM pg_class WHERE relname = 'first'`)).toEqual([
      { rows: 40 },
    ])
  })

  it('refuses a file that was edited after it was applied, and applies nothing then', async () => {
    write('0001_first.sql', 'CREATE TABLE first (id int);')
    await run()
    write('0001_first.sql', 'CREATE TABLE first (id bigint);')
    write('0002_second.sql', 'CREATE TABLE second (id int);')
    const { code, err } = await run()
    expect([code, err]).toEqual([1, expect.stringContaining('0001_first.sql was edited after it was applied')])
    expect(await tables()).not.toContain('second')
  })

  it('leaves nothing of a file that fails, keeps the ones before it, and names the line', async () => {
    write('0001_first.sql', 'CREATE TABLE first (id int);')
    write('0002_second.sql', 'CREATE TABLE second (id int);\n\nCREATE TABLE third (id nonsense);')
    const { code, err } = await run()
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/^0002_second\.sql \(line 3\): type "nonsense" does not exist\. The file was not applied/),
    ])
    expect(await tables()).toEqual(['first', 'schema_migrations'])
    expect(await journal()).toEqual(['0001_first.sql'])
  })

  it('takes its database from the variables of the environment that name one', async () => {
    write('0001_first.sql', 'CREATE TABLE first (id int);')
    const { hostname, port, username, password, pathname } = new URL(database.url)
    const parts = {
      POSTGRESQL_HOST: hostname,
      POSTGRESQL_PORT: port,
      POSTGRESQL_USER: username,
      POSTGRESQL_PASSWORD: password,
      POSTGRESQL_DATABASE: pathname.slice(1),
    }
    for (const env of [{ DATABASE_URL: database.url }, { POSTGRESQL_CONNECTION_STRING: database.url }, parts])
      expect(await migrate(['--files', files], env)).toMatchObject({
        code: 0,
        out: expect.stringContaining(`:${port}${pathname}`),
      })
  })

  it('changes nothing in a dry run, and shows what would be applied', async () => {
    write('0001_first.sql', 'CREATE TABLE first (id int);')
    const { code, out } = await run('--dry-run')
    expect([code, out]).toEqual([0, expect.stringContaining('would apply 0001_first.sql')])
    expect(await tables()).toEqual([])
  })

  it('keeps to the schema that --schema or POSTGRESQL_SCHEMA names, where functions find their tables too', async () => {
    write(
      '0001_first.sql',
      'CREATE TABLE first (v vector(3)); CREATE FUNCTION f() RETURNS bigint LANGUAGE sql SET search_path FROM CURRENT AS $$ SELECT count(*) FROM first $$;',
    )
    expect(await run('--schema', 'memory')).toMatchObject({ code: 0 })
    expect(await migrate([database.url, '--files', files], { POSTGRESQL_SCHEMA: 'other' })).toMatchObject({ code: 0 })
    expect([await journal('memory'), await journal('other')]).toEqual([['0001_first.sql'], ['0001_first.sql']])
    expect(await query('SELECT memory.f() + other.f() AS n')).toEqual([{ n: '0' }])
    expect(await query(`SELECT to_regclass('public.first') AS found`)).toEqual([{ found: null }])
  })

  it('does not change migrations of a newer release, and reports them', async () => {
    write('0001_first.sql', 'CREATE TABLE first (id int);')
    await run()
    await query(`INSERT INTO schema_migrations (name, sha256, ms) VALUES ('0099_later.sql', 'x', 1)`)
    expect(await run()).toMatchObject({ code: 0, out: expect.stringContaining('not changed: 0099_later.sql') })
  })

  it('applies a later change to a store that holds entries made on the baseline', async () => {
    cpSync(join(ROOT, 'migrations', 'postgres'), files, { recursive: true })
    await run()
    const store = (title: string) =>
      query(
        `INSERT INTO entries (org, thread_id, source, layer, created_at, updated_at, created_by, text_hash, bytes, text_words, text, title)
         VALUES ('o', 't', 'user', 2, 0, 0, 'key-1', 'h', 5, 1, 'glacier', '${title}')`,
      )
    await store('ice')
    write(
      '9999_later.sql',
      'ALTER TABLE entries ADD COLUMN spoken text; UPDATE entries SET spoken = upper(title); CREATE INDEX entries_spoken_idx ON entries (spoken);',
    )
    expect(await run()).toMatchObject({ code: 0, out: expect.stringContaining('applied 9999_later.sql') })
    await store('snow')
    expect(await query('SELECT title, spoken FROM entries ORDER BY id')).toEqual([
      { title: 'ice', spoken: 'ICE' },
      { title: 'snow', spoken: null },
    ])
    expect(await query('SELECT entries::int FROM thread_counters')).toEqual([{ entries: 2 }])
  })

  it('refuses a store of 1.0.0-rc.1, and names export and import', async () => {
    write('0001_first.sql', 'CREATE TABLE first (id int);')
    await run()
    await query(`UPDATE schema_migrations SET name = '0001_entries.sql'`)
    const { code, err } = await migrateByProgram([database.url])
    expect([code, err]).toEqual([1, `${PRERELEASE_STORE}.\n`])
    expect(PRERELEASE_STORE).toMatch(/1\.0\.0-rc\.1.*`commonplace export`.*`commonplace import`/)
    expect(await tables()).toEqual(['first', 'schema_migrations'])
  })

  it("does not touch another program's journal", async () => {
    await query('CREATE TABLE schema_migrations (version text)')
    write('0001_first.sql', 'CREATE TABLE first (id int);')
    expect(await run()).toMatchObject({ code: 1, err: expect.stringContaining('belongs to another program') })
    expect(await tables()).toEqual(['schema_migrations'])
  })

  it.skipIf(!isRealServer())('works through a pooler that gives each transaction another session', async ({ skip }) => {
    if (database.pooledUrl === null) return skip('PG_POOLED_URL names no pooler')
    write('0001_first.sql', 'CREATE TABLE first (v vector(3));')
    expect(await migrate([database.pooledUrl, '--files', files])).toMatchObject({ code: 0 })
    expect(await journal()).toEqual(['0001_first.sql'])
  })

  it('rebuilds the indexes of METADATA_INDEXED_FIELDS when its value changes', async () => {
    const indexes = async () =>
      (await query(`SELECT indexname FROM pg_indexes WHERE indexname LIKE 'entries_meta_%' ORDER BY 1`)).map(
        ({ indexname }) => indexname,
      )
    await migrate([database.url], { METADATA_INDEXED_FIELDS: 'status, rank:integer, parts:array' })
    expect(await indexes()).toEqual(['entries_meta_rank', 'entries_meta_status'])
    await migrate([database.url], { METADATA_INDEXED_FIELDS: 'team' })
    expect(await indexes()).toEqual(['entries_meta_team'])
    expect((await journal()).filter((name) => String(name).startsWith('indexed fields: '))).toHaveLength(1)
  })
})

describe('npm run migrate:postgres, used wrongly or without a server', () => {
  beforeAll(begin)
  afterAll(end)

  it('exits with 2, as a program, if no database is named, and with 1 if nothing listens', async () => {
    expect(await migrateByProgram([])).toMatchObject({ code: 2, err: expect.stringContaining('No database is named') })
    const elsewhere = new URL(database.url)
    elsewhere.port = '1'
    expect(await migrateByProgram([elsewhere.href])).toMatchObject({
      code: 1,
      err: expect.stringContaining('The server does not listen there'),
    })
  })

  it.each([
    ['no URL', [], 'No database is named'],
    ['no PostgreSQL URL', ['mysql://host/db'], 'This is not a PostgreSQL URL'],
    ['an unknown sslmode', ['postgresql://h/d?sslmode=maybe'], 'sslmode is "maybe"'],
    ['an invalid schema name', ['postgresql://h/d', '--schema', 'a-b'], 'The schema name "a-b"'],
    ["Supabase's transaction pooler", ['postgresql://u:p@aws-0-x.pooler.supabase.com:6543/postgres'], 'port 5432'],
    [
      'the URL of a Hyperdrive binding',
      ['postgresql://u:p@abc.hyperdrive.local:5432/d'],
      'the database behind Hyperdrive',
    ],
    ['an unknown option', ['--fast'], '--fast'],
  ])('exits with 2 and a correction: %s', async (_, args, words) => {
    expect(await migrate(args)).toMatchObject({ code: 2, err: expect.stringContaining(words) })
  })

  it('exits with 1 and a remedy: nothing listens', async () => {
    const elsewhere = new URL(database.url)
    elsewhere.port = '1'
    expect(await migrate([elsewhere.href])).toMatchObject({
      code: 1,
      err: expect.stringContaining('The server does not listen there'),
    })
    expect(await migrate(['postgresql://postgres@[::1]:1/x'])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^\[::1\]:1\/x: /),
    })
  })

  it.skipIf(!isRealServer())('exits with 1 and a remedy: no such database, no TLS', async () => {
    const missing = new URL(database.url)
    missing.pathname = '/missing'
    expect(await migrate([missing.href])).toMatchObject({ code: 1, err: expect.stringContaining('create it first') })
    expect(await migrate([`${database.url}?sslmode=require`])).toMatchObject({
      code: 1,
      err: expect.stringContaining('sslmode=disable'),
    })
  })

  it('explains a wrong password without repeating it', async () => {
    const { explain } = (await import(`${ROOT}src/cli/postgres/connect.mjs`)) as {
      explain(error: unknown, shown: string): Error
    }
    const refused = Object.assign(new Error('password authentication failed for user "ada"'), { code: '28P01' })
    expect(explain(refused, 'host:5432/db').message).toBe(
      'host:5432/db: password authentication failed for user "ada". The password or the user is wrong. Check both, and write special characters as %XX.',
    )
  })

  it('has the defaults of the Worker', async () => {
    const settings = (await import(`${ROOT}src/cli/postgres/settings.mjs`)) as { parseIndexedFields(): unknown }
    expect(settings.parseIndexedFields()).toEqual(parseConfig({}).indexedFields)
  })
})
