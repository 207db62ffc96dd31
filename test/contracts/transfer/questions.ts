import { join } from 'node:path'
import { expect } from 'vitest'
import { planImport } from '../../../src/cli/import/plan'
import { importSamples } from '../../support/import-samples'
import { post } from '../../support/transfer'
import type { Place } from './place'

/** Questions that the old system answered: a correct answer starts with, or is titled, these words. */
type Question = readonly [question: string, beginning: string]

const OFFICE: Question = [
  'Why can the office end a customer session now?',
  'Customer sessions move from signed cookies',
]
const HOUR: Question = ['Why did the log search miss an hour?', 'Bug: `--since 24h` missed an hour']
const SEARCH: Question = ['Why did the log search miss an hour in October?', HOUR[1]]
const MONEY: Question = ['How is money stored in orchard?', 'Money is an integer number of euro cents']
const FLAGS: Question = ['Which flags belong in examples?', 'Write long flags']
const THREE = [OFFICE, SEARCH, MONEY]
const TREES: Question = ['Which database holds orders and stock?', 'Orders and stock go to PostgreSQL 16']
const DEPLOY: Question = ['On which days may we deploy?', 'Deploys happen Tuesday and Thursday']

/** A file of a system, in its pack, and three questions that its system answered. */
export type Source = readonly [source: string, pack: string, file: string, questions: readonly Question[]]

/** One of every system. */
export const SOURCES: readonly Source[] = [
  ['mcp-context-server', 'mcp-context-server', 'context_storage.db', THREE],
  ['mcp-context-server', 'mcp-context-server', 'postgresql-dump.sql', THREE],
  ['context-fabric', 'context-fabric', '.', THREE],
  [
    ...(['server-memory', 'server-memory', 'memory.jsonl'] as const),
    [
      ['What replaced the signed cookies?', 'Replaces signed cookies'],
      ['What is wrong with lot Q-118?', 'Lot Q-118 was sold twice'],
      ['Who reads long flags aloud?', 'Reads long flags aloud'],
    ],
  ],
  ['mcp-memory-service', 'mcp-memory-service', 'sqlite_vec.db', THREE],
  ['basic-memory', 'basic-memory', 'notes', THREE],
  ['claude-mem', 'claude-mem', 'claude-mem.db', THREE],
  ['claude-code', 'claude-code', 'home', [OFFICE, MONEY, FLAGS]],
  ['markdown', 'basic-memory', 'notes', THREE],
  [
    ...(['codex', 'codex', 'memories'] as const),
    [OFFICE, HOUR, ['May expressions use lookaheads?', 'lantern accepts RE2 expressions only']],
  ],
  ['chatgpt', 'chats', 'chatgpt', [HOUR, FLAGS, TREES]],
  ['claude', 'chats', 'claude', [MONEY, FLAGS, DEPLOY]],
  ['ndjson', 'ndjson', 'entries.ndjson', THREE],
]

const KEYS: Question = [
  'Why are idempotency keys never forgotten any more?',
  'Idempotency keys now live in the payments table',
]

/** Other layouts of the same systems. */
export const MORE_SOURCES: readonly Source[] = [
  ...['older-1.7.1.db', 'unreleased-uuid-ids.db'].map(
    (file): Source => [
      ...(['mcp-context-server', 'mcp-context-server', file] as const),
      [
        KEYS,
        ['Why was the search for 5%_off wrong?', 'Merchant search for 5%_off'],
        ['Darwin Core or CSV?', 'Should exports be Darwin Core Archive'],
      ],
    ],
  ),
  [
    ...(['claude-code', 'claude-code', 'by-the-program'] as const),
    [
      KEYS,
      ['Why were some plots at zero north, zero east?', 'Bug: 41 plots were placed at'],
      ['How are maps brought to the tablets?', 'Edited later. Offline maps are MBTiles'],
    ],
  ],
  [
    ...(['claude-mem', 'claude-mem', 'worker.db'] as const),
    [
      ['How often may the tracker write in the cold?', 'Measured on the Velebit trip'],
      ['Why were yen payouts too high?', 'Bug: payouts in JPY'],
      ['What may be deployed when?', 'Every release of marlin goes out'],
    ],
  ],
  [
    ...(['context-fabric', 'context-fabric', 'export.jsonl'] as const),
    [
      ['How are payments booked?', 'marlin books every payment as double entry'],
      ['Why was the tablet full?', 'The tablet of team 4 was full'],
      ['Which rule holds for reviewing money?', 'Anything below crates/money'],
    ],
  ],
  [
    ...(['basic-memory', 'basic-memory', 'imported-chats'] as const),
    [
      ['How long do idempotency keys live?', 'How long should idempotency keys live?'],
      ['How are merchant names printed?', 'How are merchant names printed?'],
      ['Why are the statements a cent off?', 'Why are the statements one cent off?'],
    ],
  ],
]

/** Imports the file into an org of its own, twice, and asks what an agent of that system asks, through MCP. */
export async function findsWhatItKnew(place: Place, [source, pack, file, questions]: Source): Promise<void> {
  const org = await place.newOrg()
  const client = await place.join(org, await place.team.key(org))
  const plan = await planImport(source, join(importSamples(pack), file), {
    name: `${pack}/${file}`,
    at: '2026-11-23T10:00:00.000Z',
    prompts: false,
    projects: { otherwise: null, map: new Map() },
  })
  for await (const { bytes, content } of plan.volumes()) {
    const report = await post(place.team, org, bytes)
    expect(report.body).toMatchObject({ entries: { refused: 0, skipped: 0 }, problems: [], content })
    const again = await post(place.team, org, bytes)
    expect(again.body).toMatchObject({ entries: { stored: 0, replaced: 0, skipped: 0, refused: 0 }, content })
  }
  expect(questions).toHaveLength(3)
  for (const [question, beginning] of questions) {
    const { results } = await client.call('hybrid_search_context', { query: question, limit: 10 })
    // A search shows the beginnings of texts; an agent reads on.
    const { result } = await client.call('get_context_by_ids', { context_ids: results.map(({ id }: Found) => id) })
    const told = result.map(({ text_content: text, metadata }: Found) => `${metadata?.title ?? ''}\n${text}`)
    const found = told.some((words: string) => words.includes(beginning.slice(0, 40)))
    expect(found, `${question}\n${told.map((words: string) => words.slice(0, 80)).join('\n')}`).toBe(true)
  }
}

interface Found {
  readonly id: number
  readonly text_content: string
  readonly metadata?: { readonly title?: string } | null
}
