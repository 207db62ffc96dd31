import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ANY } from '../../support/any-text'
import type { RunningServer } from '../../support/server'
import { backend } from './session'

/**
 * Random and hostile bodies over real HTTP, letter by letter, as no client library would send them: every answer is a result
 * or an error of the closed set, and a call that failed changed nothing. Another seed: `FUZZ_SEED=7 npm test -- test/node/fuzz`.
 */
const SEED = Number(process.env.FUZZ_SEED ?? 20261122)
/** As the fabric family spells them. */
const FABRIC_CODES = ['VALIDATION_ERROR', 'NOT_FOUND', 'CONFLICT', 'UNSUPPORTED', 'FORBIDDEN']
const CODES = ['invalid_input', 'not_found', 'conflict', 'limit_exceeded', 'unsupported', 'forbidden', ...FABRIC_CODES]
/** JSON-RPC's own errors: an invalid request, method or tool. */
const RPC_CODES = [-32700, -32600, -32601, -32602, -32000]

// biome-ignore lint/suspicious/noExplicitAny: answers are untyped
type Json = any

const codeOf = (result: Json): string => result?.structuredContent?.error?.code ?? result?.structuredContent?.code

const nested = (depth: number, open: string, close: string) => `${open.repeat(depth)}1${close.repeat(depth)}`
const odd = fc.oneof(
  fc.constantFrom(
    ...[
      'null',
      'true',
      '0',
      '-0',
      '-1',
      '5.0',
      '1e400',
      '-1e400',
      '1e20',
      '5e-324',
      '9007199254740993',
      '1152921504606846976',
    ],
    ...['""', '" "', '"\\u0000"', '"\\ud800"', '"\\uffff"', '"*"', '"(a"', '"[1]"', '"{}"', '"\\"[]\\""', '"1e400"'],
    ...[
      '[]',
      '{}',
      '[null]',
      '[[]]',
      '[{}]',
      '{"__proto__":{"x":1}}',
      '{"constructor":1,"toString":2}',
      '{"a":1,"a":2}',
    ],
    ...[nested(600, '[', ']'), nested(8000, '{"a":', '}'), JSON.stringify(nested(700, '[', ']'))],
    ...[
      '"2025-01-01"',
      '"+999999-01-01"',
      '"NaN"',
      `"${'a'.repeat(20_000)}"`,
      `[${'"x",'.repeat(150)}"x"]`,
      '{"audience":"private"}',
    ],
    '{"diary":true,"project":"p","supersedes":[1,9007199254740993]}',
    '[{"key":"a","operator":"in","value":[1e400]}]',
    '[{"key":"a.b","operator":"gt","value":9007199254740993},{"key":"..","operator":"eq"}]',
    '[{"data":"AAAA","metadata":{"n":1e999}}]',
    '[{"data":5},{"data":"data:,"},{}]',
  ),
  fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)),
  fc.string({ unit: ANY, maxLength: 12 }).map((text) => JSON.stringify(text)),
)
const likely: Record<string, readonly string[]> = {
  thread_id: ['"fuzz"', '"fuzz 2"'],
  source: ['"user"', '"agent"'],
  text: ['"a fuzzed memory"', '"another one"'],
  context_id: ['1', '"1"', '2'],
  context_ids: ['[1]', '"[1,2]"', '[999999]'],
  query: ['"memory"', '"a OR b"', '"\\"fuzzed memory\\""'],
  mode: ['"match"', '"boolean"', '"prefix"', '"phrase"'],
  metadata: ['{"n":1}', '"{\\"n\\":2}"'],
  metadata_patch: ['{"n":null}', '{"m":{"x":1}}'],
  entries: ['[{"thread_id":"fuzz","source":"user","text":"in a batch"},{"thread_id":5}]'],
  updates: ['[{"context_id":1,"tags":["t"]},{"context_id":1e400}]'],
}

/**
 * @param calls of tools; more in the nightly tier
 * @param bodies number of bodies that are not calls
 */
export function fuzzContract(calls = 120, bodies = 50): void {
  let server: RunningServer
  beforeAll(async () => {
    server = await backend().start({ LOG_LEVEL: 'ERROR' })
  })
  afterAll(() => server.stop())

  async function send(body: string, headers: Record<string, string> = {}): Promise<{ status: number; message: Json }> {
    const response = await fetch(server.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: '*/*', ...headers },
      body,
    })
    const text = await response.text()
    const json = text.startsWith('{') || text.startsWith('[') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? 'null')
    return { status: response.status, message: JSON.parse(json) }
  }
  const call = (name: string, args: string, id = 1) =>
    `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":${JSON.stringify(name)},"arguments":${args}}}`
  const structured = async (name: string, args: string): Promise<Json> =>
    (await send(call(name, args))).message?.result?.structuredContent
  /** A caller's view of the store: every entry with its version, the threads, the counts. */
  const store = async (): Promise<string> => {
    const pages = await structured('search_context', '{"limit":100}')
    const { threads } = await structured('list_threads', '{}')
    return JSON.stringify([pages.total, pages.results.map((entry: Json) => [entry.id, entry.version]), threads])
  }

  it(`answers ${calls} hostile calls of every tool without an internal error, and a failed one changes nothing`, async () => {
    const { message } = await send('{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}')
    const tools: Json[] = message.result.tools
    const sampled = fc.sample(
      fc.constantFrom(...tools).chain((tool) => {
        const names = Object.keys(tool.inputSchema.properties)
        const argument = (name: string) => fc.oneof(fc.constantFrom(...(likely[name] ?? ['null'])), odd)
        return fc
          .record(Object.fromEntries(names.map((name) => [name, argument(name)])), { requiredKeys: [] })
          .map((args) => ({
            tool: tool.name as string,
            args: args as Record<string, string>,
            reads: tool.annotations.readOnlyHint,
          }))
      }),
      { seed: SEED, numRuns: calls },
    )
    const wrong: unknown[] = []
    let succeeded = 0
    let before = await store()
    for (const { tool, args, reads } of sampled) {
      const text = `{${Object.entries(args).map(([name, value]) => `${JSON.stringify(name)}:${value}`)}}`
      const { message: answer } = await send(call(tool, text))
      const result = answer?.result
      const failed = !result || result.isError
      if (!failed) succeeded++
      else if (!CODES.includes(codeOf(result)) && !RPC_CODES.includes(answer?.error?.code))
        wrong.push([tool, text.slice(0, 300), answer])
      if (reads) continue
      const after = await store()
      if (failed && after !== before) wrong.push(['changed', tool, text.slice(0, 300), answer])
      before = after
    }
    expect(wrong).toEqual([])
    expect(succeeded).toBeGreaterThan(calls / 20)
  })

  it('refuses wrongly typed parameters, and names them', async () => {
    const wrong: readonly [string, Json, string][] = [
      ['resources/read', { uri: 5 }, 'params.uri'],
      ['resources/list', { cursor: 5 }, 'params.cursor'],
      ['prompts/get', { name: 'start_session', arguments: { goal: 5 } }, 'params.arguments.goal'],
      ['completion/complete', { ref: { type: 'x' }, argument: { name: 'id', value: '' } }, 'params.ref'],
    ]
    for (const [method, params, where] of wrong) {
      const { message } = await send(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
      expect(message.error).toEqual({ code: -32602, message: expect.stringContaining(where) })
    }
  })

  it(`answers ${bodies} bodies that are not calls, none of them with a 500`, async () => {
    const good = call('list_threads', '{}')
    const broken = fc.oneof(
      odd,
      fc
        .tuple(fc.nat({ max: good.length }), fc.constantFrom('"', '{', '}', '[', '\\', ',', '\u0000', '1e999', 'ÿ'))
        .map(([at, letter]) => good.slice(0, at) + letter + good.slice(at + 1)),
      fc.array(odd, { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
      fc.tuple(odd, odd).map(([method, params]) => `{"jsonrpc":"2.0","id":1,"method":${method},"params":${params}}`),
      odd.map((id) => `{"jsonrpc":"2.0","id":${id},"method":"tools/list"}`),
      odd.map((args) => call('store_context', args)),
    )
    const before = await store()
    const wrong: unknown[] = []
    for (const body of fc.sample(broken, { seed: SEED, numRuns: bodies })) {
      const { status, message } = await send(body)
      if (status >= 500 || message?.error?.code === -32603) wrong.push([body.slice(0, 300), status, message])
    }
    expect(wrong).toEqual([])
    expect(await store()).toBe(before)
  })
}
