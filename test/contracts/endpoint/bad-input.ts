import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ANY } from '../../support/any-text'
import type { Connect } from '../../support/clients'
import { useSession } from './session'

/** For every input, the answer is a result or an error that names what is wrong; never an internal one. */
const SEED = 20261120

const odd = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    -1,
    1,
    2.5,
    1e308,
    2 ** 53,
    '',
    ' ',
    '5',
    'user',
    'text',
    '*',
    '"',
    '(a',
    '2025-01-01',
  ),
  fc.constantFrom<unknown>(
    [],
    {},
    [null],
    [[]],
    [{}],
    '[]',
    '{}',
    '"[1]"',
    ['a'],
    [1, 'x'],
    { a: 1 },
    { __proto__: 1 },
  ),
  fc.string({ unit: ANY, maxLength: 20 }),
  fc.jsonValue({ maxDepth: 3 }),
)
const filters = fc.array(
  fc.record(
    {
      key: fc.oneof(fc.constantFrom('status', 'a.b', 'constructor', '0', "a' OR 1"), odd),
      operator: fc.oneof(fc.constantFrom('eq', 'in', 'contains', 'gt', 'not_in', 'is_null', 'array_contains'), odd),
      value: odd,
      case_sensitive: odd,
    },
    { requiredKeys: [] },
  ),
  { maxLength: 3 },
)

/** Includes errors of no family. */
const isInternal = (
  data: { error?: string | { code?: string; message?: string }; code?: string } | undefined,
): boolean =>
  typeof data?.error === 'string'
    ? data.code === undefined || data.code === 'INTERNAL_ERROR'
    : data?.error?.code === 'internal' || typeof data?.error?.message !== 'string'

/** @param calls at random, and how many of them succeed at the least; more in the nightly tier */
export function badInputContract(connect: Connect, { calls, good } = { calls: 150, good: 3 }): void {
  const session = useSession(connect)

  it(`answers ${calls} random calls without an internal error`, async () => {
    const { client } = session
    const tools = await client.tools()
    const internal: unknown[] = []
    let succeeded = 0
    const sampled = fc.sample(
      fc.constantFrom(...tools).chain((tool) => {
        const properties: [string, fc.Arbitrary<unknown>][] = Object.keys(tool.inputSchema.properties).map((name) => [
          name,
          name === 'metadata_filters'
            ? fc.oneof(filters, odd)
            : name === 'query'
              ? fc.oneof(fc.string({ minLength: 1 }), odd)
              : odd,
        ])
        return fc
          .record(Object.fromEntries(properties), { requiredKeys: [] })
          .map((args) => ({ name: tool.name as string, args }))
      }),
      { seed: SEED, numRuns: calls },
    )
    for (const { name, args } of sampled) {
      const { data, isError } = await client.call(name, args)
      if (!isError) succeeded++
      else if (isInternal(data)) internal.push({ name, args, data })
    }
    expect(internal).toEqual([])
    expect(succeeded).toBeGreaterThan(good)
  })

  it('answers what is valid and extreme without an internal error', async () => {
    const nested = (depth: number): unknown => JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`)
    const square = '㌕'.repeat(256)
    const emoji = (count: number) => '🜛🝚🜁🜹🝊🝰🜚🝎🜂🝆'.repeat(count / 10)
    const extremes: [tool: string, args: Record<string, unknown>][] = [
      ...[10, 500, 501, 1500, 3000].map((depth): [string, Record<string, unknown>] => [
        'store_context',
        { thread_id: 'deep', source: 'user', text: `deep ${depth}`, metadata: { deep: nested(depth) } },
      ]),
      ['store_context', { thread_id: 'x', source: 'user', text: 'long', metadata: { status: emoji(30_000) } }],
      ['store_context', { thread_id: 'x', source: 'user', text: 'big', metadata: { priority: 1e308, small: 5e-324 } }],
      [
        'store_context',
        { thread_id: emoji(250), source: 'user', text: 'wide', metadata: { project: emoji(240), agent_name: square } },
      ],
      ['store_context', { thread_id: 'x', source: 'user', text: `${square} ${'ﷺ'.repeat(300)}`, tags: [emoji(120)] }],
      ['fts_search_context', { query: square }],
      ['fts_search_context', { query: `${square}*`, mode: 'prefix' }],
      ['fts_search_context', { query: Array.from({ length: 900 }, (_, i) => `w${i}`).join(' ') }],
      ['fts_search_context', { query: `${'('.repeat(32)}a${')'.repeat(32)}`, mode: 'boolean' }],
      ['search_context', { metadata_filters: [{ key: 'deep.a.a', operator: 'exists' }] }],
      ['search_context', { metadata: { status: emoji(1000) } }],
    ]
    const internal: unknown[] = []
    for (const [name, args] of extremes) {
      const { data, isError } = await session.client.call(name, args)
      if (isError && (data?.error?.code === 'internal' || data?.error?.code === 'unavailable'))
        internal.push([name, JSON.stringify(args).slice(0, 100), data.error])
    }
    expect(internal).toEqual([])
  })
}
