// `node bench/faults/hostile-text.mjs`: measures how long a call blocks other requests. Texts of a megabyte in
// several alphabets are stored, updated and searched, while a prober asks /health. See ../README.md.
import { parseArgs } from 'node:util'
import { createClient } from '../support/mcp.mjs'
import { markdownTable, short } from '../support/numbers.mjs'
import { circumstances, writeSection } from '../support/results.mjs'
import { startServer } from '../support/server.mjs'
import { createWorkspace } from '../support/workspace.mjs'
import { ALPHABETS, MEGABYTE, repeated } from './alphabets.mjs'
import { amongMany, changes, SHORT } from './large-entries.mjs'
import { amongMetadata, metadataWorld } from './large-metadata.mjs'
import { startProber } from './prober.mjs'

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '18760' },
    only: { type: 'string', default: '' },
    many: { type: 'string', default: '40' },
    ref: { type: 'string' },
    /** Of the record, where a part is written to another place than the last one. */
    section: { type: 'string', default: 'hostile-text-part' },
    write: { type: 'boolean', default: false },
  },
})

/** @type {(text: string, thread_id?: string) => [string, Record<string, unknown>]} */
const store = (text, thread_id = 'hostile') => ['store_context', { thread_id, source: 'agent', text }]
/** @type {(texts: string[], more?: Record<string, unknown>) => [string, Record<string, unknown>]} */
const batch = (texts, more = {}) => [
  'store_context_batch',
  { entries: texts.map((text, i) => ({ thread_id: `batch ${i}`, source: 'agent', text })), ...more },
]

/**
 * Each a name and a call.
 *
 * @returns {Generator<[string, () => [string, Record<string, unknown>]]>}
 */
function* cases() {
  for (const [name, make] of Object.entries(ALPHABETS)) yield [`store 1 MB, ${name}`, () => store(make(), name)]
  yield ['update to 1 MB of new words', () => ['update_context', { context_id: 1, text: ALPHABETS['new words']() }]]
  yield ['semantic search for 10,000 letters', () => ['semantic_search_context', { query: 'ab'.repeat(5000) }]]
  for (const thread_id of ['short words', 'prose', 'Han'])
    yield [
      `highlights in 1 MB, ${thread_id}`,
      () => ['fts_search_context', { query: 'ab workers 公园', highlight: true, thread_id }],
    ]
  const many = { query: '"ab ab" "ab ab ab" ab'.repeat(7), highlight: true, limit: 100 }
  yield ['quoted phrases with highlights', () => ['fts_search_context', many]]
  yield [
    '64 words as a phrase',
    () => ['fts_search_context', { query: 'ab '.repeat(64), mode: 'phrase', highlight: true }],
  ]
  const phrases = Array.from({ length: 16 }, (_, i) => `"${'ab '.repeat(64 - i).trim()}"`).join(' ')
  yield ['16 phrases of 49 to 64 words', () => ['fts_search_context', { query: phrases }]]
  const joined = Array.from({ length: 40 }, (_, i) => `${'ab.'.repeat(62 - i)}ab`).join(' ')
  yield ['40 runs of 24 to 63 joined words', () => ['fts_search_context', { query: joined }]]
  yield ['3,300 words as a phrase', () => ['fts_search_context', { query: 'ab '.repeat(3300), mode: 'phrase' }]]
  yield [
    'a batch of 20 × 0.95 MB, short words',
    () => batch(Array.from({ length: 20 }, (_, i) => `${i} ${repeated('ab ', 0.95 * MEGABYTE)}`)),
  ]
  yield [
    'an update of 20 × 0.95 MB, new words',
    () => [
      'update_context_batch',
      {
        updates: Array.from({ length: 20 }, (_, i) => ({
          context_id: i + 2,
          text: `${i} ${ALPHABETS['new words']().slice(0, 0.95 * MEGABYTE)}`,
        })),
      },
    ],
  ]
  yield [
    'an update of the metadata of 20 × 0.95 MB',
    () => [
      'update_context_batch',
      { updates: Array.from({ length: 20 }, (_, i) => ({ context_id: i + 2, metadata: { title: `title ${i}` } })) },
    ],
  ]
  yield [
    'a batch of 20 × 0.95 MB, prose',
    () => batch(Array.from({ length: 20 }, (_, i) => `${i} ${ALPHABETS.prose().slice(0, 0.95 * MEGABYTE)}`)),
  ]
}

/**
 * Source code of a megabyte, as files of a project.
 *
 * @returns {Generator<[string, () => Promise<void>]>}
 */
function* codeCases() {
  const line = (i) => `export function step${i}(value: Map<string, number>) { return value.get('key ${i}') ?? ${i} }\n`
  const sources = {
    'TypeScript, app.ts': Array.from({ length: 11_500 }, (_, i) => line(i)).join(''),
    'one line, min.js': Array.from({ length: 11_500 }, (_, i) =>
      line(i).trim().replace(': Map<string, number>', ''),
    ).join(';'),
    'new words, notes.md': ALPHABETS['new words'](),
    'no program, broken.py': repeated('def f(:\n  ((([{'),
    'one letter, a.go': repeated('a'),
    'brackets, pairs.ts': repeated('()'),
    'slashes, slashes.ts': repeated('a/'),
    'fences, fences.ts': repeated('```\n'),
    'bars, bars.go': repeated('| a '),
    'data, data.json': `[${Array.from({ length: 40_000 }, (_, i) => `{"id": ${i}, "x": 1}`).join(',')}]`,
  }
  for (const [name, content] of Object.entries(sources))
    yield [
      `index 1 MB of code: ${name}`,
      async () => {
        const body = JSON.stringify({ files: [{ path: name.split(', ')[1], content: content.slice(0, 990_000) }] })
        await put('/api/v1/code/hostile/files', body)
      },
    ]
}

/**
 * Bodies whose values are many.
 *
 * @returns {Generator<[string, () => Promise<void>]>}
 */
function* bodyCases() {
  const raw = (json) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_threads","arguments":{"x":${json}}}}`
  const bodies = {
    'a million numbers': () => raw(`[${'0,'.repeat(990_000)}0]`),
    '300,000 objects': () => raw(`[${'{"a":{"b":1}},'.repeat(300_000)}0]`),
    'a JSON string of 9.9 MB with 140,000 values': () =>
      raw('0')
        .replace(
          '{"x":0}',
          JSON.stringify({
            tags: `[${'"abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz01234",'.repeat(140_000)}0]`,
          }),
        )
        .replace('list_threads', 'search_context'),
    '8,000 levels': () => raw('['.repeat(8_000) + ']'.repeat(8_000)),
    'a text of 23 MB': () =>
      raw('0')
        .replace('{"x":0}', `{"thread_id":"t","source":"agent","text":"${'x'.repeat(23_000_000)}"}`)
        .replace('list_threads', 'store_context'),
    'metadata of 250 KB in 60,000 values': () =>
      raw('0')
        .replace('{"x":0}', `{"thread_id":"t","source":"agent","text":"m","metadata":{"a":[${'1,'.repeat(60_000)}0]}}`)
        .replace('list_threads', 'store_context'),
  }
  for (const [name, make] of Object.entries(bodies)) yield [`a body: ${name}`, () => put('/mcp', make(), 'POST')]
}

/** Sends a body, whatever the answer. */
async function put(path, body, method = 'PUT') {
  const headers = { 'content-type': 'application/json', accept: '*/*' }
  const response = await fetch(`${server.origin}${path}`, { method, headers, body })
  const text = await response.text()
  if (!response.ok) throw new Error(`${response.status} ${text.slice(0, 90)}`)
}

/**
 * Expressions that are hard on long lines.
 *
 * @returns {Generator<[string, () => [string, Record<string, unknown>]]>}
 */
function* greps() {
  for (const pattern of [
    '.{500}[^ a]',
    '(a+)+$',
    '(?:a?){200}b',
    'connection.*exhausted',
    '(?i)ERROR|warn|\\d{4}-\\d{2}',
  ])
    for (const thread_id of ['one letter', 'prose', 'new words'])
      yield [`grep ${pattern} in 1 MB, ${thread_id}`, () => ['grep_context', { pattern, is_regex: true, thread_id }]]
}

/** Calls a tool; a refusal is an answer too. */
async function answer(client, call) {
  const started = performance.now()
  try {
    if (typeof call === 'function') {
      await call()
      return { ms: performance.now() - started, said: 'done' }
    }
    const [tool, args] = call
    return { ms: (await client.call(tool, args)).ms, said: 'done' }
  } catch (error) {
    return {
      ms: performance.now() - started,
      said: /"code":"(\w+)"/.exec(error.message)?.[1] ?? error.message.slice(0, 90),
    }
  }
}

const where = circumstances(values.ref)
const workspace = createWorkspace(values.ref)
const server = await startServer('workerd', {
  workspace,
  state: workspace.folder('state'),
  vars: { LOG_LEVEL: 'ERROR' },
  port: Number(values.port),
})
const client = createClient(server.origin)
const prober = startProber(server.origin)
const rows = []
try {
  await prober.lap()
  const measure = async (name, call) => {
    await prober.lap()
    const { ms, said } = await answer(client, call)
    const { longest, busy } = await prober.lap()
    rows.push([name, said, short(ms), short(longest), short(busy)])
    console.log(rows.at(-1)?.join(' | '))
  }
  for (const [name, make] of cases())
    if (name.includes(values.only)) await measure(name, make())
    else if (name.startsWith('store')) await answer(client, make())
  for (const [name, make] of greps()) if (name.includes(values.only)) await measure(name, make())
  for (const [name, call] of [...codeCases(), ...bodyCases()]) if (name.includes(values.only)) await measure(name, call)
  const many = Number(values.many)
  let first = Number.NaN
  for (let i = 0; i < many; i++) {
    const [tool, args] = store(`${i} ${ALPHABETS.prose()}`.slice(0, MEGABYTE - 1000 - i), 'many')
    const { content } = await client.call(tool, args)
    if (i === 0) first = Number(content.context_id)
  }
  if (many > 0)
    for (const [name, make] of amongMany()) {
      const whole = `${name}, among ${many} entries of 1 MB`
      if (whole.includes(values.only)) await measure(whole, make())
    }
  if (many > 0) for (const call of metadataWorld()) await answer(client, call)
  if (many > 0)
    for (const [name, make] of amongMetadata()) {
      const whole = `${name}, large metadata`
      if (whole.includes(values.only)) await measure(whole, make())
    }
  const brief = Array.from({ length: 100 }, (_, i) => ({ thread_id: 'short', source: 'agent', text: `short ${i}` }))
  if (many > 0)
    for (let i = 0; i < SHORT / 100; i++)
      await answer(client, [
        'store_context_batch',
        { entries: brief.map((one) => ({ ...one, text: `${one.text} ${i}` })) },
      ])
  if (many > 0)
    for (const [name, make] of changes(many, first)) if (name.includes(values.only)) await measure(name, make())
} finally {
  await prober.stop()
  client.close()
  await server.stop()
}

const usual = values.only === ''
const report = `## Hostile text${usual ? '' : `: ${values.only}, among ${values.many}`}

${where}; plain workerd, D1. \`held\`: the longest that /health had to wait during the call;
\`busy\`: the most processor time that the server took before it answered /health, whatever else ran on the machine.

${markdownTable(['call', 'answer', 'ms', 'held ms', 'busy ms'], rows)}`
if (values.write) writeSection(usual ? 'hostile-text' : values.section, report)
console.log(report)
