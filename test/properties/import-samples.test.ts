import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Plan, planImport } from '../../src/cli/import/plan'
import { SourceProblem } from '../../src/cli/import/values'
import { verifyExport } from '../../src/domain/transfer/verify'
import { ROOT } from '../support/build'
import { importSamples } from '../support/import-samples'

const EXPECTED = join(ROOT, 'test', 'fixtures', 'import', 'expected.json')
const AT = '2026-11-23T10:00:00.000Z'
const NONE = { otherwise: null, map: new Map<string, string>() }

/** Source, file within its pack, entries; the pack is named where it is not the source. */
const GOOD: [source: string, file: string, entries: number, pack?: string][] = [
  ['mcp-context-server', 'context_storage.db', 28],
  ['mcp-context-server', 'postgresql-dump.sql', 28],
  ['mcp-context-server', 'older-1.7.1.db', 11],
  ['mcp-context-server', 'unreleased-uuid-ids.db', 11],
  ['server-memory', 'memory.jsonl', 25],
  ['server-memory', 'memory-utf16.jsonl', 25],
  ['context-fabric', '.', 28],
  ['context-fabric', 'live/l3-semantic', 4],
  ['context-fabric', 'export.jsonl', 28],
  ['claude-mem', 'claude-mem.db', 36],
  ['claude-mem', 'worker.db', 16],
  ['mcp-memory-service', 'sqlite_vec.db', 28],
  ['basic-memory', 'notes', 27],
  ['basic-memory', 'imported-chats', 4],
  ['claude-code', 'home', 19],
  ['claude-code', 'by-the-program', 26],
  ['markdown', 'projects', 14, 'claude-code'],
  ['codex', 'memories', 12],
  ['chatgpt', 'chatgpt', 18, 'chats'],
  ['claude', 'claude', 16, 'chats'],
  ['ndjson', 'entries.ndjson', 24],
]
const DAMAGED: typeof GOOD = [
  ['mcp-context-server', 'context_storage-damaged-rows.db', 23],
  ['mcp-context-server', 'postgresql-dump-damaged.sql', 25],
  ['mcp-context-server', 'unreleased-uuid-ids-damaged-rows.db', 9],
  ['server-memory', 'memory-damaged.jsonl', 20],
  ['context-fabric', 'damaged-memory.db', 13],
  ['context-fabric', 'damaged-semantic.db', 10],
  ['context-fabric', 'export-damaged.jsonl', 2],
  ['claude-mem', 'claude-mem-damaged-rows.db', 32],
  ['mcp-memory-service', 'sqlite_vec-damaged-rows.db', 11],
  ['basic-memory', 'damaged', 3],
  ['claude-code', 'damaged', 3],
  ['codex', 'damaged', 3],
  ['codex', 'damaged/MEMORY-cut.md', 1],
  ['chatgpt', 'chatgpt/conversations-damaged.json', 4, 'chats'],
  ['claude', 'claude/conversations-damaged.json', 10, 'chats'],
  ['ndjson', 'entries-damaged.ndjson', 20],
]
const CUT: typeof GOOD = [
  ['mcp-context-server', 'context_storage-cut.db', 0],
  ['context-fabric', 'cut-memory.db', 0],
  ['claude-mem', 'claude-mem-cut.db', 0],
  ['mcp-memory-service', 'sqlite_vec-cut.db', 0],
  ['chatgpt', 'chatgpt/conversations-cut.json', 0, 'chats'],
  ['claude', 'claude/conversations-cut.json', 0, 'chats'],
]

const folders = new Map<string, string>()
function pathOf(source: string, file: string, pack = source): string {
  const folder = folders.get(pack) ?? importSamples(pack)
  folders.set(pack, folder)
  return join(folder, file)
}

const plan = (source: string, file: string, pack?: string): Promise<Plan> =>
  planImport(source, pathOf(source, file, pack), { name: file, at: AT, prompts: false, projects: NONE })

interface Told {
  readonly entries: number
  readonly images: number
  readonly links: number
  readonly content: string
  readonly threads: Readonly<Record<string, string>>
  readonly refused: readonly string[]
  readonly notes: readonly string[]
  readonly skipped: Plan['skipped']
}

function toldOf({ entries, images, links, content, threads, refused, notes, skipped }: Plan): Told {
  const lines = (told: Plan['notes']) =>
    told.map(({ where, message }) => `${where.split('commonplace-samples-').at(-1)?.slice(-80)}: ${message}`)
  const byThread = threads.map((thread) => [thread.thread_id, `${thread.entries} ${thread.content}`] as const)
  const plain = (list: string[]) => list.map((line) => line.replace(/^\w{6}\/|^\w{6}: /, ''))
  return {
    ...{ entries, images, links, content, skipped },
    threads: Object.fromEntries(byThread),
    refused: lines(refused),
    notes: plain(lines(notes)),
  }
}

describe('files that other programs wrote', () => {
  const told: Record<string, Told> = {}
  const writes = process.env.IMPORT_SAMPLES === 'write'
  const expected: Record<string, Told> = existsSync(EXPECTED) ? JSON.parse(readFileSync(EXPECTED, 'utf8')) : {}

  for (const [source, file, entries, pack] of [...GOOD, ...DAMAGED])
    it(`reads ${file} of ${source}: ${entries} entries, with counts and hashes of each thread, in volumes that verify`, async () => {
      const read = await plan(source, file, pack)
      expect(read.entries).toBe(entries)
      const volumes: Uint8Array[] = []
      for await (const { bytes } of read.volumes()) volumes.push(bytes)
      const verified = await verifyExport(async function* () {
        yield* volumes
      })
      expect(verified.content).toBe(read.content)
      expect(verified.volumes.every(({ content, computed }) => content === computed)).toBe(true)
      told[`${source} ${file}`] = toldOf(read)
      if (!writes) expect(told[`${source} ${file}`]).toEqual(expected[`${source} ${file}`])
    })

  for (const [source, file, , pack] of CUT)
    it(`refuses ${file} of ${source} with one sentence, because it is cut`, async () => {
      await expect(plan(source, file, pack)).rejects.toThrow(SourceProblem)
    })

  it('rejects files of another source with one sentence if it can read none of them', async () => {
    const folder = importSamples('server-memory')
    const [notes, pictures] = [join(folder, 'notes'), join(folder, 'pictures')]
    mkdirSync(join(notes, 'garden'), { recursive: true })
    writeFileSync(join(notes, 'garden', 'pears.md'), '# Pears\n\nare pruned in March')
    mkdirSync(pictures)
    writeFileSync(join(pictures, 'a.png'), '')
    const refused = async (source: string, path: string): Promise<string> => {
      const options = { name: path, at: AT, prompts: false, projects: NONE }
      const error = await planImport(source, path, options).catch((thrown: unknown) => thrown)
      expect([source, error]).toEqual([source, expect.any(SourceProblem)])
      return (error as SourceProblem).message.replace(path, '')
    }
    for (const source of ['basic-memory', 'markdown', 'claude-code', 'codex']) {
      expect(await refused(source, pictures)).toBe(' has no Markdown files')
      expect(await refused(source, join(pictures, 'a.png'))).toMatch(/^ is not a Markdown file/)
    }
    expect(await refused('codex', notes)).toBe(' holds no file of the memories of Codex')
    expect(await refused('claude-code', notes)).toBe(' holds no memory folder and no CLAUDE.md of Claude Code')
    for (const source of ['server-memory', 'ndjson', 'claude-mem', 'mcp-context-server'])
      expect(await refused(source, notes)).toBe(' is a folder; name the file')
  })

  it.runIf(writes)('writes what is expected', () => {
    writeFileSync(EXPECTED, `${JSON.stringify(told, null, 2)}\n`)
  })
})
