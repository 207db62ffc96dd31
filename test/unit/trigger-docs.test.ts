import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type SQL, sql } from 'drizzle-orm'
import { afterAll, expect, it } from 'vitest'
import type { SqlConnection } from '../../src/adapters/sql/core/connection'
import { render } from '../../src/adapters/sql/core/connection'
import { createSqlCaptureStore } from '../../src/adapters/sql/stores/capture/capture-store'
import { createSqlEntryStore } from '../../src/adapters/sql/stores/entries/entry-store'
import { createSqlAuditLog } from '../../src/adapters/sql/stores/identity/audit-log'
import { createD1Dialect } from '../../src/adapters/sqlite/dialect'
import { NOTHING_GENERATED } from '../../src/domain/entry/entry'
import type { EntryChange } from '../../src/domain/entry/entry-write'
import { NO_QUOTAS } from '../../src/domain/quota'
import { createAnalyzer } from '../../src/domain/search/analysis'
import { ROOT } from '../support/build'
import { createNodeSqliteConnection } from '../support/node-sqlite-connection'
import { entryOf, freshPrincipal, TestClock } from '../support/scope'

/**
 * docs/databases/triggers.md: the triggers that fire with each write, from the schema of D1 and the SQL of the stores, run in this process.
 * `npm test -- test/unit/trigger-docs.test.ts -u` writes the page.
 */
const SCHEMA = readFileSync(join(ROOT, 'migrations/d1/0001_initial.sql'), 'utf8')
const TRIGGER = /^CREATE TRIGGER (\w+)[\s\S]*?\nBEGIN\n([\s\S]*?)\nEND;/gm
const CHANGES = /\b(?:INSERT (?:OR \w+ )?INTO|UPDATE(?! SET)|DELETE FROM) (\w+)/g
const changed = (body: string): string[] => [...new Set([...body.matchAll(CHANGES)].map(([, table = '']) => table))]

const TRIGGERS = new Map([...SCHEMA.matchAll(TRIGGER)].map(([, name = '', body = '']) => [name, changed(body)]))
/** Each trigger notes that it fires. */
const NOTING = SCHEMA.replace(TRIGGER, (text, name: string) =>
  name.startsWith('guards_')
    ? text
    : text.replace('\nBEGIN\n', `\nBEGIN\n  INSERT INTO fired (name) VALUES ('${name}');\n`),
)

const analyzer = createAnalyzer('english')
const database = createNodeSqliteConnection(':memory:', createD1Dialect(analyzer))
database.migrate([{ name: '0001_initial.sql', sql: `CREATE TABLE fired (name TEXT NOT NULL);\n\n${NOTING}` }])
afterAll(() => database.close())

/** Tables that the statements of a write name, and triggers that fire with it. */
const direct = new Set<string>()
const connection: SqlConnection = {
  ...database,
  batch: (statements, lock) => {
    for (const statement of statements)
      for (const [, table = ''] of render(statement, () => '?')
        .trim()
        .matchAll(/^(?:INSERT (?:OR \w+ )?INTO|UPDATE|DELETE FROM) (\w+)/g))
        if (table !== 'guards') direct.add(table)
    return database.batch(statements, lock)
  },
}
const run = (...statements: SQL[]) => connection.batch(statements)

const clock = new TestClock()
const ada = freshPrincipal()
const storeOf = (days: number) =>
  createSqlEntryStore(connection, analyzer, clock, new Map(), NO_QUOTAS, { days, receiptHours: 24 })
const [store, forgetful] = [storeOf(30), storeOf(0)]
const audit = createSqlAuditLog(connection, clock)
const capture = createSqlCaptureStore(connection, clock)
const VECTOR = { model: 'test#2', chunk: 0, start: 0, length: 1, data: '1:AQE=' }
const IMAGE = { hash: 'a'.repeat(64), mimeType: 'image/png', size: 7, metadata: {} } as const
const LONG = 'word '.repeat(30_000)

const draft = (text: string, metadata: object | null = { project: 'apollo' }) =>
  entryOf(ada, { text, tags: ['one'], metadata: metadata as never })
async function saved(text = crypto.randomUUID(), more: object = {}) {
  const entry = { ...(await draft(text)), generated: { ...NOTHING_GENERATED, vectors: [VECTOR] }, ...more }
  return (await store.save(ada, [entry]))[0]?.id as number
}
const change = (id: number, what: Partial<EntryChange>, version = 1) =>
  store.change(ada, [{ id, version, steps: 1, ...what }])

/** Each write: its preparation, which is not counted, and the write itself. */
const WRITES: Record<string, () => Promise<() => Promise<unknown>>> = {
  'Store an entry': async () => {
    const entry = await draft('first')
    return () => store.save(ada, [entry])
  },
  'Store an entry with an image, a link and a vector': async () => {
    const target = await saved()
    const entry = {
      ...(await draft('second')),
      images: [IMAGE],
      links: [{ relation: 'references', to: target }],
      generated: { ...NOTHING_GENERATED, vectors: [VECTOR] },
    }
    return () => store.save(ada, [entry as never])
  },
  'Store an entry with a text of more than 100,000 characters': async () => {
    const entry = await draft(LONG)
    return () => store.save(ada, [entry])
  },
  'Store a pattern': async () => {
    const entry = await draft('pattern', { project: 'apollo', kind: 'pattern' })
    return () => store.save(ada, [entry])
  },
  'Store ten entries in one call': async () => {
    const entries = await Promise.all(Array.from({ length: 10 }, (_, i) => draft(`many ${i}`)))
    return () => store.save(ada, entries)
  },
  'Update the text of an entry': async () => {
    const id = await saved()
    return () => change(id, { text: { text: 'another text of two', hash: 'h2' } })
  },
  'Patch the metadata of an entry': async () => {
    const id = await saved()
    return () => store.patch(ada, id, { checked: true })
  },
  'Update the tags of an entry': async () => {
    const id = await saved()
    return () => change(id, { tags: ['two'] })
  },
  'Update the images of an entry': async () => {
    const id = await saved()
    return () => change(id, { images: [IMAGE] })
  },
  'Move an entry to another project': async () => {
    const id = await saved()
    return () => store.patch(ada, id, { project: 'gemini' })
  },
  'Archive an entry': async () => {
    const id = await saved()
    return () => run(sql`UPDATE entries SET archived = 1 WHERE id = ${id}`)
  },
  'Delete an entry': async () => {
    const id = await saved()
    return () => store.delete(ada, { ids: [id] })
  },
  'Delete an entry, without history': async () => {
    const id = await saved('without', { images: [{ ...IMAGE, hash: 'b'.repeat(64) }] })
    return () => forgetful.delete(ada, { ids: [id] })
  },
  'Purge the past versions of an entry': async () => {
    const id = await saved()
    await change(id, { images: [IMAGE] })
    await store.delete(ada, { ids: [id] })
    return () => run(sql`DELETE FROM entry_versions WHERE entry_id = ${id}`)
  },
  'Record a call in the audit log': async () => () =>
    audit.record(ada.org, { keyId: 'k', agent: null, action: 'read', tool: null, ids: [1], allowed: true, detail: {} }),
  'Store the events of a hook': async () => {
    const gathered = { place: { project: 'apollo' } } as never
    const session = { name: 'session:claude-code:1', revision: 0, gathered, claimedAt: null, dueAt: 1 }
    return () =>
      capture.store(ada, { keyId: 'k', agent: null }, {
        events: [{ id: 'e1', output: null }],
        sessions: [session],
      } as never)
  },
  'Index a file of source code': async () => () =>
    run(sql`INSERT INTO code_files (org, project, root, path, language, sha256, model, bytes, symbols, chunks, words)
      VALUES (${ada.org}, 'apollo', '', 'a.ts', 'typescript', 'h', NULL, 1, 1, 1, 1)`),
  'Delete a file of source code': async () => () => run(sql`DELETE FROM code_files WHERE org = ${ada.org}`),
}

const list = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ')

async function sectionOf(title: string, prepare: () => Promise<() => Promise<unknown>>): Promise<string> {
  const write = await prepare()
  await database.batch([sql`DELETE FROM fired`], 'all')
  direct.clear()
  await write()
  const tables = [...direct].sort()
  const [rows = []] = await database.batch([sql`SELECT name, count(*) AS n FROM fired GROUP BY name ORDER BY name`])
  const lines = rows.map(({ name }) => `| \`${name}\` | ${list(TRIGGERS.get(String(name)) ?? [])} |`)
  const fired = lines.length === 0 ? 'No trigger fires.' : `| trigger | changes |\n|---|---|\n${lines.join('\n')}`
  return `## ${title}\n\nStatements change ${list(tables)}.\n\n${fired}\n`
}

it('writes docs/databases/triggers.md', async () => {
  const sections: string[] = []
  for (const [title, prepare] of Object.entries(WRITES)) sections.push(await sectionOf(title, prepare))
  const all = [...TRIGGERS].filter(([name]) => !name.startsWith('guards_'))
  const page = `# Triggers of each write

Written by \`test/unit/trigger-docs.test.ts\`: it runs each write on the schema of D1 and records the triggers that fire, those of other triggers
included. On PostgreSQL the same tables change; a trigger that counts many rows fires once for a statement there.

${sections.join('\n')}
## All triggers

| trigger | changes |
|---|---|
${all.map(([name, tables]) => `| \`${name}\` | ${tables.length === 0 ? 'nothing; refuses the statement' : list(tables)} |`).join('\n')}
`
  await expect(page).toMatchFileSnapshot(join(ROOT, 'docs/databases/triggers.md'))
})
