import { expect, it } from 'vitest'
import type { HookEventKind } from '../../src/domain/capture/hook-event'
import { initialState, type SessionState, withEvent, withShown } from '../../src/domain/capture/session-state'
import { type ComparedMemory, countsOf, memoryUse, USE, usesOf } from '../../src/domain/capture/usage'
import { memoryCall } from '../../src/integrations/hooks/tool-use'

const PLACE = { project: 'ferry', branch: 'main', audience: 'private', captures: true } as const
const START = initialState(PLACE, 0)

const happened = (gathered: SessionState, at: number, what: HookEventKind): SessionState =>
  withEvent(gathered, { session: 's', isSubagent: false, name: 'x', what }, PLACE, at)
const memory = (id: number, title: string, text = '', files: readonly string[] = []): ComparedMemory => ({
  ...{ id, title, text, files },
})
/** The bits of a session that was shown one memory at 10. */
function usedAs(one: ComparedMemory, ...events: readonly (readonly [at: number, what: HookEventKind])[]): number {
  const shown = withShown(START, [one.id], 10)
  const gathered = events.reduce((all, [at, what]) => happened(all, at, what), shown)
  return memoryUse(gathered, [one])[0]?.[1] ?? 0
}
const answer = (text: string): HookEventKind => ({ kind: 'stop', answer: text })
const prompt = (text: string): HookEventKind => ({ kind: 'prompt', text })
const edit = (...files: string[]): HookEventKind => ({ kind: 'tool', files, command: null, outcome: 'success' })

it('counts six words in a row as a quotation, twelve characters of a script without spaces, and the id', () => {
  const lamps = memory(7, 'Quay lamps', 'The lamps on the quay are switched by the harbour master.')
  expect(usedAs(lamps, [20, answer('So the lamps on the quay are switched at dusk.')])).toBe(USE.shown | USE.quoted)
  expect(usedAs(lamps, [20, answer('So the lamps on the quay glow.')])).toBe(USE.shown)
  expect(usedAs(lamps, [20, answer('This follows memory 7.')])).toBe(USE.shown | USE.quoted)
  expect(usedAs(lamps, [20, answer('This follows memory 77, see [8].')])).toBe(USE.shown)
  const tide = memory(8, '灯台', '港の灯台は潮が満ちる前に点灯する')
  expect(usedAs(tide, [20, answer('つまり、港の灯台は潮が満ちる前に点ける。')])).toBe(USE.shown | USE.quoted)
})

it('counts no quotation of the own words of a person, nor in an answer before the memory was shown', () => {
  const lamps = memory(7, 'Quay lamps', 'The lamps on the quay are switched by the harbour master.')
  const words = 'The lamps on the quay are switched by the harbour master.'
  expect(usedAs(lamps, [15, prompt(`Is it true? ${words}`)], [20, answer(words)])).toBe(USE.shown)
  expect(usedAs(lamps, [5, answer(words)])).toBe(USE.shown)
})

it('counts a changed file that the memory names, by its last folders too, and no name that every project has', () => {
  const table = memory(7, 'Tides', 'src/tide/table.ts computes them. See index.ts.')
  expect(usedAs(table, [20, edit('src/tide/table.ts')])).toBe(USE.shown | USE.touched)
  expect(usedAs(table, [20, edit('web/src/tide/table.ts')])).toBe(USE.shown | USE.touched)
  expect(usedAs(table, [20, edit('src/other/table.ts')])).toBe(USE.shown)
  expect(usedAs(table, [20, edit('index.ts')])).toBe(USE.shown)
  expect(usedAs(table, [5, edit('src/tide/table.ts')])).toBe(USE.shown)
  expect(usedAs(memory(8, 'Lamp', '', ['src/lamp.ts']), [20, edit('src/lamp.ts')])).toBe(USE.shown | USE.touched)
})

it('counts a correction in six languages that names the memory, and no other word of correction', () => {
  const title = 'Fuel dock opening hours'
  for (const text of [
    'The fuel dock hours are outdated, it opens at nine.',
    'memory 7 is wrong',
    'Die fuel dock opening Zeiten sind veraltet',
    'Les fuel dock hours: c’est faux',
    'Las fuel dock hours: ya no',
    'fuel dock hours は古い',
    'fuel dock hours 已经过时',
  ])
    expect([text, usedAs(memory(7, title), [20, prompt(text)])]).toEqual([text, USE.shown | USE.contradicted])
  for (const text of ['The build is wrong', 'Look at the fuel dock hours', 'memory 8 is wrong'])
    expect([text, usedAs(memory(7, title), [20, prompt(text)])]).toEqual([text, USE.shown])
  expect(usedAs(memory(7, title), [5, prompt('The fuel dock hours are outdated')])).toBe(USE.shown)
})

it('reads calls of our tools in the spelling of each client, and no call of another server', () => {
  const opened = { kind: 'memory', opened: [3, 4], corrected: [] }
  for (const tool of [
    'mcp__plugin_commonplace_commonplace__fetch',
    'mcp__commonplace__fetch',
    'mcp_commonplace_fetch',
    'commonplace_fetch',
    'commonplace-fetch',
    'MCP:fetch',
  ])
    expect([tool, memoryCall(tool, { ids: [3, '4'] })]).toEqual([tool, opened])
  for (const tool of ['mcp__web__fetch', 'WebFetch', 'fetch', 'commonplace_search'])
    expect([tool, memoryCall(tool, { ids: [3] })]).toEqual([tool, null])
  const corrected = (tool: string, input: object) => memoryCall(`commonplace_${tool}`, { ...input })?.corrected
  expect(corrected('forget', { ids: [3] })).toEqual([3])
  expect(corrected('update', { id: 3, content: 'x' })).toEqual([3])
  expect(corrected('update', { id: 3, tags: ['x'] })).toBeUndefined()
  expect(corrected('remember', { replaces: [3], merges: [4] })).toEqual([3, 4])
  expect(corrected('fetch', { ids: [{}, -1, 'x', 1.5] })).toBeUndefined()
})

it('gathers the same use whatever the order in which events arrive', () => {
  const events: [number, HookEventKind][] = [
    [20, prompt('The fuel dock hours are outdated')],
    [30, edit('src/tide/table.ts')],
    [40, { kind: 'memory', opened: [9, 7], corrected: [8] }],
    [50, answer('See [7] and [5].')],
  ]
  const of = (list: typeof events) =>
    list.reduce((all, [at, what]) => happened(all, at, what), withShown(START, [7, 8], 10))
  expect(of(events.toReversed()).memories).toEqual(of(events).memories)
  const use = memoryUse(of(events), [memory(7, 'A'), memory(8, 'B'), memory(9, 'C')])
  expect(use).toEqual([
    [7, USE.shown | USE.opened | USE.quoted],
    [8, USE.shown | USE.contradicted],
    [9, USE.opened],
  ])
  expect(countsOf(use)).toEqual({ shown: 2, used: 2 })
})

it('sums up sessions, and names the client that used a memory last', () => {
  const uses = usesOf([
    { session: 'codex:b', at: 2, memories: [[7, USE.shown | USE.quoted]] },
    {
      session: 'claude-code:a',
      at: 3,
      memories: [
        [7, USE.shown],
        [8, USE.contradicted],
      ],
    },
    { session: 'cursor:c', at: 1, memories: [[7, USE.opened]] },
  ])
  expect(uses.get(7)).toEqual({ shown: 2, used: 2, contradicted: 0, last: { client: 'codex', at: 2 } })
  expect(uses.get(8)).toEqual({ shown: 0, used: 0, contradicted: 1, last: null })
})
