import { beforeAll, describe, expect, it } from 'vitest'
import { migrate } from '../support/bindings'
import { workerHere } from '../support/worker-here'

// biome-ignore lint/suspicious/noExplicitAny: answers are untyped
type Json = any
type Schema = { readonly [key: string]: unknown }
type Path = readonly (string | number)[]

/** A call of each tool that is right, or right but for what it is about. */
const memory = { type: 'decision', content: 'We deploy on Tuesdays' }
const event = (type: string, payload: object) => ({
  event: { type, payload, timestamp: '2026-11-21T10:00:00Z', sessionId: 's', cliType: 'generic' },
})
const RIGHT: readonly (readonly [tool: string, args: Record<string, unknown>])[] = [
  ['context_getCurrent', {}],
  ['context_orient', {}],
  ['context_list', {}],
  ['context_recall', { query: 'deploy', filter: {} }],
  ['context_searchCode', { query: 'deploy' }],
  ['context_get', { memoryId: '1' }],
  ['context_setup', { cli: 'codex', preview: true }],
  [
    'context_store',
    { ...memory, metadata: { fileContext: { path: 'a.ts' }, codeBlock: { code: 'x', language: 'ts' } } },
  ],
  ['context_update', { memoryId: '1', content: 'We deploy on Mondays' }],
  ['context_delete', { memoryId: '1' }],
  ['context_summarize', { options: { targetTokens: 500 } }],
  ['context_reportEvent', event('file_opened', { path: 'src/a.ts' })],
  ['context_reportEvent', event('command_executed', { command: 'npm test' })],
  ['context_reportEvent', event('error_occurred', { error: 'TypeError' })],
  ['context_reportEvent', event('decision_made', { decision: 'D1' })],
  ['context_reportEvent', event('pattern_detected', { pattern: 'guards' })],
  ['context_reportEvent', event('user_feedback', { feedback: 'good' })],
]
/** Metadata keys that every tool with metadata knows, and required payload keys; no schema lists them. */
const METADATA = [
  'tags',
  'title',
  'projectPath',
  'weight',
  'confidence',
  'source',
  'cliType',
  'fileContext',
  'codeBlock',
]
const PAYLOADS = ['path', 'command', 'error', 'decision', 'pattern', 'feedback']

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Of no type that anything takes. */
const wrongOf = (schema: Schema | undefined): unknown =>
  schema?.type === 'array' || schema?.type === 'object' ? 7 : schema?.type === 'boolean' ? 'perhaps' : [[]]

/** The paths of a call with their problems. */
function placesOf(schema: Schema, path: Path = []): [Path, unknown][] {
  const properties = isObject(schema.properties) ? schema.properties : {}
  return Object.entries(properties).flatMap(([name, part]) => {
    const [here, of] = [[...path, name], part as Schema]
    const inside = isObject(of.properties) ? placesOf(of, here) : []
    return [[here, wrongOf(of)] as [Path, unknown], ...inside]
  })
}

const withValue = (args: unknown, [name, ...rest]: Path, value: unknown): Record<string, unknown> => {
  const known = isObject(args) ? args : {}
  return { ...known, [name as string]: rest.length === 0 ? value : withValue(known[name as string], rest, value) }
}

const pathOf = (text: string): Path =>
  text
    .split(/[.[\]]+/)
    .filter((part) => part !== '')
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part))

beforeAll(migrate)

const ask = workerHere({ RATE_LIMIT_PER_MINUTE: '0' })

async function rpc(method: string, params: object): Promise<Json> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const text = await (await ask('/mcp', { method: 'POST', headers, body })).text()
  return JSON.parse(text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] as string)).result
}
async function call(name: string, args: Record<string, unknown>): Promise<{ data: Json; isError: boolean }> {
  const { structuredContent: data, isError = false } = await rpc('tools/call', { name, arguments: args })
  return { data, isError }
}
async function ok(name: string, args: Record<string, unknown>): Promise<Json> {
  const { data, isError } = await call(name, args)
  if (isError) throw new Error(`${name} failed: ${JSON.stringify(data)}`)
  return data
}
async function fail(name: string, args: Record<string, unknown>): Promise<{ data: Json }> {
  const { data, isError } = await call(name, args)
  if (!isError) throw new Error(`${name} should fail, but answered ${JSON.stringify(data)}`)
  return { data }
}
const tools = async (): Promise<{ name: string; inputSchema: Schema }[]> => (await rpc('tools/list', {})).tools
const store = async (text: string): Promise<number> =>
  (await ok('store_context', { thread_id: 'days', source: 'user', text })).context_id

/** Every example in an error of the twelve tools is valid: sent instead, it causes no error there (fabric contract §1). */
describe('examples in errors', () => {
  it('[FABRIC-5] shows only right examples in errors: each is accepted when it is sent', async () => {
    const schemas = new Map((await tools()).map(({ name, inputSchema }) => [name, inputSchema]))
    const wrong: string[] = []
    const shown = new Set<string>()
    const played = new Set<string>()
    const known = await ok('context_store', { ...memory, metadata: {} })
    for (const [tool, base] of RIGHT) {
      const right = Object.hasOwn(base, 'memoryId') ? { ...base, memoryId: known.id } : base
      // Of the events, which share a schema, another type changes the payload alone.
      const places = placesOf(schemas.get(tool) ?? {}).filter(
        ([place]) => !played.has(tool) || place.join('.').startsWith('event.payload'),
      )
      played.add(tool)
      const more: [Path, unknown][] = [
        ...('metadata' in base || tool === 'context_update'
          ? METADATA.map((name): [Path, unknown] => [['metadata', name], name === 'title' ? [[]] : 'wrong'.split('')])
          : []),
        ...('event' in base ? PAYLOADS.map((name): [Path, unknown] => [['event', 'payload', name], '']) : []),
      ]
      for (const [place, value] of [...places, ...more]) {
        const { isError, data } = await call(tool, withValue(right, place, value))
        if (!isError || data.code !== 'VALIDATION_ERROR') continue
        for (const { path, message } of data.details ?? []) {
          const example = /; an example is (.*)$/s.exec(message)?.[1]
          if (example === undefined) continue
          shown.add(`${tool} ${path}`)
          // A promotion is a separate call.
          const around = path === 'targetLayer' ? { memoryId: known.id } : right
          const { isError, data } = await call(tool, withValue(around, pathOf(path), JSON.parse(example)))
          const complaints: { path: string }[] =
            isError && data.code === 'VALIDATION_ERROR' ? (data.details ?? [{ path }]) : []
          if (complaints.some((one) => one.path === path))
            wrong.push(`${tool} ${path}: ${example} → ${JSON.stringify(data)}`)
        }
      }
    }
    expect(wrong).toEqual([])
    expect(shown.size).toBeGreaterThan(60)
  })

  it('show a filter with the key and the operator that were given, and elsewhere what belongs there', async () => {
    const filters = [
      { key: 'priority', operator: 'gt', value: true },
      { key: 'state', operator: 'in', value: 'done' },
      { key: 'bad key', operator: 'is_null' },
      { key: 'state', operator: 'regex', value: 'done' },
      'state',
    ]
    const { data } = await fail('search_context', { metadata_filters: filters })
    const shown = data.error.details.map(({ example }: { example: unknown }) => example)
    expect(shown).toEqual([
      { key: 'priority', operator: 'gt', value: 3 },
      { key: 'state', operator: 'in', value: ['done', 'doing'] },
      { key: 'status', operator: 'is_null' },
      { key: 'state', operator: 'eq', value: 'done' },
      { key: 'status', operator: 'eq', value: 'done' },
    ])
    await ok('search_context', { metadata_filters: shown })

    const id = await store('We deploy on Thursdays')
    const details = async (tool: string, args: Record<string, unknown>) => (await fail(tool, args)).data.error.details
    expect(await details('read_context_range', { context_id: id })).toEqual([
      { path: 'start_line', given: 'nothing', example: 1 },
    ])
    expect(await details('read_context_range', { context_id: id, start_line: 1, node_id: 'x' })).toEqual([
      { path: 'node_id', given: 'string "x"', example: 'setup/install' },
    ])
    expect(await details('read_context_range', { context_id: id, start_line: 5, end_line: 3 })).toEqual([
      { path: 'end_line', given: 'number 3', example: 5 },
    ])
    for (const tool of ['delete_context', 'restore_context'])
      expect(await details(tool, { context_ids: [id, id + 1], expected_version: 1 })).toEqual([
        { path: 'context_ids', given: 'array of 2', example: [42] },
      ])
    const metadata = { project: 'p'.repeat(241) }
    expect(await details('store_context', { thread_id: 't', source: 'user', text: 'x', metadata })).toMatchObject([
      { path: 'metadata.project', example: 'app' },
    ])
    const unknown = await fail('update_context_batch', { updates: [{ context_id: 2 ** 50, tags: ['x'] }] })
    expect(unknown.data.error).not.toHaveProperty('details')
  })

  it('are right in the tools of threads, packs and history too, also where a complete call is shown', async () => {
    const others = (await tools()).filter(({ name }) => !/^context_|^(search|fetch)$/.test(name))
    const wrong: string[] = []
    const known = await store('We deploy on Mondays')
    const complaints = async (tool: string, args: Record<string, unknown>) => {
      const { isError, data } = await call(tool, args)
      const isFlawed = isError && ['invalid_input', 'limit_exceeded'].includes(data.error.code)
      return isFlawed ? ((data.error.details ?? [{ path: '' }]) as { path: string; example?: unknown }[]) : []
    }
    for (const { name: tool, inputSchema } of others) {
      const properties = inputSchema.properties as Record<string, Schema>
      const right = {
        ...(Object.hasOwn(properties, 'context_id') ? { context_id: known } : {}),
        ...(tool === 'remember' ? { title: 'Days', content: 'Mondays', kind: 'task', project: 'app' } : {}),
      }
      for (const name of [...Object.keys(properties), 'unheard_of'])
        for (const { path, example } of await complaints(tool, { ...right, [name]: wrongOf(properties[name]) })) {
          if (path !== name) continue
          // Bytes of images are too long to be shown completely, and an instant is valid for a number of days.
          if (name === 'images' || name === 'as_of') continue
          const whole = name === 'unheard_of'
          const args = whole ? (example as Record<string, unknown>) : { ...right, [name]: example }
          if (example === undefined || (await complaints(tool, args)).some((one) => whole || one.path === path))
            wrong.push(`${tool} ${path}: ${JSON.stringify(example)}`)
        }
    }
    expect(wrong).toEqual([])
  })
})
