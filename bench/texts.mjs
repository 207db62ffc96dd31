// `npm run bench -- texts`: how long it takes to find the line, see the outline and read the part of long entries, on D1 and on
// PostgreSQL in plain workerd, and how long others wait meanwhile. See README.md.
import { parseArgs } from 'node:util'
import { createClient } from './support/mcp.mjs'
import { markdownTable, percentile, random, short, thousands } from './support/numbers.mjs'
import { progress } from './support/progress.mjs'
import { circumstances, writeSection } from './support/results.mjs'
import { startServer } from './support/server.mjs'
import { createWorkspace } from './support/workspace.mjs'

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '10000,100000' },
    targets: { type: 'string', default: 'workerd,pooled' },
    calls: { type: 'string', default: '20' },
    port: { type: 'string', default: '18730' },
    ref: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
})
const sizes = values.sizes.split(',').map(Number)
const NAMES = { workerd: 'D1', postgres: 'PostgreSQL', pooled: 'PostgreSQL, pooled' }
const HOW = {
  postgres:
    'each call opens a connection of its own to PostgreSQL 15 on the same machine, through the local Hyperdrive binding',
  pooled:
    'PostgreSQL 15 on the same machine behind pgbouncer, whose connections are open before a call comes, as those of Hyperdrive are',
}
const BATCH = 100
const LENGTH = 300
const MEGABYTE = 1_000_000
const WORDS =
  'the worker handled request for item in queue and wrote result to disk after retry number with status'.split(' ')

/** An entry of 300 characters; one in a thousand of the newest has a unique text. */
function entryAt(i) {
  const next = random(i + 1)
  let text = `entry ${i} `
  while (text.length < LENGTH - 20) text += `${WORDS[Math.floor(next() * WORDS.length)]} `
  return {
    thread_id: `thread ${i % 400}`,
    source: 'agent',
    text: `${text}${i % 1000 === 7 ? 'E_QUOTA(17)' : 'ok'} ${i}`,
  }
}

async function fill(client, from, to) {
  const bar = progress(`${thousands(to)} entries of ${LENGTH} characters`, to - from)
  const startedAt = performance.now()
  for (let i = from; i < to; i += BATCH) {
    await client.call('store_context_batch', { entries: Array.from({ length: BATCH }, (_, n) => entryAt(i + n)) })
    bar.tick(BATCH)
  }
  bar.finish()
  return (performance.now() - startedAt) / ((to - from) / BATCH)
}

const LOG = Array.from(
  { length: 12_000 },
  (_, i) =>
    `2026-11-20T09:${String(i % 60).padStart(2, '0')} INFO worker-${i % 7} handled job ${i} in ${i % 90} ms, status=200`,
)
  .join('\n')
  .slice(0, MEGABYTE)
const MARKDOWN = Array.from({ length: 12_000 }, (_, i) =>
  i % 20 === 0
    ? `## Section ${i}`
    : `Some *text* with \`code\` and [a link](http://x/${i}), number ${i}, and more words.`,
)
  .join('\n\n')
  .slice(0, MEGABYTE)

/** The longest wait for /health while a call runs. */
async function longestWait(origin, call) {
  let running = true
  let longest = 0
  const asking = (async () => {
    while (running) {
      const startedAt = performance.now()
      await (await fetch(`${origin}/health`)).text()
      longest = Math.max(longest, performance.now() - startedAt)
    }
  })()
  const { ms } = await call()
  running = false
  await asking
  return { ms, longest }
}

async function measure(client, cases) {
  const times = new Map(cases.map(([name]) => [name, []]))
  for (let round = 0; round <= Number(values.calls); round++)
    for (const [name, tool, args, check] of cases) {
      const { ms, content } = await client.call(tool, args)
      if (!check(content)) throw new Error(`${name} answered ${JSON.stringify(content).slice(0, 300)}`)
      // The first round warms up.
      if (round > 0) times.get(name).push(ms)
    }
  return new Map([...times].map(([name, list]) => [name, { p50: percentile(list, 0.5), p95: percentile(list, 0.95) }]))
}

const grep = (name, args, matches) => [
  name,
  'grep_context',
  { max_entries_scanned: 10_000, ...args },
  (content) => content.total_matches === matches && content.cut_entries === undefined,
]

async function run(target, workspace, port) {
  const server = await startServer(target, {
    workspace,
    state: workspace.folder(target),
    vars: { LOG_LEVEL: 'ERROR', ENABLE_SEMANTIC_SEARCH: 'false', ENABLE_SUMMARY_GENERATION: 'false' },
    port,
  })
  const client = createClient(server.origin)
  const rows = []
  try {
    const batches = []
    let stored = 0
    for (const size of sizes) {
      batches.push([thousands(size), short(await fill(client, stored, size))])
      stored = size
      const of = `of ${thousands(size)}`
      const cases = [
        grep(`a literal with 10 matches over 10,000 entries ${of}`, { pattern: 'e_quota(17)' }, 10),
        grep(`a literal with case, 10 matches, ${of}`, { pattern: 'E_QUOTA(17)', case_sensitive: true }, 10),
        grep(`a literal without a match, ${of}`, { pattern: 'nowhere to be found' }, 0),
        grep(
          `an expression over 1,000 entries ${of}`,
          { pattern: 'E_\\w+\\(\\d+\\)', is_regex: true, max_entries_scanned: 1000 },
          1,
        ),
        grep(
          `the same in one thread (25 or 250 entries) ${of}`,
          { pattern: 'E_\\w+\\(\\d+\\)', is_regex: true, thread_id: 'thread 7' },
          size / 2000,
        ),
      ]
      for (const [name, time] of await measure(client, cases)) rows.push([name, time])
    }
    const store = async (text) =>
      (await client.call('store_context', { thread_id: 'long', source: 'agent', text })).content.context_id
    const log = await store(LOG)
    const markdown = await store(MARKDOWN)
    const [lines, sections] = [LOG.split('\n'), MARKDOWN.split('\n').filter((line) => line.startsWith('## ')).length]
    const range = (name, args, text) => [
      name,
      'read_context_range',
      { context_id: log, ...args },
      (content) => content.text === text,
    ]
    const cases = [
      range(
        '10 characters in the middle of 1 MB',
        { start_char: 500_000, end_char: 500_010 },
        LOG.slice(500_000, 500_010),
      ),
      range('a line near the end of 1 MB', { start_line: 11_000, end_line: 11_000 }, lines[10_999]),
      range(
        'eleven lines in the middle of 1 MB',
        { start_line: 6000, end_line: 6010 },
        lines.slice(5999, 6010).join('\n'),
      ),
      range('100,000 characters of 1 MB', { start_char: 300_000, end_char: 400_000 }, LOG.slice(300_000, 400_000)),
      grep('a literal in one text of 1 MB', { pattern: 'handled job 8123 ', context_ids: [log] }, 1),
      grep('an expression in one text of 1 MB', { pattern: 'job 8[0-9]23 in', is_regex: true, context_ids: [log] }, 10),
      [
        'the outline of 1 MB of Markdown',
        'navigate_context',
        { context_id: markdown },
        (content) => content.node_count === sections,
      ],
    ]
    for (const [name, time] of await measure(client, cases)) rows.push([name, time])

    const line = await store('a '.repeat(MEGABYTE / 2))
    const alternatives = Array.from({ length: 250 }, (_, i) => `a${(i + 36).toString(36)}`).join('|')
    const hostile = ['(a+)+$', '.{500}[^a ]', '(?:a?){500}b', alternatives]
    const waits = []
    for (const pattern of hostile) {
      const call = () => client.call('grep_context', { pattern, is_regex: true, context_ids: [line] })
      const { ms, longest } = await longestWait(server.origin, call)
      waits.push([`\`${pattern.replaceAll('|', '\\|').slice(0, 24)}\``, short(ms), short(longest)])
    }
    const outline = await longestWait(server.origin, () => client.call('navigate_context', { context_id: markdown }))
    waits.push(['the outline of 1 MB of Markdown', short(outline.ms), short(outline.longest)])
    return { rows, batches, waits }
  } finally {
    await server.stop()
  }
}

const where = circumstances(values.ref)
const workspace = createWorkspace(values.ref)
const runs = []
let port = Number(values.port)
const targets = values.targets.split(',')
for (const target of targets) {
  runs.push([NAMES[target], await run(target, workspace, port)])
  port += 3
}
workspace.remove()

const head = runs.flatMap(([name]) => [`${name} p50 ms`, `p95 ms`])
const names = runs[0][1].rows.map(([name]) => name)
const table = names.map((name, i) => [
  name,
  ...runs.flatMap(([, { rows }]) => [short(rows[i][1].p50), short(rows[i][1].p95)]),
])
const how = targets.flatMap((target) => HOW[target] ?? [])
const title = `Long texts${targets.length === 1 ? ` (${NAMES[targets[0]]})` : ''}`
const report = `## ${title}

${where}; plain workerd, one connection, ${values.calls} calls a row${how.map((text) => `; ${text}`).join('')}.
Entries of ${LENGTH} characters; texts of 1 MB.

${markdownTable(['call', ...head], table)}

How long a call keeps others waiting: the longest answer of \`/health\` while it runs.

${runs.map(([name, { waits }]) => `${name}\n\n${markdownTable(['call', 'ms', 'longest wait for others, ms'], waits)}`).join('\n\n')}

Storing, ms a batch of ${BATCH}: ${runs.map(([name, { batches }]) => `${name} ${batches.map(([size, ms]) => `${ms} (up to ${size})`).join(', ')}`).join('; ')}.
`
console.log(report)
if (values.write) writeSection(title, report)
