import { execFile, spawnSync } from 'node:child_process'
import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, type TestContext } from 'vitest'
import { sharedTeam } from '../../contracts/endpoint/session'
import type { Team } from '../../support/access'
import { ROOT } from '../../support/build'

/** The programs of examples/, each with its own packages from npm. If they cannot be installed, the run reports it and fails nothing. */
let folder: string
let team: Team
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'examples-'))
  team = await sharedTeam()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function install(example: string, context: TestContext): string {
  const own = join(folder, example)
  cpSync(join(ROOT, 'examples', example), own, { recursive: true })
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--fetch-retries=0']
  const { status, stderr } = spawnSync('npm', args, { cwd: own, encoding: 'utf8', timeout: 300_000 })
  if (status === 0) return own
  const { COMMONPLACE_TEST_NOTES: notes } = process.env
  const text = `Not tested: examples/${example}, since npm could not install its packages: ${stderr.trim().split('\n').at(-1)}`
  if (notes === undefined) console.error(text)
  else appendFileSync(notes, `${text}\n`)
  return context.skip()
}

/** Runs a module in an example, and returns the JSON that it prints. */
async function run(own: string, source: string, key: string) {
  writeFileSync(join(own, 'program.mjs'), source)
  const env = { ...process.env, COMMONPLACE_URL: team.server.url.origin, COMMONPLACE_KEY: key }
  return new Promise<unknown>((resolve, reject) => {
    execFile(process.execPath, ['program.mjs'], { cwd: own, env, timeout: 120_000 }, (error, out, err) =>
      error === null ? resolve(JSON.parse(out)) : reject(new Error(err || error.message)),
    )
  })
}

it('has at most 100 lines an example', () => {
  for (const file of ['langgraph-store/store.mjs', 'ai-sdk-tools/tools.mjs'])
    expect(
      readFileSync(join(ROOT, 'examples', file), 'utf8')
        .trimEnd()
        .split('\n').length,
    ).toBeLessThanOrEqual(100)
})

const STORE = `
import { CommonplaceStore } from './store.mjs'
const { COMMONPLACE_URL: url, COMMONPLACE_KEY: key } = process.env
const store = new CommonplaceStore({ url, key, project: 'graph' })
const brief = (items) => items.map(({ namespace, key, value }) => [namespace.join('/'), key, value.text ?? value])
await store.put(['users', 'ada'], 'food', { text: 'Ada eats no fish', stars: 3, tags: ['diet'], none: null })
await store.put(['users', 'ada'], 'copy', { text: 'Ada eats no fish', stars: 3, tags: ['diet'], none: null })
await store.put(['users', 'eve'], 'food', { text: 'Eve likes plums', stars: 5 })
await store.put(['docs'], 'food', { text: 'A page about food', stars: 1 })
const got = await store.get(['users', 'ada'], 'food')
await store.put(['users', 'ada'], 'food', { text: 'Ada eats fish again', old: { deep: 1 } })
await store.put(['users', 'ada'], 'food', { text: 'Ada eats fish again' })
const after = await store.get(['users', 'ada'], 'food')
const under = await store.search(['users'], { limit: 10 })
const rated = await store.search(['users'], { filter: { stars: { $gte: 4 } } })
const stale = await store.search(['users', 'ada'], { filter: { 'stars': { $lt: 4 }, text: 'Ada eats fish again' } })
const equal = await store.search([], { filter: { stars: 1 }, limit: 5 })
const asked = await store.search(['users'], { query: 'plums', limit: 1 })
await store.delete(['users', 'ada'], 'copy')
const gone = await store.get(['users', 'ada'], 'copy')
for (let i = 0; i < 55; i++) await store.put(['many'], 'k' + i, { i })
const many = await store.search(['many'], { limit: 60 })
const window = await store.search(['many'], { limit: 2, offset: 53 })
const names = await store.listNamespaces({ prefix: ['users'] })
const tops = await store.listNamespaces({ maxDepth: 1 })
const ends = await store.listNamespaces({ suffix: ['eve'] })
console.log(JSON.stringify({
  got: got.value, dates: [got.createdAt instanceof Date, got.updatedAt >= got.createdAt], after: after.value,
  under: brief(under), rated: brief(rated), stale: brief(stale), equal: brief(equal), asked: brief(asked),
  score: typeof asked[0].score, gone, many: new Set(many.map((one) => one.key)).size, window: brief(window), names, tops, ends,
}))
`

it('keeps the items of a LangGraph store as memories', async (context) => {
  const own = install('langgraph-store', context)
  const { key } = await team.key('langgraph')
  expect(await run(own, STORE, key)).toEqual({
    got: { text: 'Ada eats no fish', stars: 3, tags: ['diet'], none: null },
    dates: [true, true],
    after: { text: 'Ada eats fish again' },
    under: expect.arrayContaining([
      ['users/ada', 'food', 'Ada eats fish again'],
      ['users/ada', 'copy', 'Ada eats no fish'],
      ['users/eve', 'food', 'Eve likes plums'],
    ]),
    rated: [['users/eve', 'food', 'Eve likes plums']],
    stale: [],
    equal: [['docs', 'food', 'A page about food']],
    asked: [['users/eve', 'food', 'Eve likes plums']],
    score: 'number',
    gone: null,
    many: 55,
    window: [
      ['many', 'k1', { i: 1 }],
      ['many', 'k0', { i: 0 }],
    ],
    names: expect.arrayContaining([
      ['users', 'ada'],
      ['users', 'eve'],
    ]),
    tops: expect.arrayContaining([['users'], ['docs'], ['many']]),
    ends: [['users', 'eve']],
  })
}, 600_000)

const TOOLS = `
import { generateText, stepCountIs } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { commonplaceTools } from './tools.mjs'
const { COMMONPLACE_URL: url, COMMONPLACE_KEY: key } = process.env
const tools = await commonplaceTools({ url, key })
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
const calls = [
  ['remember', { title: 'Harbour', content: 'The ferry leaves at nine.', kind: 'decision', tags: ['ferry'] }],
  ['search', { query: 'when does the ferry leave?', where: { kind: 'decision' } }],
  ['context', { goal: 'take the ferry' }],
  ['fetch', { id: 'ID', max_tokens: 500 }],
  ['update', { id: 'ID', append: 'On Sundays at ten.', expected_version: 1 }],
  ['update', { id: 'ID', append: 'Lost.', expected_version: 1 }],
  ['forget', { id: 'ID' }],
]
let id, step = 0
const model = new MockLanguageModelV4({
  doGenerate: async ({ prompt }) => {
    const last = prompt.at(-1).content[0]
    if (last.type === 'tool-result' && id === undefined) id = last.output.value.id
    const call = calls[step++]
    if (call === undefined)
      return { content: [{ type: 'text', text: 'Done' }], finishReason: { unified: 'stop' }, usage, warnings: [] }
    const input = JSON.stringify(call[1]).replace('"ID"', String(id))
    const content = [{ type: 'tool-call', toolCallId: 'c' + step, toolName: call[0], input }]
    return { content, finishReason: { unified: 'tool-calls' }, usage, warnings: [] }
  },
})
const { text, steps } = await generateText({ model, tools, prompt: 'Remember the ferry', stopWhen: stepCountIs(20) })
const outputs = steps.flatMap(({ toolResults }) => toolResults.map(({ output }) => output))
console.log(JSON.stringify({ text, names: Object.keys(tools), id, outputs }))
`

it('gives the AI SDK tools that store, find, change and delete a memory', async (context) => {
  const own = install('ai-sdk-tools', context)
  const { key } = await team.key('ai-sdk')
  const { id, ...shown } = (await run(own, TOOLS, key)) as { id: number }
  expect(shown).toEqual({
    text: 'Done',
    names: expect.arrayContaining(['context', 'remember', 'search', 'fetch', 'update', 'forget']),
    outputs: [
      expect.objectContaining({ id, kind: 'decision' }),
      { results: [expect.objectContaining({ id })] },
      expect.objectContaining({ sections: expect.anything() }),
      expect.objectContaining({ id, content: 'The ferry leaves at nine.' }),
      expect.objectContaining({ id, version: 2 }),
      { error: expect.objectContaining({ code: 'conflict' }) },
      expect.objectContaining({ deleted: 1 }),
    ],
  })
}, 600_000)
