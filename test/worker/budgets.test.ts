import { beforeAll, describe, expect, it } from 'vitest'
import { askHere } from '../support/ask-here'
import { bindings, migrate } from '../support/bindings'
import { type Call, fill, readingCalls, vary, writingCalls } from '../support/every-tool'
import { countingRows, openWorld, type Spent } from '../support/isolation'

/**
 * Costs of every tool on D1, by its own counters, with work after the answer, in an org of each of two sizes: trips of
 * the longest call; rows read by all its calls together, in the small org and in the large one; rows written. The calls are those of
 * `every-tool.ts`, which need different statements of a tool. A change that costs more must change the limit here. Figures of single
 * calls, at 1,000 and 10,000: `bench/records/rows.md`.
 */
const BUDGETS: Record<string, readonly [trips: number, small: number, large: number, written: number]> = {
  'GET /api/v1/code/ours/files': [2, 21, 21, 0],
  'GET /api/v1/orgs/-/changes?limit=10': [2, 6, 6, 0],
  'POST /api/v1/hooks/claude-code?end': [7, 86, 86, 19],
  'POST /api/v1/hooks/claude-code?prompt': [7, 3_500, 4_850, 4],
  'POST /api/v1/hooks/claude-code?start': [5, 300, 345, 6],
  'POST /api/v1/hooks/claude-code?stop': [6, 84, 84, 19],
  'POST /api/v1/hooks/claude-code?tool': [3, 130, 130, 30],
  'PUT /api/v1/code/ours/files': [4, 101, 101, 36],
  completion: [2, 107, 107, 0],
  context: [4, 42_200, 105_000, 14],
  context_delete: [4, 90, 90, 23],
  'core:changes': [9, 1_420, 4_560, 3],
  'core:context': [5, 5_800, 18_080, 3],
  'core:fetch': [6, 57, 57, 0],
  'core:forget': [4, 660, 3_280, 24],
  'core:history': [3, 59, 59, 0],
  'core:projects': [2, 80, 80, 0],
  // One trip and a bounded number of rows name the earlier memories on the subject: also of context_store and remember.
  'core:remember': [5, 470, 470, 30],
  'core:restore': [5, 145, 145, 33],
  'core:search': [5, 12_050, 31_600, 0],
  'core:update': [4, 95, 95, 39],
  context_get: [2, 14, 14, 2],
  context_getCurrent: [4, 4_050, 6_350, 0],
  context_list: [2, 1_664, 7_370, 0],
  context_orient: [1, 5, 5, 0],
  context_recall: [4, 8_300, 22_300, 0],
  context_reportEvent: [5, 2_790, 10_500, 150],
  context_searchCode: [5, 330, 330, 0],
  context_setup: [1, 5, 5, 0],
  // The fourth trip reads what the name of its project means: once an isolate and version of the directory.
  context_store: [5, 300, 280, 54],
  context_summarize: [2, 6, 6, 0],
  context_update: [5, 170, 170, 83],
  delete_context: [3, 1_199, 4_724, 1_709],
  // The third trip finds the most similar thread name when nothing was deleted.
  delete_context_batch: [3, 690, 2_790, 4],
  fetch: [2, 12, 12, 0],
  fts_search_context: [3, 20_200, 39_900, 0],
  get_context_by_ids: [2, 53, 53, 0],
  get_context_history: [2, 82, 82, 0],
  get_statistics: [4, 223, 223, 0],
  grep_context: [2, 5_930, 32_700, 0],
  hybrid_search_context: [4, 22_800, 64_000, 0],
  list_changes: [2, 330, 330, 0],
  list_threads: [2, 108, 108, 0],
  navigate_context: [2, 9, 9, 0],
  read_context_range: [2, 33, 33, 0],
  remember: [4, 500, 475, 30],
  resource: [4, 5_700, 8_550, 2],
  resources: [2, 180, 179, 0],
  restore_context: [7, 757, 740, 329],
  search: [4, 4_450, 4_720, 0],
  search_context: [2, 2_490, 11_800, 0],
  semantic_search_context: [3, 6_050, 25_800, 0],
  store_context: [4, 532, 532, 232],
  store_context_batch: [3, 126, 126, 54],
  update_context: [4, 300, 300, 100],
  update_context_batch: [4, 195, 195, 71],
}
const [SMALL, LARGE] = [196, 1_225]

/** Uses of each index other than statements of these calls or of the schedule. `METADATA_INDEXED_FIELDS` are used by filters. */
const NEEDED: Record<string, string> = {
  entries_addresses_agent_idx:
    "SELECT id FROM entries WHERE org = 'o' AND addresses_agent = 1 ORDER BY id DESC LIMIT 20",
  api_keys_org_created_by_idx: "SELECT 1 FROM api_keys WHERE org = 'o' AND created_by = 'k'",
  api_keys_org_created_at_idx: "SELECT id FROM api_keys WHERE org = 'o' ORDER BY created_at, id",
  changes_deleted_thread_idx:
    "SELECT entry_id FROM changes WHERE org = 'o' AND was_thread = 't' AND action = 'delete' AND erased = 0",
  code_vectors_file_idx: 'DELETE FROM code_vectors WHERE file_id = 7',
  entries_long_text_idx: "SELECT 1 FROM entries WHERE org = 'o' AND text_hash = 'h' AND bytes > 16384",
  image_uses_entry_idx: 'DELETE FROM image_uses WHERE entry_id = 7',
  import_references_entry_idx: 'DELETE FROM import_references WHERE entry_id = 7',
  imported_entry_idx: 'SELECT store FROM imported WHERE entry_id = 7',
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
      const [trips, inSmall, inLarge, written] = BUDGETS[name] ?? [0, 0, 0, 0]
      const cost = [Math.max(now.trips, few.trips), few.read, now.read, now.written]
      return [trips, inSmall, inLarge, written].every((most, i) => (cost[i] as number) <= most)
        ? []
        : [`${name}: ${cost}`]
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
