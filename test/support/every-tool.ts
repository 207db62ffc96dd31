// Calls that represent all uses of a server: each tool with arguments that lead to different statements, resources,
// completions and routes, over a store with entries of every sort.
import type { Asker } from './ask'
import { claudeCode } from './hook-events'
import { base64, pngBytes } from './scope'
import { ALL_TOOLS, aboutEntries } from './tool-examples'
import { calledName } from './tool-places'

/** `GET …`, `PUT …`: a route; `resource`, `completion`: MCP requests; otherwise a tool. */
export type Call = readonly [name: string, args: Record<string, unknown>]

const KINDS = ['decision', 'convention', 'bug_fix', 'code_pattern', 'task', 'note', 'error_pattern', 'plan', 'rule']
export const PROJECT = 'ours'
const LINES = Array.from({ length: 1500 }, (_, i) => `line ${i} of a long log`)
const LONG = ['# One', ...LINES.slice(0, 700), '# Two', ...LINES.slice(700)].join('\n')
const CODE = 'export function landingSpeed(turbine: number) {\n  return turbine * 2\n}\n'

/** The `n`th entry of a store, as a rule of a project; every tenth refers to an earlier one. */
const entry = (n: number, project: string, earlier: number | undefined) => ({
  thread_id: `thread ${n % 20}`,
  source: n % 3 ? 'agent' : 'user',
  text: `turbine number ${n}\nsaid of part ${n % 11} in src/part${n % 11}.ts`,
  tags: ['common', `sort ${n % 7}`],
  metadata: {
    status: n % 2 ? 'todo' : 'done',
    kind: KINDS[n % KINDS.length],
    title: `Turbine ${n}`,
    ...(n % 4 ? { project } : {}),
    ...(earlier === undefined || n % 10 ? {} : { references: { context_ids: [earlier] }, supersedes: earlier }),
    ...(n % 16 ? {} : { fileContext: { path: `src/part${n % 11}.ts` }, codeBlock: { code: CODE } }),
  },
})

/** Small batches, so that the database does not collect statistics about them. */
const BATCH = 49

interface Filling {
  /** Number of existing entries. */
  readonly from?: number
  readonly count: number
  /** Entries that every tenth refers to, in turn; default: those that were stored just before. */
  readonly earlier?: readonly number[]
  readonly project?: string
}

/** Stores entries and returns their IDs. */
export async function fill(
  ask: Asker['ask'],
  { from = 0, count, earlier, project = PROJECT }: Filling,
): Promise<number[]> {
  const ids: number[] = []
  for (let n = from; n < from + count; n += BATCH) {
    const size = Math.min(BATCH, from + count - n)
    const entries = Array.from({ length: size }, (_, i) => entry(n + i, project, (earlier ?? ids)[(n + i) / 10]))
    const { results } = (await ask(['store_context_batch', { entries }])) as { results: { context_id: number }[] }
    ids.push(...results.map(({ context_id: id }) => id))
  }
  return ids
}

const event = (type: string, payload: object) => ({
  event: { type, payload, timestamp: '2026-11-20T08:00:00Z', sessionId: 's', cliType: 'generic', projectPath: PROJECT },
})
const image = (n: number) => [{ data: base64(pngBytes(`image ${n}`)), mime_type: 'image/png' }]

/** Entries that the calls use. */
export interface Stored {
  readonly ids: readonly number[]
  readonly long: number
  readonly page: number
  readonly working: string
  readonly deleted: number
  readonly changeId: string
  readonly cursor: string
}

/**
 * Stores one of every sort in addition to the entries of `fill`: a long text, images, a diary page, memories of each
 * layer, code, versions, deletions.
 * @param times number of each
 */
export async function vary(ask: Asker['ask'], ids: readonly number[], times: number): Promise<Stored> {
  const make = async (tool: string, args: Record<string, unknown>) =>
    (await ask([tool, args])) as Record<string, string>
  const cursor = String((await make('list_changes', {})).next)
  const entries = Array.from({ length: 4 * times }, (_, n) => ({
    ...{
      thread_id: 'pictures',
      source: 'user',
      text: `picture ${n}`,
      images: image(n),
      metadata: { project: PROJECT },
    },
  }))
  await make('store_context_batch', { entries })
  const updates = ids
    .slice(0, 30 * times)
    .map((id) => ({ context_id: id, text: `turbine ${id} said anew`, tags: ['common', 'anew'] }))
  for (let n = 0; n < updates.length; n += 100)
    await make('update_context_batch', { updates: updates.slice(n, n + 100) })
  const gone = ids.slice(-10 * times)
  await make('delete_context', { context_ids: gone.slice(0, 100) })
  const { changes } = (await make('list_changes', { after: cursor, actions: ['deleted'] })) as never as {
    changes: { change_id: string }[]
  }
  const files = Array.from({ length: 8 * times }, (_, n) => ({ path: `src/part${n}.ts`, content: `// ${n}\n${CODE}` }))
  await make(`PUT /api/v1/code/${PROJECT}/files`, { files })
  let [long, page, working] = [0, 0, '']
  for (let n = 0; n < times; n++) {
    const metadata = { project: PROJECT, tags: ['common'] }
    long = Number(
      (await make('store_context', { thread_id: 'long', source: 'user', text: `${n}\n${LONG}`, metadata })).context_id,
    )
    const said = { title: `Page ${n}`, content: `the diary of turbine ${n}`, diary: true, agent_id: 'ada' }
    page = Number((await make('remember', said)).id)
    const memory = { type: 'code_pattern', content: `turbine pattern ${n}`, metadata: { projectPath: PROJECT } }
    working = String((await make('context_store', { ...memory, layer: 1, ttl: 3600 })).id)
    await make('context_store', { ...memory, content: `of the whole org ${n}`, layer: 3, pinned: true })
    await make(
      'context_reportEvent',
      event('error_occurred', { error: `no turbine ${n}`, file: 'src/part1.ts', line: 3 }),
    )
  }
  const deleted = gone[0] as number
  return { ids, long, page, working, deleted, changeId: (changes[0] as { change_id: string }).change_id, cursor }
}

/** Reading calls: the examples of tools that are not in `callsInSeveralWays`. */
export function readingCalls(stored: Stored): Call[] {
  const calls = callsInSeveralWays(stored)
  const called = new Set(calls.map(([name]) => name))
  const others = ALL_TOOLS.filter((tool) => tool.annotations.readOnlyHint && !called.has(calledName(tool)))
  return [...calls, ...others.map((tool): Call => [calledName(tool), aboutEntries(tool.example, stored.ids)])]
}

/** Calls with arguments that lead to different statements, of tools, resources, completions and routes. */
function callsInSeveralWays({ ids, long, page, working, deleted, cursor }: Stored): Call[] {
  const [first, second, third] = ids as [number, number, number]
  const here = { projectPath: PROJECT }
  const filters = [
    {},
    { thread_id: 'thread 3' },
    { tags: ['common'] },
    { metadata: { status: 'todo' } },
    { metadata: { project: PROJECT }, source: 'user' },
    { content_type: 'multimodal' },
    { start_date: '2020-01-01', metadata_filters: [{ key: 'title', operator: 'starts_with', value: 'Turbine 1' }] },
  ]
  const searches = ['fts_search_context', 'semantic_search_context', 'hybrid_search_context'].flatMap((tool) =>
    filters.map((filter): Call => [tool, { query: 'turbine number', ...filter }]),
  )
  const recalls = ['keyword', 'semantic', 'hybrid'].flatMap((mode): Call[] => [
    ['context_recall', { query: 'turbine', mode, threshold: 0 }],
    [
      'context_recall',
      { query: 'turbine', mode, threshold: 0, filter: { ...here, tags: ['common'], types: ['decision'] } },
    ],
  ])
  return [
    ...filters.map((filter): Call => ['search_context', filter]),
    ['search_context', { limit: 10, offset: 60, include_images: true }],
    ...searches,
    ['fts_search_context', { query: 'turb numb', mode: 'prefix' }],
    ['fts_search_context', { query: '"turbine number"', mode: 'match', highlight: true }],
    ['fts_search_context', { query: 'turbine number', mode: 'phrase' }],
    ['fts_search_context', { query: 'NOT glacier', mode: 'boolean' }],
    ['get_context_by_ids', { context_ids: [first, second, third] }],
    ['get_context_by_ids', { context_ids: [first, deleted], as_of: new Date().toISOString() }],
    ...filters.slice(0, 4).map((filter): Call => ['grep_context', { pattern: 'number 17', ...filter }]),
    [
      'grep_context',
      { pattern: 'number 1[79]', is_regex: true, context_ids: [first, second, long], output_mode: 'count' },
    ],
    ['navigate_context', { context_id: long }],
    ['read_context_range', { context_id: first, start_line: 1 }],
    ['read_context_range', { context_id: long, start_line: 900, end_line: 910 }],
    ['read_context_range', { context_id: long, node_id: 'two' }],
    ['context_getCurrent', {}],
    [
      'context_getCurrent',
      { ...here, currentFile: 'src/part1.ts', currentCommand: 'npm test turbine', sessionId: 's' },
    ],
    ...recalls,
    ['context_orient', { ...here, expression: 'next monday' }],
    ['context_get', { memoryId: String(first), ...here }],
    ...[{}, here, { ...here, type: 'decision', offset: 2 }, { ...here, tags: ['common'] }, { layer: 3 }].map(
      (args): Call => ['context_list', { layer: 2, ...args }],
    ),
    ['context_list', { stats: true }],
    ['context_list', { ...here, stats: true }],
    ...['symbol', 'text', 'semantic'].map(
      (mode): Call => ['context_searchCode', { query: 'landingSpeed', mode, ...here }],
    ),
    ['context_searchCode', { query: 'landingSpeed', mode: 'text' }],
    ...['wake', 'recall', 'deep_search'].flatMap((layer): Call[] => [
      ['context', { goal: 'mend the turbine landing speed', layer }],
      ['context', { goal: 'which decisions are there on turbine part 3', layer, project: PROJECT, agent_id: 'ada' }],
    ]),
    ['context', { goal: 'what was done yesterday', project: PROJECT }],
    ['list_changes', { after: cursor }],
    ['list_changes', { after: cursor, thread_id: 'thread 3', actions: ['updated'] }],
    ['list_changes', { project: PROJECT, limit: 5 }],
    ['get_context_history', { context_id: first }],
    ['get_context_history', { context_id: first, version: 1, include_diff: true }],
    ['get_context_history', { context_id: deleted }],
    ['search', { query: 'turbine number' }],
    ['fetch', { id: String(page) }],
    ['resources', {}],
    ...[`entry/${first}`, 'thread/thread%203', `project/${PROJECT}`, 'pack/mend%20the%20turbine'].map(
      (address): Call => ['resource', { uri: `memory://${address}` }],
    ),
    ['completion', { template: 'memory://thread/{thread_id}', name: 'thread_id', value: 'thr' }],
    ['completion', { template: 'memory://project/{project}', name: 'project', value: 'o' }],
    [`GET /api/v1/code/${PROJECT}/files`, {}],
    ['GET /api/v1/orgs/-/changes?limit=10', {}],
    ['context_get', { memoryId: working }],
    ['core:context', {}],
    ['core:context', { project: PROJECT }],
    ['core:context', { goal: 'mend the turbine landing speed', project: PROJECT, kind: 'rule', since: '2020-01-01' }],
    ...['hybrid', 'words', 'meaning', 'exact'].map(
      (mode): Call => ['core:search', { query: 'turbine number', mode, project: PROJECT, by: 'ada', tags: 'common' }],
    ),
    ['core:search', { kind: ['decision'], where: { status: 'todo' }, until: 'tomorrow', project: PROJECT }],
    ['core:search', { by: 'ada' }],
    ['core:fetch', { id: long, heading: 'two' }],
    ['core:fetch', { ids: [first, second, third] }],
    ['core:history', { id: first }],
    ['core:changes', {}],
    ['core:changes', { since: '1 hour ago', kind: 'rule', by: 'ada' }],
  ]
}

/** Writing calls, each with entries of its own. */
export function writingCalls({ ids, long, working, changeId, deleted }: Stored): Call[] {
  const own = ids.slice(40) as [number, number, number, number, number, number, number, number, number, number]
  const said = { thread_id: 'thread 3', source: 'user', text: 'turbine number 8000', metadata: { supersedes: own[0] } }
  const here = { projectPath: PROJECT }
  return [
    ['store_context', said],
    ['store_context', { ...said, images: image(0), tags: ['common'], idempotency_key: 'once' }],
    ['store_context', { ...said, images: image(0), tags: ['common'], idempotency_key: 'once' }],
    ['store_context', { ...said, text: LONG }],
    ['store_context_batch', { entries: [said, { ...said, text: 'another' }], atomic: true }],
    ['update_context', { context_id: own[0], text: 'said otherwise', expected_version: 1 }],
    ['update_context', { context_id: own[1], metadata_patch: { plain: 1 } }],
    ['update_context', { context_id: own[1], metadata_patch: { project: 'other' }, tags: ['common'] }],
    ['update_context', { context_id: long, metadata_patch: { plain: 1 } }],
    [
      'update_context_batch',
      { updates: own.slice(2, 5).map((id) => ({ context_id: id, text: `${id}`, images: image(1) })) },
    ],
    ['delete_context', { context_ids: [own[2], own[3]], dry_run: true }],
    ['delete_context', { context_ids: [own[2], own[3]] }],
    ['delete_context', { thread_id: 'thread 5' }],
    ['delete_context', { context_ids: [own[4], deleted], erase: true }],
    ['delete_context_batch', { thread_ids: ['thread 6'], source: 'user', older_than_days: 400 }],
    ['delete_context_batch', { source: 'user', older_than_days: 400, dry_run: true }],
    ['delete_context_batch', { context_ids: [own[6], own[7]], thread_ids: ['thread 6', 'thread 7'] }],
    ['context_store', { type: 'decision', content: 'another turbine', metadata: here }],
    ['context_store', { type: 'scratchpad', content: 'for now', metadata: here, ttl: 60, layer: 1 }],
    ['context_update', { memoryId: String(own[9]), content: 'a new turbine', tags: ['y'] }],
    ['context_update', { memoryId: working, targetLayer: 3 }],
    ['context_delete', { memoryId: working }],
    ...[
      event('session_start', {}),
      event('command_executed', { command: 'make', output: 'fatal: no turbine', exitCode: 2 }),
      event('file_opened', { path: 'src/other.ts', content: CODE }),
    ].map((args): Call => ['context_reportEvent', args]),
    ['context_summarize', { ...here, options: { targetTokens: 100 }, olderThanDays: 1 }],
    [
      'remember',
      { title: 'Turbines', content: 'go slowly', kind: 'rule', project: PROJECT, related_to: [String(own[8])] },
    ],
    ['core:remember', { title: 'Turbines 2', content: 'go fast', kind: 'rule', project: PROJECT, replaces: [own[8]] }],
    ['core:update', { id: own[5], title: 'Another name', status: 'doing', tags: ['common'] }],
    ['core:forget', { filter: { project: PROJECT, kind: 'plan' }, dry_run: true }],
    ['core:forget', { ids: [own[5]] }],
    ['core:restore', { id: own[5] }],
    ['restore_context', { change_id: changeId }],
    ['restore_context', { context_ids: [ids[0]], version: 1 }],
    [
      `PUT /api/v1/code/${PROJECT}/files`,
      { files: [{ path: 'src/part1.ts', content: CODE }], deleted: ['src/part2.ts'] },
    ],
    ...hookCalls(`session ${ids[0]}`),
  ]
}

/** The events of an agent's session as its hooks send them, the most frequent writes of a day. */
function hookCalls(session: string): Call[] {
  const { start, prompt, ran, stop, end } = claudeCode(session)
  const sent = (what: string, { id, event }: ReturnType<typeof start>): Call => [
    `POST /api/v1/hooks/claude-code?${what}`,
    { events: [{ id, at: '2026-11-20T08:00:00Z', event, place: { folder: '/w', project: PROJECT } }], answer: id },
  ]
  return [
    sent('start', start()),
    sent('prompt', prompt('why does turbine number 17 stand still?')),
    ...Array.from({ length: 10 }, () => sent('tool', ran('make turbine'))),
    sent('stop', stop()),
    sent('stop', stop('Done again.')),
    sent('end', end()),
  ]
}
