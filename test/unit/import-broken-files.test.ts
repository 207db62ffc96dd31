import fs, { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FILE_TIME } from '../support/import-samples'
import { type ImportOptions, imported } from '../support/imported'

/** A broken file, row or tag affects only itself, and is reported with its location. */

/** Files with this word in their name fail to open, because root can read every file. */
const { readFileSync, readdirSync } = fs
const unlessLocked = <T extends (...args: never[]) => unknown>(read: T): T =>
  ((...args: Parameters<T>) => {
    const [path] = args as readonly unknown[]
    if (/locked/.test(String(path)))
      throw Object.assign(new Error(`EACCES: permission denied, open '${path}'`), { code: 'EACCES', syscall: 'open' })
    return read(...args)
  }) as T
beforeAll(() => {
  Object.assign(fs, { readFileSync: unlessLocked(readFileSync), readdirSync: unlessLocked(readdirSync) })
  syncBuiltinESMExports()
})
afterAll(() => {
  Object.assign(fs, { readFileSync, readdirSync })
  syncBuiltinESMExports()
})

/** Imports files that are written first. */
function importedFiles(source: string, files: Readonly<Record<string, string | Buffer>>, options: ImportOptions = {}) {
  return imported(source, 'broken', {
    ...options,
    pack: 'server-memory',
    prepare: (folder) => {
      for (const [name, content] of Object.entries(files)) {
        const path = join(folder, 'broken', name)
        mkdirSync(join(path, '..'), { recursive: true })
        writeFileSync(path, content)
      }
    },
  })
}

const note = (front: string, text = 'text') => `---\n${front}\n---\n${text}\n`
const BROKEN: Readonly<Record<string, readonly [front: string, message: RegExp]>> = {
  'alias.md': [
    'description: TypeScript\npath: *.ts\nalwaysApply: false',
    /^its front matter is not valid YAML: \*\.ts refers to nothing \(.*quotes: "\*\.ts"\) at line 3, column 7$/,
  ],
  'alias-and-globs.md': ['globs: **/*.ts\npath: *.ts', /\*\*\/\*\.ts refers to nothing .* at line 2, column 8$/],
  'ring.md': ['title: S\na: &a [*a]', /\*a refers to its own parent at line 3, column 8$/],
  'ring-of-maps.md': ['title: S\na: &a\n  b:\n    c: *a', /\*a refers to its own parent at line 5, column 8$/],
  'flow.md': ['title: [S\nother: 1', /not valid YAML: .* at line 3, column 1$/],
  'many.md': [`a: &a [x]\nb: &b [${Array(50).fill('*a')}]\nc: [${Array(50).fill('*b')}]`, /alias count/],
  'deep.md': [`a: ${'['.repeat(5000)}${']'.repeat(5000)}`, /./],
  'list.md': ['- a\n- b', /^its front matter at line 2 is not an object$/],
}

describe('one broken file', () => {
  // The folder identifies them as memories of Claude Code.
  for (const [source, folder] of [
    ['markdown', ''],
    ['basic-memory', ''],
    ['claude-code', 'memory/'],
  ] as const)
    it(`of ${source} is refused with its line, and the others are imported`, async () => {
      const files: Record<string, string | Buffer> = { [`${folder}good.md`]: note('title: Good') }
      for (const [name, [front]] of Object.entries(BROKEN)) files[`${folder}${name}`] = note(front)
      files[`${folder}open.md`] = '---\ntitle: S\ntext'
      files[`${folder}locked.md`] = 'unread'
      files[`${folder}locked-folder/a.md`] = 'unread'
      const { entries, plan, told } = await importedFiles(source, files)
      expect(entries.map(({ text }) => text.trim())).toEqual(['text'])
      for (const [name, [, message]] of Object.entries(BROKEN))
        expect([name, told(name)[0]]).toEqual([name, expect.stringMatching(message)])
      expect(told('open.md')).toContain('its front matter, which starts at line 1, is not closed')
      expect(told('locked.md')).toEqual(['cannot be read: permission denied (EACCES)'])
      expect(told('locked-folder/')).toEqual(['cannot be read: permission denied (EACCES)'])
      expect(plan.refused).toHaveLength(Object.keys(BROKEN).length + 3)
    })

  it('is not a note whose front matter names its title and kind, which are used', async () => {
    const { entries } = await importedFiles('markdown', {
      'a.md': note('title: By hand\nkind: adr'),
      'b.md': note('kind: blorb'),
    })
    expect(entries.map(({ metadata }) => [metadata?.title, metadata?.kind])).toEqual([
      ['By hand', 'decision'],
      ['b.md', 'note'],
    ])
  })

  it('is not a rule of Cursor with globs and a description without quotes', async () => {
    const rules: Readonly<Record<string, readonly [front: string, read: Record<string, unknown>]>> = {
      'a.mdc': [
        'description: Use this: always\nglobs: **/*.ts\nalwaysApply: false',
        { description: 'Use this: always', globs: '**/*.ts', alwaysApply: false },
      ],
      'b.mdc': ['description:\nglobs: *.ts, src/**/*.{ts,tsx}', { globs: '*.ts, src/**/*.{ts,tsx}' }],
      'c.mdc': ['globs: [a]*.ts\r\nalwaysApply: true', { globs: '[a]*.ts', alwaysApply: true }],
      'd.mdc': ['globs: ["a.ts", "b.ts"]', { globs: ['a.ts', 'b.ts'] }],
      'e.mdc': [`globs: '*.ts'\ndescription: a # b`, { globs: '*.ts', description: 'a' }],
    }
    const files = Object.fromEntries(Object.entries(rules).map(([name, [front]]) => [name, note(front)]))
    const { entries, plan } = await importedFiles('markdown', files)
    expect(plan.refused).toEqual([])
    expect(entries.map(({ metadata }) => metadata)).toMatchObject(Object.values(rules).map(([, read]) => read))
  })

  it.skipIf(process.platform !== 'linux')(
    'whose name is not UTF-8 is refused, and the others are imported',
    async () => {
      for (const source of ['markdown', 'basic-memory', 'claude-code']) {
        const { entries, plan } = await imported(source, 'broken', {
          pack: 'server-memory',
          prepare: (folder) => {
            mkdirSync(join(folder, 'broken/memory'), { recursive: true })
            writeFileSync(join(folder, 'broken/memory/good.md'), note('title: Good'))
            const latin1 = Buffer.concat([
              Buffer.from(join(folder, 'broken/memory/caf')),
              Buffer.from([0xe9]),
              Buffer.from('.md'),
            ])
            writeFileSync(latin1, note('title: Coffee'))
          },
        })
        expect(entries).toHaveLength(1)
        expect(plan.refused).toEqual([
          { where: 'memory/caf\\xe9.md', message: 'the bytes of its name are not UTF-8; rename it', refused: true },
        ])
      }
    },
  )

  it('of several files of a chat export is refused, and the others are imported', async () => {
    const chat = (id: string) => [
      { uuid: id, chat_messages: [{ uuid: `m${id}`, sender: 'human', text: id, created_at: FILE_TIME }] },
    ]
    const { entries, plan } = await importedFiles('claude', {
      'conversations-000.json': JSON.stringify(chat('a')),
      'conversations-001.json': '[{"uuid":"cut',
      'conversations-002.json': JSON.stringify(chat('c')),
    })
    expect(entries.map(({ text }) => text)).toEqual(['a', 'c'])
    expect(plan.refused).toMatchObject([
      { where: 'conversations-001.json', message: expect.stringContaining('not valid JSON') },
    ])
  })
})

describe('a part that the store refuses', () => {
  it('costs a tag that is too long, and tags beyond the limit, not the memory', async () => {
    const long = 'x'.repeat(129)
    const { entries, told } = await importedFiles('basic-memory', {
      'long.md': note(`tags: [${long}, good]`),
      'many.md': note(`tags: [${Array.from({ length: 101 }, (_, i) => `t${String(i).padStart(3, '0')}`)}]`),
    })
    expect(entries.map(({ tags }) => tags?.length)).toEqual([1, 100])
    expect(told('long.md')).toContainEqual(expect.stringMatching(/is too long.*without this tag$/))
    expect(told('many.md')).toContainEqual(expect.stringMatching(/101 tags.*first 100$/))
  })

  it('costs an entity type that is too long as tag and thread', async () => {
    const type = 'y'.repeat(300)
    const { entries, told } = await imported('server-memory', 'long.jsonl', {
      prepare: (folder) =>
        writeFileSync(
          join(folder, 'long.jsonl'),
          JSON.stringify({ type: 'entity', name: 'Mara', entityType: type, observations: ['a'] }),
        ),
    })
    expect(entries).toMatchObject([{ text: 'Mara\na', thread_id: 'knowledge graph', metadata: { entity_type: type } }])
    expect(entries[0]?.tags).toBeUndefined()
    expect(told('line 1')).toHaveLength(2)
  })
})

describe('a time in another place', () => {
  it('is read from created_at_iso and updated_at_iso of mcp-memory-service where the seconds are NULL', async () => {
    const { entries, told } = await imported('mcp-memory-service', 'iso.db', {
      prepare: (folder) => {
        const database = new DatabaseSync(join(folder, 'iso.db'))
        database.exec(`CREATE TABLE memories (id INTEGER, content_hash TEXT, content TEXT, tags TEXT, memory_type TEXT, metadata TEXT,
          created_at REAL, created_at_iso TEXT, updated_at REAL, updated_at_iso TEXT, deleted_at REAL, parent_id TEXT, superseded_by TEXT)`)
        const insert = database.prepare(
          'INSERT INTO memories (id, content_hash, content, created_at, created_at_iso, updated_at_iso) VALUES (?, ?, ?, ?, ?, ?)',
        )
        insert.run(1, 'a', 'iso alone', null, '2026-10-05T08:12:41.077893Z', '2026-10-06T08:12:41Z')
        insert.run(2, 'b', 'neither', null, null, null)
        insert.run(3, 'c', 'no time', null, 'sometime', null)
        database.close()
      },
    })
    expect(entries).toMatchObject([
      { text: 'iso alone', created_at: '2026-10-05T08:12:41.077Z', updated_at: '2026-10-06T08:12:41.000Z' },
    ])
    expect(told('id 2')).toEqual(['has neither created_at nor created_at_iso'])
    expect(told('id 3')).toEqual(['created_at_iso is not a time: "sometime"'])
  })

  it('is read from update_time of a ChatGPT conversation or message without create_time', async () => {
    const message = (id: string, text: string, times: object) => ({
      id,
      parent: id === 'a' ? null : 'a',
      message: { id, author: { role: 'user' }, content: { parts: [text] }, ...times },
    })
    const chat = {
      id: 'c',
      create_time: null,
      update_time: 1791187961.5,
      current_node: 'b',
      mapping: {
        a: message('a', 'first', { create_time: null }),
        b: message('b', 'second', { update_time: 1791187999 }),
      },
    }
    const { entries } = await importedFiles('chatgpt', { 'conversations.json': JSON.stringify([chat]) })
    expect(entries.map(({ text, created_at }) => [text, created_at])).toEqual([
      ['first', new Date(1791187961500).toISOString()],
      ['second', new Date(1791187999000).toISOString()],
    ])
  })
})

it("reads the answer of server-memory's read_graph, saved as it came or as a tool's result", async () => {
  const graph = {
    entities: [
      { name: 'Mara', entityType: 'person', observations: ['reads long flags aloud'] },
      { name: 'orchard', entityType: 'project', observations: [] },
      { name: 'broken', entityType: 'project' },
    ],
    relations: [{ from: 'Mara', to: 'orchard', relationType: 'maintains' }],
  }
  const text = JSON.stringify(graph, null, 2)
  const answers = [
    text,
    JSON.stringify(graph),
    JSON.stringify({ content: [{ type: 'text', text }] }),
    JSON.stringify({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text }], structuredContent: graph } }),
  ]
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-graph-'))
  for (const [i, answer] of answers.entries()) {
    const { entry, entries, told } = await imported(
      'server-memory',
      join('..', folder.split('/').at(-1) ?? '', `${i}.json`),
      {
        prepare: () => writeFileSync(join(folder, `${i}.json`), answer),
      },
    )
    expect(entries).toHaveLength(2)
    expect(entry('Mara')).toMatchObject({ tags: ['person'], links: [{ to: 'orchard' }] })
    expect(told('entity 3')).toEqual(['its observations are not a list'])
  }
})
