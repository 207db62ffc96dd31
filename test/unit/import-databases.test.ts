import { createHash } from 'node:crypto'
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { importSamples } from '../support/import-samples'
import { imported } from '../support/imported'

/** Content of other programs' databases, including misleading data. */

const bySupersession = ['Customer sessions move from signed cookies', 'Customer sessions are signed cookies'] as const

describe('MCP Context Server', () => {
  it('reads SQLite times as UTC, image metadata that are JSON twice, and ids with a gap', async () => {
    const { entries, images, entry } = await imported('mcp-context-server', 'context_storage.db')
    expect(entries.map(({ id }) => id)).toEqual(Array.from({ length: 29 }, (_, i) => i + 1).filter((id) => id !== 18))
    expect(entries.at(0)).toMatchObject({
      id: 1,
      created_at: '2026-10-05T08:12:41.000Z',
      project: 'orchard',
      agent: 'claude',
    })
    const pictured = entries.find(({ images = [] }) => images.length > 0)
    expect(pictured?.images?.[0]).toMatchObject({
      metadata: { caption: 'Label layout photo', taken: 'hall 2' },
      size: 200,
    })
    expect(images[0]?.sha256).toBe(
      createHash('sha256')
        .update(Buffer.from(images[0]?.data ?? '', 'base64'))
        .digest('hex'),
    )
    expect(entry('ok')).toMatchObject({ text: 'ok' })
    expect(entries.some(({ text }) => /persimmon-4711\W*$/.test(text))).toBe(true)
  })

  it('links what context_ids name, and writes supersedes if the older entry names its successor by an id of the source', async () => {
    for (const [file, older, newer] of [
      ['context_storage.db', 4, 12],
      ['postgresql-dump.sql', 4, 12],
      ['unreleased-uuid-ids.db', '01a0a4968cbf71f09e37ffcb565ec26f', '01a0d8f0a6f47b30a89024890cd4e958'],
    ] as const) {
      const { entries } = await imported('mcp-context-server', file)
      const heir = entries.find(({ id }) => id === newer)
      expect(heir?.links).toEqual([
        { relation: 'references', to: older, origin: 'metadata' },
        { relation: 'supersedes', to: older, origin: 'metadata' },
      ])
      expect(heir?.metadata).toMatchObject({ supersedes: older, references: { context_ids: [older] } })
      expect(entries.find(({ id }) => id === older)?.metadata).not.toHaveProperty('superseded_by')
      expect(
        entries.flatMap(({ links = [] }) => links).filter(({ relation }) => relation === 'references').length,
      ).toBe(file === 'unreleased-uuid-ids.db' ? 2 : 3)
    }
  })

  it('finds the same memories in the dump as in the SQLite file, with milliseconds, images and the summary', async () => {
    const sqlite = await imported('mcp-context-server', 'context_storage.db')
    const dump = await imported('mcp-context-server', 'postgresql-dump.sql')
    expect(dump.entries.map(({ id, text, tags }) => [id, text, tags])).toEqual(
      sqlite.entries.map(({ id, text, tags }) => [id, text, tags]),
    )
    expect(dump.entries[0]?.created_at).toBe('2026-10-05T08:12:41.053Z')
    expect(dump.images).toEqual(sqlite.images)
    expect(dump.entries.filter(({ summary }) => summary !== undefined)).toHaveLength(1)
  })

  it('reads a dump of INSERT statements as it reads the COPY form', async () => {
    const insert = [
      'SET standard_conforming_strings = on;',
      "INSERT INTO public.context_entries (id, thread_id, source, content_type, text_content, metadata, created_at, updated_at) VALUES (7, 't', 'agent', 'text', 'it''s",
      "two lines, and ); too', '{\"title\": \"A\"}', '2026-10-05 08:12:41.053901+02', '2026-10-05 08:12:41+02');",
      "INSERT INTO public.tags (id, context_entry_id, tag) VALUES (1, 7, 'one, two');",
      "INSERT INTO public.context_entries (id, thread_id) VALUES (8, 'cut",
    ]
    const { entries, told } = await imported('mcp-context-server', 'inserts.sql', {
      prepare: (folder) => writeFileSync(join(folder, 'inserts.sql'), insert.join('\n')),
    })
    expect(entries).toMatchObject([
      { id: 7, text: "it's\ntwo lines, and ); too", created_at: '2026-10-05T06:12:41.053Z', tags: ['one, two'] },
    ])
    expect(told('line 5')).toEqual([expect.stringContaining('is not a complete INSERT')])
  })
})

describe('Context Fabric', () => {
  it('reads both layers with their projects, milliseconds, weights and pins, and supersession as a link', async () => {
    const { entries, entry } = await imported('context-fabric', '.')
    expect(Object.groupBy(entries, ({ layer }) => String(layer ?? 2))).toMatchObject({
      2: { length: 17 },
      3: { length: 11 },
    })
    const [newer, older] = bySupersession
    expect(entry(newer)).toMatchObject({
      project: '/home/dev/projects/orchard',
      thread_id: 'project:/home/dev/projects/orchard',
      weight: 4,
      created_at: '2026-10-19T15:02:33.003Z',
      links: [{ relation: 'supersedes', to: entry(older).id, origin: 'metadata' }],
    })
    expect(entry('Mara prefers two-space')).toMatchObject({
      source: 'user',
      pinned: true,
      metadata: { kind: 'convention' },
    })
    expect(entry('Rotated logs are zstd')).toMatchObject({ tags: ['edited', 'performance', 'zstd'], access_count: 2 })
  })

  it('reads rows that are only in a -wal, without changing it, and refuses a copy that lacks it', async () => {
    const folder = importSamples('context-fabric')
    const live = join(folder, 'live/l3-semantic')
    const files = () =>
      readdirSync(live)
        .sort()
        .map((name) => [name, readFileSync(join(live, name)).length])
    const before = files()
    const { planImport } = await import('../../src/cli/import/plan')
    const options = {
      name: 'x',
      at: '2026-11-23T10:00:00.000Z',
      prompts: false,
      projects: { otherwise: null, map: new Map() },
    }
    expect((await planImport('context-fabric', live, options)).entries).toBe(4)
    expect(files()).toEqual(before)
    rmSync(join(live, 'semantic.db-wal'))
    await expect(planImport('context-fabric', live, options)).rejects.toThrow(/without its -wal file/)
    copyFileSync(join(folder, 'export.jsonl'), join(live, 'semantic.db'))
    await expect(planImport('context-fabric', live, options)).rejects.toThrow(/not a SQLite database/)
  })

  it('reads the export: camelCase, skills as procedures, supersession in metadata.temporal, relationships as links', async () => {
    const { entries, entry, plan } = await imported('context-fabric', 'export.jsonl')
    expect(plan.links).toBe(2)
    expect(entries.flatMap(({ links = [] }) => links.map(({ relation }) => relation)).sort()).toEqual([
      'references',
      'supersedes',
    ])
    const skill = entry('Release marlin')
    expect(skill).toMatchObject({ metadata: { kind: 'procedure', type: 'skill' }, pinned: true, thread_id: 'project:' })
    expect(skill.project).toBeUndefined()
  })
})

describe('mcp-memory-service', () => {
  it('leaves out deleted entries and the internal data of the program, and includes each edge once', async () => {
    const { entries, entry, plan } = await imported('mcp-memory-service', 'sqlite_vec.db')
    expect(plan.skipped).toMatchObject({ 'deleted memories': 1, 'associations that the program found by itself': 3 })
    expect(entries.some(({ text }) => text.startsWith('Temporary note: the staging'))).toBe(false)
    const money = entry('Money is an integer number of euro cents')
    expect(money).toMatchObject({ created_at: '2026-10-06T09:05:17.008Z', tags: ['api', 'money', 'orchard'] })
    expect(Object.keys(money.metadata ?? {})).toEqual(['status', 'file', 'title', 'conversation_id', 'kind', 'type'])
    const relations = entries.flatMap(({ links = [] }) => links.map(({ relation }) => relation))
    expect(Object.groupBy(relations, (relation) => relation)).toMatchObject({
      references: { length: 12 },
      supersedes: { length: 2 },
    })
    const [newer, older] = bySupersession
    expect(entry(newer).links).toContainEqual({ relation: 'supersedes', to: entry(older).id, origin: 'metadata' })
  })
})

describe('claude-mem', () => {
  it('begins with the narrative, includes each fact once, and imports prompts only on request', async () => {
    const { entries, entry } = await imported('claude-mem', 'claude-mem.db')
    expect(entries.filter(({ id }) => String(id).startsWith('summary:'))).toHaveLength(9)
    const newer = entry('Customer sessions move from signed cookies')
    expect(newer).toMatchObject({
      project: 'orchard',
      metadata: { kind: 'decision', title: 'Sessions in a table after all' },
    })
    const summary = entries.find(({ id }) => id === 'summary:1')
    expect(summary).toMatchObject({
      text: expect.stringMatching(/^Request: Work on orchard\nInvestigated: /),
      metadata: { kind: 'session' },
    })
    expect(summary?.text).not.toContain('Next steps')
    const all = await imported('claude-mem', 'claude-mem.db', { prompts: true })
    expect(all.entries).toHaveLength(62)
    expect(all.entries.find(({ id }) => id === 'prompt:1')).toMatchObject({ source: 'user', project: 'orchard' })
  })

  it('reads what the worker saved by hand, whose sessions are named manual', async () => {
    const { entries } = await imported('claude-mem', 'worker.db')
    expect(new Set(entries.map(({ thread_id }) => thread_id))).toEqual(
      new Set(['manual-marlin-claude', 'manual-fieldnote-claude']),
    )
    expect(entries[0]).toMatchObject({ metadata: { kind: 'note', type: 'discovery', subtitle: 'Manual memory' } })
  })
})
