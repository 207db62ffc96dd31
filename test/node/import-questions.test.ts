import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { planImport } from '../../src/cli/import/plan'
import { CLIENTS, type Connect, type TestClient } from '../support/clients'
import { importSamples } from '../support/import-samples'
import { type RunningServer, startServer } from '../support/server'

/** What an agent asks today that the old system answered yesterday: each answer begins with, or is titled, these words. */
const OFFICE = ['Why can the office end a customer session now?', 'Customer sessions move from signed cookies'] as const
const SEARCH = ['Why did the log search miss an hour in October?', 'Bug: `--since 24h` missed an hour'] as const
const MONEY = ['How is money stored in orchard?', 'Money is an integer number of euro cents'] as const
const FLAGS = ['Which flags belong in examples?', 'Write long flags'] as const

const SOURCES = [
  ['mcp-context-server', 'mcp-context-server', 'context_storage.db', [OFFICE, SEARCH, MONEY]],
  ['mcp-context-server', 'mcp-context-server', 'postgresql-dump.sql', [OFFICE, SEARCH, MONEY]],
  ['context-fabric', 'context-fabric', '.', [OFFICE, SEARCH, MONEY]],
  ['mcp-memory-service', 'mcp-memory-service', 'sqlite_vec.db', [OFFICE, SEARCH, MONEY]],
  ['basic-memory', 'basic-memory', 'notes', [OFFICE, SEARCH, MONEY]],
  ['claude-mem', 'claude-mem', 'claude-mem.db', [OFFICE, SEARCH, MONEY]],
  ['claude-code', 'claude-code', 'home', [OFFICE, MONEY, FLAGS]],
  ['markdown', 'claude-code', 'projects', []],
  ['ndjson', 'ndjson', 'entries.ndjson', [OFFICE, SEARCH, MONEY]],
] as const

let server: RunningServer
let client: TestClient
beforeAll(async () => {
  server = await startServer()
  client = await (CLIENTS['SDK v2, revision 2026-07-28'] as Connect)(server.url)
})
afterAll(async () => {
  await client.close()
  await server.stop()
})

async function post(bytes: Uint8Array): Promise<Record<string, unknown>> {
  const response = await fetch(new URL('/api/v1/orgs/local/import', server.url), {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
    body: bytes as Uint8Array<ArrayBuffer>,
  })
  if (response.status !== 200) throw new Error(await response.text())
  return response.json() as Promise<Record<string, unknown>>
}

it.each(SOURCES)('finds today what %s knew yesterday (%s, %s)', async (source, pack, file, questions) => {
  const path = join(importSamples(pack), file)
  const plan = await planImport(source, path, {
    name: `${pack}/${file}`,
    at: '2026-11-23T10:00:00.000Z',
    prompts: false,
    projects: { otherwise: null, map: new Map() },
  })
  const ids = new Set<number>()
  for await (const { bytes, content } of plan.volumes()) {
    const report = await post(bytes)
    expect(report).toMatchObject({ entries: { refused: 0, skipped: 0 }, problems: [], content })
    const again = await post(bytes)
    expect(again).toMatchObject({ entries: { stored: 0, replaced: 0, skipped: 0, refused: 0 }, content })
    for (const [, ours] of (report.map ?? []) as [unknown, number][]) ids.add(ours)
  }
  for (const [question, beginning] of questions) {
    const { data } = await client.call('hybrid_search_context', { query: question, limit: 50 })
    const own = data.results.filter(({ id }: { id: number }) => ids.size === 0 || ids.has(id)).slice(0, 10)
    const told = own.map(
      ({ text_content: text, metadata }: { text_content: string; metadata?: { title?: string } }) => [
        text.slice(0, 80),
        metadata?.title ?? '',
      ],
    )
    expect(
      told.flat().some((words: string) => words.includes(beginning.slice(0, 40))),
      `${question}\n${told.join('\n')}`,
    ).toBe(true)
  }
})
