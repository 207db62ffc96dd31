import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FILE_TIME } from '../support/import-samples'
import { imported } from '../support/imported'

/** Content of other programs' files, including misleading data. */

const idsOf = (links: readonly { readonly to: unknown }[] = []) => links.map(({ to }) => to)

describe('server-memory', () => {
  it('makes a topic of each entity: its name, its observations a line each, its type as tag, the time of the file', async () => {
    const { entry, entries } = await imported('server-memory', 'memory.jsonl')
    expect(entry('Mara')).toMatchObject({
      id: 'Mara',
      text: 'Mara\nPrefers two-space indentation and named exports only\nReviews at most 300 changed lines at a time',
      metadata: {
        kind: 'topic',
        title: 'Mara',
        relations: [
          { type: 'maintains', to: 'orchard' },
          { type: 'works with', to: 'Tomasz' },
        ],
      },
      tags: ['person'],
      created_at: FILE_TIME,
    })
    expect(idsOf(entry('Mara').links)).toEqual(['orchard', 'Tomasz'])
    expect(entry('hall-2-printer').text).toBe('hall-2-printer')
    const wide = await imported('server-memory', 'memory-utf16.jsonl')
    expect(wide.entries.map(({ text }) => text)).toEqual(entries.map(({ text }) => text))
  })

  it('imports names such as __proto__ and repeated observations, and reports dangling and self-referencing relations', async () => {
    const more = [
      { type: 'entity', name: '__proto__', entityType: 'constructor', observations: ['a', 'a'] },
      { type: 'entity', name: '', entityType: 'x', observations: [] },
      { type: 'relation', from: '__proto__', to: '__proto__', relationType: 'is' },
      { type: 'relation', from: '__proto__', to: 'orchard', relationType: 'found in' },
    ].map((line) => JSON.stringify(line).replace('"name":"__proto__"', '"name":"__proto__"'))
    const { entry, told } = await imported('server-memory', 'memory.jsonl', {
      prepare: (folder) => appendFileSync(join(folder, 'memory.jsonl'), `\n${more.join('\n')}`),
    })
    expect(entry('__proto__')).toMatchObject({ text: '__proto__\na\na', links: [{ to: 'orchard' }] })
    expect(told('line 38')).toEqual(['its name is empty'])
    expect(told('line 39')).toEqual(['the relation "is" leads from "__proto__" to itself'])
  })
})

describe('basic-memory', () => {
  it('reads titles and metadata from the front matter, folders as threads, and does not repeat the title', async () => {
    const { entry, entries } = await imported('basic-memory', 'notes')
    expect(entry('Money is an integer number of euro cents')).toMatchObject({
      thread_id: 'orchard/conventions',
      metadata: { kind: 'convention', title: 'Money in integer cents' },
      created_at: FILE_TIME,
    })
    expect(entry('JSON lines output?').id).toBe('lantern/questions/JSON lines output.md')
    expect(entry('Release steps').metadata).toMatchObject({ version: '1.4.0' })
    expect(entry('Catalogue cached for 60 s').metadata).toMatchObject({
      priority: 6,
      nested: { list: [1, 2, { deep: true }], nothing: null },
    })
    expect(entries.flatMap(({ tags = [] }) => tags)).toHaveLength(63)
  })

  it('links relations and wiki links by title, after a move too, and none in code', async () => {
    const { entry, told } = await imported('basic-memory', 'notes')
    const newer = entry('Customer sessions move from signed cookies')
    expect(newer.links).toEqual([
      { relation: 'references', to: 'orchard/Orchard overview.md', origin: 'metadata' },
      { relation: 'supersedes', to: 'orchard/decisions/Sessions in signed cookies.md', origin: 'metadata' },
    ])
    expect(entry('Flaky checkout test')).toMatchObject({
      thread_id: 'archive',
      metadata: { kind: 'bug_fix', type: 'bug' },
    })
    expect(idsOf(entry('Lantern overview').links)).toEqual(['orchard/decisions/PostgreSQL for orders.md'])
    expect(told('Lantern overview')).toEqual(['links to "Not written yet", which is not a note of the folder'])
  })

  it('reads the times of imported chats, and a title that is null as none', async () => {
    const { entries } = await imported('basic-memory', 'imported-chats')
    const untitled = entries.find(({ id }) => String(id).includes('untitled'))
    expect(untitled).toMatchObject({
      created_at: '2026-09-21T13:32:21.000Z',
      updated_at: '2026-09-21T13:33:21.000Z',
      text: expect.stringMatching(/^### User \(2026-09-21 13:32:21\)\nHow often/),
    })
    expect(untitled?.metadata).not.toHaveProperty('title')
  })
})

describe('Claude Code', () => {
  it('reads both shapes of front matter, kinds by type, and links between names of either form', async () => {
    const { entry, entries, told } = await imported('claude-code', 'home', {
      map: { '-home-dev-projects-orchard': '/home/dev/projects/orchard' },
    })
    expect(entry('Customer sessions move from signed cookies')).toMatchObject({
      created_at: '2026-10-19T15:02:38.114Z',
      tags: ['project'],
      project: '/home/dev/projects/orchard',
      thread_id: '-home-dev-projects-orchard',
      metadata: {
        kind: 'note',
        title: 'sessions-in-a-table-after-all',
        session: '2e96f454-52c4-44d3-a653-cc738680169f',
      },
    })
    expect(entry('Write long flags')).toMatchObject({
      created_at: FILE_TIME,
      tags: ['feedback'],
      metadata: { kind: 'convention' },
    })
    expect(idsOf(entry('JSON lines').links)).toEqual([
      '.claude/projects/-home-dev-projects-lantern/memory/user_json_lines_output.md',
    ])
    expect(told('-home-dev-projects-lantern').at(-1)).toContain('--project or the map')
    expect(entries.find(({ thread_id }) => thread_id === '.claude/rules/preferences.md')?.text).not.toContain('\r')
    expect(told('MEMORY.md line')).toHaveLength(2)
  })

  it('reads what the program itself writes, and reports links to missing memories', async () => {
    const { entries, entry, told } = await imported('claude-code', 'by-the-program', { project: 'marlin' })
    const memories = entries.filter(({ id }) => String(id).includes('/memory/'))
    expect(memories).toHaveLength(22)
    expect(memories.every(({ project }) => project === 'marlin')).toBe(true)
    expect(idsOf(entry('Idempotency keys now live').links)).toEqual([entry('idempotency-keys-for-24-hours').id])
    expect(told('exchange-rates')).toEqual(['links to [[a-memory-not-yet-written]], which does not exist'])
  })
})

describe('Markdown', () => {
  it('makes an entry of each section of any level, conventions in files of rules, and none of empty sections or code', async () => {
    const { entries, plan, told } = await imported('markdown', 'projects', { pack: 'claude-code' })
    const orchard = entries.filter(({ thread_id }) => thread_id === 'orchard/CLAUDE.md')
    expect(orchard.map(({ id }) => id)).toEqual(
      [
        'orchard',
        'orchard/commands',
        'orchard/conventions',
        'orchard/conventions/details',
        'orchard/conventions-2',
      ].map((path) => `orchard/CLAUDE.md#${path}`),
    )
    expect(orchard[1]?.text).toContain('# not a heading')
    expect(orchard.every(({ metadata }) => metadata?.kind === 'convention')).toBe(true)
    expect(plan.skipped).toEqual({ 'empty sections': 2 })
    expect(told('orchard/CLAUDE.md')).toContain(
      'imports @docs/style.md, which is not followed: import that file as well',
    )
    expect(entries.find(({ id }) => id === 'orchard/.claude/rules/api.md#api-rules')?.metadata).toMatchObject({
      paths: ['src/api/**/*.ts', '{src,lib}/**/*.{ts,tsx}'],
    })
  })

  it('reads headings that are underlined, and text before the first one', async () => {
    const { entries } = await imported('markdown', 'plain', {
      pack: 'codex',
      prepare: (folder) => {
        mkdirSync(join(folder, 'plain'))
        writeFileSync(join(folder, 'plain', 'a.md'), 'before\n\nTitle\n=====\n\nbody\n\nSub\n---\nmore\n')
      },
    })
    expect(entries.map(({ id, text, metadata }) => [id, metadata?.title, text])).toEqual([
      ['a.md#', 'a.md', 'before'],
      ['a.md#title', 'Title', 'body'],
      ['a.md#title/sub', 'Sub', 'more'],
    ])
  })
})

describe('Codex', () => {
  it('reads headers of summaries as sessions, task groups as guides with their keywords, and reports repetitions', async () => {
    const { entries, entry, told } = await imported('codex', 'memories')
    const session = entries.find(({ id }) => id === '019a04aa-9f62-4ee8-af1a-cf343217ed46')
    expect(session).toMatchObject({
      project: '/home/dev/projects/orchard',
      created_at: '2026-10-19T15:02:33.000Z',
      metadata: {
        kind: 'session',
        title: 'Sessions in a table after all',
        git_branch: 'feature/sessions-in-a-table-after-all',
      },
    })
    const group = entry('/home/dev/projects/orchard daily work')
    expect(group).toMatchObject({ project: '/home/dev/projects/orchard', metadata: { kind: 'guide' } })
    expect(group.tags).toEqual(['auth', 'bug', 'database', 'decision', 'orchard', 'postgres', 'search', 'sql', 'stock'])
    expect(group.links).toHaveLength(5)
    expect(told('raw_memories.md')).toEqual(['repeats MEMORY.md and the summaries: left out'])
    expect(entries).toHaveLength(12)
  })
})

describe('chats', () => {
  it('follows the way to the current node, without what was edited away and what was hidden', async () => {
    const { entries, plan, told } = await imported('chatgpt', 'chatgpt', { pack: 'chats' })
    expect(entries.some(({ text }) => /abandoned branch|edited away/.test(text))).toBe(false)
    expect(plan.skipped).toEqual({ 'hidden messages': 4 })
    expect(entries[0]).toMatchObject({
      source: 'user',
      created_at: '2026-10-05T08:12:41.123Z',
      metadata: { title: 'PostgreSQL for orders 100%_0' },
    })
    expect(entries.find(({ text }) => text.includes('A second part'))?.text).toBe(
      'And what about Label layout photo?\nA second part of the same message.',
    )
    expect(entries.filter(({ metadata }) => metadata?.role === 'tool').map(({ text }) => text)).toEqual(['2'])
    expect(told('chat 2')).toEqual(['1 image(s) without bytes in the export'])
  })

  it('reads split exports of ChatGPT', async () => {
    const { entries } = await imported('chatgpt', 'split', {
      pack: 'chats',
      prepare: (folder) => {
        mkdirSync(join(folder, 'split'))
        for (const n of ['000', '001']) {
          const message = {
            id: `m${n}`,
            author: { role: 'user' },
            create_time: 1791187961.5,
            content: { parts: [`part ${n}`] },
          }
          const chat = {
            id: `c${n}`,
            title: null,
            current_node: 'a',
            mapping: { a: { id: 'a', message, parent: null } },
          }
          writeFileSync(join(folder, 'split', `conversations-${n}.json`), JSON.stringify([chat]))
        }
      },
    })
    expect(entries.map(({ text, thread_id }) => [text, thread_id])).toEqual([
      ['part 000', 'c000'],
      ['part 001', 'c001'],
    ])
  })

  it("reads Claude's messages by their text blocks, with text of attachments, without output of tools", async () => {
    const { entries, entry, plan } = await imported('claude', 'claude', { pack: 'chats' })
    expect(entry('notes.txt:')).toMatchObject({
      source: 'user',
      text: 'notes.txt:\nNotes pasted as an attachment: zstd frames',
    })
    expect(entries.some(({ text }) => text.includes('web_search') || text === 'nothing')).toBe(false)
    expect(entries.find(({ text }) => text === 'And Label layout photo?')?.metadata).toEqual({ files: ['plan.png'] })
    expect(plan.skipped).toEqual({ 'chats without messages': 1 })
  })
})

describe('NDJSON', () => {
  it('reads lines after a byte order mark and with CR LF, and recognizes the same line again', async () => {
    const good = await imported('ndjson', 'entries.ndjson')
    const damaged = await imported('ndjson', 'entries-damaged.ndjson')
    const ids = new Set(good.entries.map(({ id }) => id))
    expect(damaged.entries.filter(({ id }) => ids.has(id)).length).toBeGreaterThan(15)
    expect(good.entry('Mara prefers two-space')).toMatchObject({
      source: 'user',
      created_at: '2026-10-05T08:40:02.000Z',
    })
    expect(good.entries[0]?.metadata).not.toHaveProperty('project')
  })

  it('reports what the store would refuse line by line, and imports images', async () => {
    const png = 'iVBORw0KGgo='
    const lines = [
      '{"thread_id":"t","source":"agent","text":"large","metadata":{"n":9007199254740993}}',
      '{"thread_id":"t","source":"agent","text":"kept","metadata":{"n":1152921504606846976}}',
      '{"thread_id":"t","source":"agent","text":"half","metadata":{"a":[{"b\\ud800":1}]}}',
      '{"thread_id":"t","source":"agent","text":"nul","metadata":{"a":"\\u0000"}}',
      `{"thread_id":"t","source":"agent","text":"long","metadata":{"project":"${'p'.repeat(241)}"}}`,
      `{"thread_id":"t","source":"agent","text":"picture","images":[{"data":"${png}","mime_type":"image/png"}]}`,
    ]
    const { entries, told } = await imported('ndjson', 'more.ndjson', {
      prepare: (folder) => writeFileSync(join(folder, 'more.ndjson'), lines.join('\n')),
    })
    expect(told('line 1')).toEqual([
      expect.stringContaining('9007199254740993, which a JSON number cannot represent exactly'),
    ])
    expect(told('line 3')).toEqual([expect.stringContaining('lone surrogate')])
    expect(told('line 4')).toEqual([expect.stringContaining('U+0000')])
    expect(told('line 5')).toEqual(['metadata.project is longer than 240 characters'])
    expect(entries.find(({ text }) => text === 'kept')?.metadata).toEqual({ n: 2 ** 60 })
    expect(entries.find(({ text }) => text === 'picture')?.images).toMatchObject([{ mime_type: 'image/png', size: 8 }])
  })
})
