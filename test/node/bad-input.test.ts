import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { CLIENTS, type Connect, type TestClient } from '../support/clients'
import { type RunningServer, startServer } from '../support/server'

/** Whatever a caller sends, the answer is a result or an error that names what is wrong; never an internal one. */
const SEED = 20261120
const CALLS = 600

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
  fc.string({ unit: 'binary', maxLength: 20 }),
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

it(`answers ${CALLS} random calls without an internal error`, async () => {
  const tools = await client.tools()
  const internal: unknown[] = []
  let succeeded = 0
  const calls = fc.sample(
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
    { seed: SEED, numRuns: CALLS },
  )
  for (const { name, args } of calls) {
    const { data, isError } = await client.call(name, args)
    if (!isError) succeeded++
    else if (data?.error?.code === 'internal' || typeof data?.error?.message !== 'string')
      internal.push({ name, args, data })
  }
  expect(internal).toEqual([])
  expect(succeeded).toBeGreaterThan(20)
})
