import { beforeAll, describe, expect, it } from 'vitest'
import type { Budget } from '../../src/tools/define-tool'
import { askHere } from '../support/ask-here'
import { bindings, migrate } from '../support/bindings'
import { type Call, fill, readingCalls, vary, writingCalls } from '../support/every-tool'
import { countingRows, openWorld, type Spent } from '../support/isolation'
import { ALL_TOOLS } from '../support/tool-examples'
import { calledName } from '../support/tool-places'

/**
 * The most that calls cost on D1, by its own counters, with the work after their answers: of tools as they declare it, and of routes and
 * resources. A change that costs more raises the budget in the declaration. `bench/records/rows.md` has figures of single calls.
 */
const BUDGETS: Record<string, Omit<Budget, 'tokens'>> = {
  ...Object.fromEntries(ALL_TOOLS.map((tool) => [calledName(tool), tool.budget])),
  'GET /api/v1/code/ours/files': { trips: 2, reads: [21, 21], writes: 0 },
  'GET /api/v1/orgs/-/changes?limit=10': { trips: 2, reads: [6, 6], writes: 0 },
  'POST /api/v1/hooks/claude-code?end': { trips: 8, reads: [200, 200], writes: 19 },
  'POST /api/v1/hooks/claude-code?prompt': { trips: 7, reads: [3_500, 4_850], writes: 4 },
  'POST /api/v1/hooks/claude-code?start': { trips: 5, reads: [300, 345], writes: 6 },
  'POST /api/v1/hooks/claude-code?stop': { trips: 6, reads: [200, 200], writes: 20 },
  'POST /api/v1/hooks/claude-code?tool': { trips: 3, reads: [130, 130], writes: 30 },
  'PUT /api/v1/code/ours/files': { trips: 4, reads: [101, 101], writes: 36 },
  completion: { trips: 2, reads: [107, 107], writes: 0 },
  resource: { trips: 4, reads: [5_700, 8_550], writes: 2 },
  resources: { trips: 2, reads: [180, 179], writes: 0 },
}
const [SMALL, LARGE] = [196, 1_225]

/** Uses of each index other than statements of these calls or of the schedule. `METADATA_INDEXED_FIELDS` are used by filters. */
const NEEDED: Record<string, string> = {
  entries_addresses_agent_idx:
    "SELECT id FROM entries WHERE org = 'o' AND addresses_agent = 1 ORDER BY id DESC LIMIT 20",
  api_keys_email_idx: "SELECT 1 FROM api_keys WHERE email = 'a@example.com'",
  api_keys_org_created_by_idx: "SELECT 1 FROM api_keys WHERE org = 'o' AND created_by = 'k'",
  api_keys_org_created_at_idx: "SELECT id FROM api_keys WHERE org = 'o' ORDER BY created_at, id",
  changes_deleted_thread_idx:
    "SELECT entry_id FROM changes WHERE org = 'o' AND was_thread = 't' AND action = 'delete' AND erased = 0",
  code_vectors_file_idx: 'DELETE FROM code_vectors WHERE file_id = 7',
  entries_long_text_idx: "SELECT 1 FROM entries WHERE org = 'o' AND text_hash = 'h' AND bytes > 16384",
  image_uses_entry_idx: 'DELETE FROM image_uses WHERE entry_id = 7',
  import_references_entry_idx: 'DELETE FROM import_references WHERE entry_id = 7',
  imported_entry_idx: 'SELECT store FROM imported WHERE entry_id = 7',
  memory_pairs_due_at_idx:
    'SELECT org FROM memory_pairs WHERE due_at IS NOT NULL AND due_at <= 7 ORDER BY due_at, later_id DESC LIMIT 1',
  patterns_entry_idx: 'SELECT 1 FROM patterns WHERE entry_id = 7',
  receipts_change_idx: "SELECT key FROM receipts WHERE org = 'o' AND change_id = 'c'",
  entry_versions_long_text_idx: "SELECT 1 FROM entry_versions WHERE org = 'o' AND text_hash = 'h' AND bytes > 16384",
  entry_versions_org_idx:
    "SELECT id FROM entry_versions WHERE id > 0 AND org BETWEEN 'o' AND 'o' ORDER BY org, id LIMIT 100",
  entry_versions_deleted_thread_idx:
    "SELECT entry_id FROM entry_versions WHERE org = 'o' AND thread_id = 't' AND deleted = 1 AND entry_id > 7",
}

const { database, spentBy } = countingRows(bindings.DB)
/** Statements that were sent. */
const heard = new Set<string>()
const hearing = new Proxy(database, {
  get(target, name) {
    if (name !== 'prepare') return Reflect.get(target, name) as unknown
    return (text: string) => {
      heard.add(text)
      return target.prepare(text)
    }
  },
})
const world = openWorld({ HISTORY_DAYS: '30' }, hearing)

type Costs = Record<string, Spent>

async function costsOf(ask: (call: Call) => Promise<unknown>, calls: readonly Call[]): Promise<Costs> {
  const costs: Costs = {}
  for (const call of calls) {
    const { trips, read, written } = await spentBy(() => ask(call))
    const before = costs[call[0]] ?? { trips: 0, read: 0, written: 0 }
    costs[call[0]] = {
      trips: Math.max(trips, before.trips),
      read: before.read + read,
      written: before.written + written,
    }
  }
  return costs
}

/** The indexes that a statement is led by. */
async function indexesOf(text: string): Promise<string[]> {
  const places = Math.max(0, ...Array.from(text.matchAll(/\?(\d+)/g), ([, n]) => Number(n)))
  const { results } = await bindings.DB.prepare(`EXPLAIN QUERY PLAN ${text}`)
    .bind(...Array.from({ length: places }, () => null))
    .all<{ detail: string }>()
  return results.flatMap(({ detail }) => /USING (?:COVERING )?INDEX (\w+)/.exec(detail)?.[1] ?? [])
}

describe('what every tool costs on D1', () => {
  let small: Costs
  let large: Costs
  let tools: string[]

  beforeAll(async () => {
    await migrate()
    const measured = async (count: number): Promise<Costs> => {
      const asker = askHere(world, await world.makeOrg('budget'))
      tools = await asker.tools()
      const earlier = await fill(asker.ask, { count: 49 })
      const stored = await vary(asker.ask, await fill(asker.ask, { from: 49, count: count - 49, earlier }), 1)
      return costsOf(asker.ask, [...readingCalls(stored), ...writingCalls(stored)])
    }
    large = await measured(LARGE)
    small = await measured(SMALL)
  }, 240_000)

  it('stays within a budget of trips, rows read and rows written, in a small org and in one six times as large', () => {
    const over = Object.entries(large).flatMap(([name, now]) => {
      const few = small[name] ?? now
      const { trips, reads, writes } = BUDGETS[name] ?? { trips: 0, reads: [0, 0], writes: 0 }
      const cost = [Math.max(now.trips, few.trips), few.read, now.read, now.written]
      return [trips, ...reads, writes].every((most, i) => (cost[i] as number) <= most) ? [] : [`${name}: ${cost}`]
    })
    expect(over).toEqual([])
    expect(tools.filter((name) => !(name in large && name in BUDGETS))).toEqual([])
  })

  it('keeps no index but those that a question needs, since each is a row written with every change', async () => {
    for (let day = 0; day < 3; day++) {
      world.clock.advance(25 * 3_600_000)
      await world.services.schedule.run()
    }
    const led = new Set((await Promise.all([...heard].map(indexesOf))).flat())
    const { results } = await bindings.DB.prepare(
      `SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL AND name NOT GLOB 'entries_meta_*' ORDER BY name`,
    ).all<{ name: string }>()
    expect(results.map(({ name }) => name).filter((name) => !led.has(name) && !(name in NEEDED))).toEqual([])
    const others = await Promise.all(
      Object.entries(NEEDED).map(async ([name, text]) => [
        name,
        led.has(name) ? 'needs no question here' : await indexesOf(text),
      ]),
    )
    expect(others).toEqual(Object.keys(NEEDED).map((name) => [name, [name]]))
  })
})
