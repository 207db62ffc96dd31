import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ROOT } from '../support/build'
import type { Json } from '../support/oauth'
import { startPlace } from '../support/places'
import type { RunningServer } from '../support/server'

/**
 * docs/comparison.md, measured: the same six memories and the same questions, asked of this server and of the reference server of the
 * protocol, which npm has as a package. `npm test -- test/node/comparison.test.ts -u` makes the page again.
 */
const PACKAGE = 'node_modules/@modelcontextprotocol/server-memory'
const MEMORIES: readonly (readonly [title: string, text: string])[] = [
  ['Refunds carry an idempotency key', 'A retried refund paid twice. The key is the booking id, kept for 24 hours.'],
  ['Staging lacks the unique index', 'Double refunds pass on staging. Test against production data.'],
  ['Tokens rotate', 'Access tokens last 15 minutes; each refresh token works once.'],
  ['We deploy on Tuesdays', 'Never on Fridays, and never without a rollback plan.'],
  ['Seats are buttons', 'The seat map is a grid of buttons, so that a keyboard reaches each seat.'],
  ['Search reads one table', 'A nightly job writes one row a crossing, day and class.'],
]
/** A question, and the memory that answers it. */
const QUESTIONS: readonly (readonly [question: string, answer: number])[] = [
  ['refund', 0],
  ['why did a refund pay twice?', 0],
  ['refunding on staging', 1],
  ['how long do access tokens live', 2],
  ['deploying on friday', 3],
  ['keyboard access to the seat map', 4],
  ['nightly job for crossings', 5],
]

let server: RunningServer
let ours: Client
let theirs: Client
let folder: string

const named = () => new Client({ name: 'comparison', version: '1' })
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'comparison-'))
  server = await startPlace()
  ours = named()
  await ours.connect(new StreamableHTTPClientTransport(new URL('/mcp/core', server.url)))
  theirs = named()
  const env = { ...process.env, MEMORY_FILE_PATH: join(folder, 'memory.jsonl') }
  const args = [join(ROOT, PACKAGE, 'dist/index.js')]
  await theirs.connect(
    new StdioClientTransport({ command: process.execPath, args, env: env as Json, stderr: 'ignore' }),
  )
})
afterAll(async () => {
  await ours?.close()
  await theirs?.close()
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const call = async (client: Client, name: string, args: Json): Promise<Json> => {
  const { structuredContent, content, isError } = (await client.callTool({ name, arguments: args })) as Json
  expect([name, isError ?? false]).toEqual([name, false])
  return structuredContent ?? JSON.parse(content[0].text)
}
const definitionsOf = async (client: Client) => {
  const { tools } = await client.listTools()
  const bare = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))
  return { count: tools.length, tokens: Math.round(JSON.stringify(bare).length / 4) }
}

it('measures the claims of docs/comparison.md', async () => {
  for (const [title, content] of MEMORIES) await call(ours, 'remember', { title, content, kind: 'note' })
  const entities = MEMORIES.map(([name, text]) => ({ name, entityType: 'note', observations: [text] }))
  await call(theirs, 'create_entities', { entities })
  const rows: string[] = []
  let [first, found] = [0, 0]
  for (const [question, answer] of QUESTIONS) {
    const wanted = MEMORIES[answer]?.[0] as string
    const { results } = await call(ours, 'search', { query: question, limit: 3 })
    const { entities: nodes } = await call(theirs, 'search_nodes', { query: question })
    const place = results.findIndex(({ title }: Json) => title === wanted) + 1
    const theirPlace = nodes.findIndex(({ name }: Json) => name === wanted) + 1
    if (place === 1) first++
    if (theirPlace > 0) found++
    rows.push(`| ${question} | ${place === 0 ? '–' : place} | ${theirPlace === 0 ? '–' : theirPlace} |`)
  }
  const [core, reference] = [await definitionsOf(ours), await definitionsOf(theirs)]
  const { version } = JSON.parse(readFileSync(join(ROOT, PACKAGE, 'package.json'), 'utf8'))
  const proof = readFileSync(join(ROOT, 'docs', 'proof.md'), 'utf8')
  const [promises = ''] = /^\| what goes wrong \|[\s\S]*?(?=\n\n)/m.exec(proof) ?? []
  const page = `# Comparison

For people who choose a memory server.

## Promises

Two agents share one store, each server in the configuration of its own README; 0 is best ([how they were measured, and where we are
worse](proof.md#promises-that-a-team-takes-for-granted)). Servers that need another service, a key or PyPI could not run here and are left out.

${promises}

## Search

\`test/node/comparison.test.ts\` measures the numbers of this section: this server at \`/mcp/core\` without a language model (\`local\`), and
\`@modelcontextprotocol/server-memory\` ${version}, the reference server of the protocol, over stdio. More measurements:
[proof](proof.md). To move your data from another program: [import](import/README.md).

| | Commonplace, \`/mcp/core\` | server-memory |
|---|---|---|
| number of tools | ${core.count} | ${reference.count} |
| tokens of the tool definitions (names, descriptions, input schemas; a token is 4 characters) | ${core.tokens} | ${reference.tokens} |
| answers in first place, of ${QUESTIONS.length} questions | ${first} | – |
| answers in the first 3 results | ${rows.filter((row) => !/\| – \| [^|]+ \|$/.test(row)).length} | ${found} |

The next table shows the rank of the memory that answers each of seven questions, among six memories (–: not found). \`search_nodes\` of server-memory finds the
question only as an exact part of a name, a type or an observation, in no order. \`search\` of Commonplace ranks by words and meaning.

| question | Commonplace | server-memory |
|---|---|---|
${rows.join('\n')}
`
  await expect(page).toMatchFileSnapshot('../../docs/comparison.md')
})
