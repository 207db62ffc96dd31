import { beforeAll, expect, it } from 'vitest'
import { bindings, migrate } from '../support/bindings'
import { CROWD, crowd } from '../support/captured-crowd'
import { onPostgres } from '../support/direct-sql'
import { claudeCode } from '../support/hook-events'
import { countingRows, type Json, type Key, openWorld } from '../support/isolation'

/** 10,000 captured sessions of the caller, with all searched words, in addition to entries written on purpose (capture §7). */
const WORDS = 'harbour light flicker diesel pump radar mast bilge'
const PROJECT = 'ferry'
const BY_WORDS = /^(context|hybrid_search_context|fts_search_context|context_recall|context_getCurrent)$/
const { database, rowsOf } = countingRows(bindings.DB)
const world = openWorld({}, database)

beforeAll(async () => {
  if (!onPostgres()) await migrate()
})

const SUBJECTS = [
  'harbour light',
  'diesel pump',
  'ticket gate',
  'radar mast',
  'life raft',
  'bilge alarm',
  'anchor winch',
]
const KINDS = ['decision', 'gotcha', 'rule', 'plan', 'note', 'procedure']
const QUESTIONS = ['why does the harbour light flicker', 'diesel pump pressure', 'who repairs the radar mast', 'bilge']

async function fill(ada: Key): Promise<void> {
  for (let i = 0; i < 42; i++) {
    const [subject, kind] = [SUBJECTS[i % 7] as string, KINDS[i % 6] as string]
    const content = `The ${subject} ${i % 3 === 0 ? 'flickers when it is cold' : `needs pressure ${i}`}; ask the engineer of deck ${i}`
    world.clock.advance(1_000)
    await world.ok(ada, 'remember', { title: `${subject} ${i}`, content, kind, project: PROJECT, tags: ['ferry'] })
  }
  await world.settle()
}

it('packs, searches, lists and statistics are byte for byte as without 10,000 captured entries, and read no more rows', async () => {
  const ada = await world.makeOrg()
  await fill(ada)
  const calls: [string, Record<string, unknown>][] = [
    ...QUESTIONS.flatMap((query): [string, Record<string, unknown>][] => [
      ['context', { goal: query, project: PROJECT }],
      ['context', { goal: query, layer: 'deep_search' }],
      ['hybrid_search_context', { query }],
      ['fts_search_context', { query }],
      ['semantic_search_context', { query }],
      ['context_recall', { query, projectPath: PROJECT }],
      ['context_getCurrent', { currentCommand: query, projectPath: PROJECT }],
      ['grep_context', { pattern: 'harbour' }],
    ]),
    ['search_context', {}],
    ['search_context', { tags: ['ferry'], limit: 50 }],
    ['search_context', { metadata: { project: PROJECT } }],
    ['list_threads', {}],
    ['context_list', { projectPath: PROJECT }],
    ['context_list', { stats: true }],
    ['context_list', { archived: true }],
  ]
  const ask = async () => {
    const answers: [string, string][] = []
    const rows: number[] = []
    for (const [tool, args] of calls) {
      rows.push(await rowsOf(async () => void answers.push([tool, (await world.call(ada, tool, args)).body])))
      await world.settle()
    }
    return { answers, rows }
  }
  const counted = ({ backend: _, ...statistics }: Json): Json => statistics
  await ask()
  const before = await ask()
  const statistics = counted(await world.ok(ada, 'get_statistics', {}))
  await crowd(world, ada, { project: PROJECT, title: 'harbour light', words: WORDS })
  const after = await ask()
  expect(after.answers).toEqual(before.answers)
  const { total_entries, ...rest } = counted(await world.ok(ada, 'get_statistics', {}))
  expect([total_entries, rest.by_source]).toEqual([statistics.total_entries, statistics.by_source])
  // PostgreSQL does not report rows. FTS5 skips the pages of a word's postings, each with those of a dozen entries and more.
  const dearer = calls.flatMap(([tool], i) => {
    const [was, is] = [before.rows[i] ?? 0, after.rows[i] ?? 0]
    const pages = BY_WORDS.test(tool) ? CROWD / 10 : 0
    return is > was * 1.1 + pages ? [[tool, calls[i]?.[1], was, is]] : []
  })
  expect(dearer).toEqual([])

  // A start reads only its content, however many sessions there were.
  const s = claudeCode('crowded')
  const start = { ...s.start(), at: world.clock.now(), place: { project: PROJECT, branch: 'x' } }
  let told = ''
  const rows = await rowsOf(async () => {
    const body = { events: [start], answer: start.id }
    const { json } = await world.http(ada.secret, 'POST', '/api/v1/hooks/claude-code', body)
    told = json.output.hookSpecificOutput.additionalContext
  })
  expect(told).toContain('Where we left off [')
  expect(rows).toBeLessThanOrEqual(3_000)
})
