// `npm run bench:memories`: how fast memories are stored, recalled, listed and gathered for the moment, beside what the threads tools
// take for the like in the same run, on D1 and on PostgreSQL in plain workerd. See README.md.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { createClient } from './support/mcp.mjs'
import { markdownTable, percentile, random, short, thousands } from './support/numbers.mjs'
import { progress } from './support/progress.mjs'
import { circumstances, writeSection } from './support/results.mjs'
import { startServer } from './support/server.mjs'
import { createWorkspace } from './support/workspace.mjs'

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '1000,10000' },
    targets: { type: 'string', default: 'workerd,pooled' },
    calls: { type: 'string', default: '40' },
    only: { type: 'string' },
    stores: { type: 'string' },
    port: { type: 'string', default: '8833' },
    ref: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
})
const sizes = values.sizes.split(',').map(Number)
const calls = Number(values.calls)
const NAMES = { workerd: 'D1', postgres: 'PostgreSQL', pooled: 'PostgreSQL, pooled' }
const PROJECT = '/home/ada/app'
const BATCH = 100
const TYPES = ['decision', 'bug_fix', 'code_pattern', 'convention', 'scratchpad', 'relationship']
const LANGUAGES = ['typescript', 'python', 'go', 'rust']
const WORDS =
  'cache queue worker token login schema index retry batch stream parser lock timeout header cookie session route render layout query join trigger vector chunk merge branch deploy rollback metric alert budget limit page cursor offset tag filter'.split(
    ' ',
  )
/** A tenth of the memories belongs to the whole org. */
const SEMANTIC = 10
const ROUNDS = 3

const wordsOf = (next, count) =>
  Array.from({ length: count }, () => WORDS[Math.floor(next() ** 2 * WORDS.length)]).join(' ')

/** One memory: some sentences, two tags, for a third of them a file and code. */
function memoryAt(i) {
  const next = random(i + 1)
  const file = `src/${WORDS[i % 20]}/${WORDS[(i * 7) % WORDS.length]}${i % 50}.ts`
  const code = {
    code: `export const ${WORDS[i % 30]}${i} = () => ${wordsOf(next, 3).replaceAll(' ', '(')}`,
    language: LANGUAGES[i % 4],
  }
  return {
    type: TYPES[i % 6],
    content: `We found that ${wordsOf(next, 12)}. Then ${wordsOf(next, 14)} number ${i}.`,
    tags: [`area-${i % 40}`, `team-${i % 7}`],
    title: `${WORDS[i % WORDS.length]} ${i}`,
    ...(i % 3 === 0
      ? { fileContext: { path: file, language: LANGUAGES[i % 4] }, codeBlock: { ...code, filePath: file } }
      : {}),
  }
}

const metadataOf = ({ type: _, content: __, ...metadata }) => metadata

async function fill(client, from, to) {
  const bar = progress(`${thousands(to)} memories`, to - from)
  let batch = []
  const flush = async () => {
    if (batch.length > 0) await client.call('store_context_batch', { entries: batch })
    batch = []
  }
  for (let i = from; i < to; i++) {
    const memory = memoryAt(i)
    const { tags, ...metadata } = metadataOf(memory)
    if (i % SEMANTIC === 0)
      await client.call('context_store', {
        ...{ type: memory.type, content: memory.content, layer: 3 },
        metadata: { ...metadata, tags, projectPath: PROJECT },
      })
    else
      batch.push({
        ...{ thread_id: `project:${PROJECT}`, source: 'agent', text: memory.content, tags },
        metadata: { ...metadata, kind: memory.type, project: PROJECT },
      })
    if (batch.length === BATCH) await flush()
    bar.tick(1)
  }
  await flush()
  bar.finish()
}

let stored = 1_000_000
const question = (n) => wordsOf(random(7_919 * (n + 1)), 3)

/** What is measured, in pairs where the threads tools do the like. */
const CASES = [
  {
    name: 'store a memory',
    tool: 'context_store',
    args: () => ({
      type: 'decision',
      content: memoryAt(++stored).content,
      metadata: { ...metadataOf(memoryAt(stored)), projectPath: PROJECT },
    }),
  },
  {
    name: '— store_context',
    tool: 'store_context',
    args: () => ({
      thread_id: 'plain',
      source: 'agent',
      text: memoryAt(++stored).content,
      tags: ['plain'],
      metadata: { project: PROJECT },
    }),
  },
  ...['keyword', 'semantic', 'hybrid'].flatMap((mode) => [
    {
      name: `recall, ${mode}`,
      tool: 'context_recall',
      args: (n) => ({ query: question(n), mode, filter: { projectPath: PROJECT } }),
    },
    {
      name: `recall, ${mode}, threshold 0`,
      tool: 'context_recall',
      args: (n) => ({ query: question(n), mode, threshold: 0, filter: { projectPath: PROJECT } }),
    },
    {
      name: `— ${{ keyword: 'fts', semantic: 'semantic', hybrid: 'hybrid' }[mode]}_search_context`,
      tool: `${{ keyword: 'fts', semantic: 'semantic', hybrid: 'hybrid' }[mode]}_search_context`,
      args: (n) => ({ query: question(n), limit: 10 }),
    },
  ]),
  {
    name: 'list by type with offset',
    tool: 'context_list',
    args: (n) => ({ projectPath: PROJECT, type: TYPES[n % 6], offset: 50 }),
  },
  {
    name: 'list by two tags',
    tool: 'context_list',
    args: (n) => ({ projectPath: PROJECT, tags: [`area-${n % 40}`, `team-${n % 7}`] }),
  },
  {
    name: 'list by type and tag',
    tool: 'context_list',
    args: (n) => ({ projectPath: PROJECT, type: TYPES[n % 6], tags: [`area-${n % 40}`] }),
  },
  { name: 'list stats', tool: 'context_list', args: () => ({ projectPath: PROJECT, stats: true }) },
  {
    name: 'getCurrent',
    tool: 'context_getCurrent',
    args: (n) => ({
      projectPath: PROJECT,
      sessionId: 's',
      currentFile: `src/${WORDS[n % 20]}/${WORDS[(n * 7) % WORDS.length]}${n % 50}.ts`,
      currentCommand: 'npm test',
    }),
  },
]

/** Those that are asked for. */
const wanted = new RegExp(values.only ?? '')
const WANTED = CASES.filter(({ name }) => wanted.test(name))

async function measure(client, label) {
  const bar = progress(label, WANTED.length * ROUNDS)
  /** @type {Map<(typeof CASES)[number], number[]>} */
  const times = new Map(WANTED.map((one) => [one, []]))
  for (const one of WANTED) for (let n = 0; n < 3; n++) await client.call(one.tool, one.args(n))
  for (let round = 0; round < ROUNDS; round++)
    for (const [one, all] of times) {
      for (let n = 0; n < calls / ROUNDS; n++) all.push((await client.call(one.tool, one.args(all.length + 3))).ms)
      bar.tick(1, one.name)
    }
  bar.finish()
  return new Map([...times].map(([{ name }, all]) => [name, { p50: percentile(all, 0.5), p95: percentile(all, 0.95) }]))
}

const SETTLE = 20

/** Fills a store up to a size, from another size on. */
async function fillTo(client, from, size) {
  await fill(client, from, size)
  for (let n = 0; n < SETTLE; n++)
    await client.call('context_store', {
      type: 'scratchpad',
      content: memoryAt(n).content,
      metadata: { projectPath: PROJECT, sessionId: 's', tags: [] },
    })
}

/** Runs of the schedule before anything is measured: those of a quarter of an hour. */
const RUNS = 3

/** Runs with a client of a server whose data stand in a folder. */
async function served(workspace, target, state, run) {
  const vars = { LOG_LEVEL: 'ERROR' }
  const server = await startServer(target, { workspace, state, port: Number(values.port), vars })
  const client = createClient(server.origin)
  try {
    return await run(client, server)
  } finally {
    client.close()
    await server.stop()
  }
}

/** One store that grows from size to size; with `--stores`, one of each size, which is filled once and kept. */
async function runTarget(workspace, target) {
  const results = []
  const stepOf = (size, from) => async (client, server) => {
    if (from !== null) await fillTo(client, from, size)
    for (let n = 0; n < RUNS; n++) await server.schedule()
    if (calls > 0) results.push(await measure(client, `${NAMES[target]}, ${thousands(size)}`))
  }
  if (values.stores === undefined)
    await served(workspace, target, workspace.folder('state'), async (client, server) => {
      for (const [i, size] of sizes.entries()) await stepOf(size, sizes[i - 1] ?? 0)(client, server)
    })
  else
    for (const size of sizes) {
      const state = resolve(values.stores, `${target}-${size}`)
      const filled = existsSync(`${state}.filled`)
      mkdirSync(state, { recursive: true })
      await served(workspace, target, state, stepOf(size, filled ? null : 0))
      writeFileSync(`${state}.filled`, '')
    }
  return results
}

const where = circumstances(values.ref)
const workspace = createWorkspace(values.ref)
const tables = []
try {
  for (const target of values.targets.split(',')) {
    const results = await runTarget(workspace, target)
    const rows = WANTED.map(({ name }) => {
      const of = results.flatMap((result) => result.get(name) ?? [])
      const [first, last] = [of[0], of.at(-1)]
      const growth = first && last && of.length > 1 ? [short(last.p50 / first.p50)] : []
      return [name, ...of.flatMap(({ p50, p95 }) => [short(p50), short(p95)]), ...growth]
    })
    const head = [
      'call',
      ...sizes.flatMap((size) => [`${thousands(size)}: p50 ms`, 'p95 ms']),
      ...(sizes.length > 1 ? ['p50 ×'] : []),
    ]
    tables.push(`### ${NAMES[target]}\n\n${markdownTable(head, rows)}`)
  }
} finally {
  workspace.remove()
}
const report = `## Memories

${where}.

One project, a tenth of its memories in layer 3, one connection, one call at a time, over MCP, after three runs of the schedule. Rows that
begin with a dash are the threads tools in the same run. Context Fabric 0.14 at 10,000 (its repository over stdio with a stub embedder, p50
ms): list by type with offset 18.7, by two tags 6.5, by type and tag 37, getCurrent 22.7, store 2.7; keyword recall p95 8; half of its writes
failed with two clients.

getCurrent is meant to take 10 ms. Where its time goes on D1 at 10,000 (perf on workerd, 250 calls of different files each, commits
ffd56c4 and 6cf02db on the same quiet but slower machine, p50 16.6 and 14.0 ms; milliseconds of processor a call, 16.8 and 14.1):
compiling statements anew 1.2 and 0, since SQLite did so for each bound LIMIT; words in FTS5 1.3 and 0.3, since the schedule merges the
index, here 24 parts into two; what else SQLite does 2.7 and 2.0; commits 0.9 and 0.7, since what some seven calls showed is noted at once
and behind their answers; these were all of other files. In alternation on that machine: p50 18.7 and 16.4, best 14.7 and 11.3, processor
19.8 and 16.4. What remains is what surrounds SQLite: three batches and one call of an object (a batch of one statement takes 0.75 and one
of twelve 0.85 in workerd, best of 60), JavaScript on both sides of these 4.9, garbage and compiling 1.6, and what every call costs, of
which 2.0 of processor are an empty tool's (an event stream for each answer of the 2025 revisions among them). The processor is the limit:
workerd serves all of it in one thread. One batch fewer would be the next millisecond: scores reckoned in SQL, with what will be shown
brought along.
Since then (ec2de09 and what follows it, against 7ff1d9c; alternating three servers, 300 calls each, on a machine that others used too and
that was slower than when the table was made: the old one took 21.3 here): p50 21.3, 16.8 with answers as one JSON text, 16.4 with what is
shown brought along as well, p95 32.1, 25.6 and 26.2, best 12.2, 10.5 and 10.8, processor 21.8, 17.2 and 17.2. An empty tool 1.93 and 1.29,
list stats 4.72 and 3.95. An event stream is two streams in JavaScript, of which each chunk goes through the event loop, and copies of
request, answer and headers; one text is none of that. The batch that is saved (all of 150 calls needed two) pays for ordering some 110
candidates by a score in SQL, 0.25, and for a dozen memories more that come whole; on 1,000 working memories, where there are 200 of them,
nothing is left of it. Looking up each rare word once instead of twice: 0.22 and 0.13 in SQLite.
In the store of this table it has not been faster (one run each, one after the other, list stats beside it): 15.0 (3.48) at 7ff1d9c, 13.2 (2.25) at
ec2de09, 16.9 (2.79) at ae10966, 17.0 (3.25) at 0bfa961, 18.4 (4.05) at f736e11, 18.1 (3.2) at ac64668: what is brought along seems to cost there
what the text saves.
On PostgreSQL in the same alternation: p50 35.2 and 30.7, processor of the database 25.5 and 20.6, of the Worker 17.4 and 16.7; an empty
tool 3.2 and 3.5 against 2.2 on D1, with 1.5 of the database, since each request opens a connection, which took 4 in workerd until it was
there. The eighteen statements of a call, sent one by one by node-postgres: 15.9 to 18.1 as they are, 9.0 when they are prepared by name
and planned anew each time, 7.1 to 8.0 with plans that PostgreSQL chooses to keep, 20 with kept plans alone. So nearly half of what they
take is reading their text, and nothing is prepared by name, so that any pooler may stand in between; Hyperdrive and pgbouncer of 1.21
would allow it. A call whose Durable Object has not heard of 200 vectors takes three round trips too.

On PostgreSQL the eighteen statements of a getCurrent take 10.4 ms of the database's processor at 10,000 (one session, nothing else running): planning
them 4.3, executing 2.3, reading and analysing their text 1.8, and what surrounds each. Prepared by name they take 9.0 when planned
each time and 5.4 when PostgreSQL keeps plans; one, that of the rarer words, is seven times as slow by a kept plan. Kept plans would need names
that no pooler here tracks (pgbouncer 1.18), so nothing is prepared by name. A reference to the table of entries costs 0.1 to plan, half
of it for its 28 indexes. Recalls by words take longest to execute, where names change nothing.
In alternation on a busier machine (commits 7ff1d9c and what became c53e039, p50 ms; milliseconds of the Worker's and the database's processor):
store 16.3 and 13.0 (11.5 + 11.5 and 9.2 + 9.4), getCurrent 29.9 and 27.7 (14.8 and 13.2 of the Worker's), since a batch is sent in one
piece; recall by meaning 25.6 and 10.2 (7.1 + 16.3 and 7.3 + 3.2), without threshold 41.1 and 24.0, semantic search 27.5 and 15.6, hybrid 65.7 and 54.6, hybrid
recall 68.8 and 55.7, since the Durable Object beside is asked instead of comparing all vectors in the database.

Recall reads no more than it shows (commits ffd56c4 and 8d6bc74; 5,500 answers of both databases are the same, byte for byte). Of the
words' candidates D1 looks up only those that can be among the best: SQLite's part of a recall by words 20.7 and 15.7 ms of processor
(node:sqlite on the same file; 18.7 and 15.7 in a hybrid one), of which counting three common words takes 4.7 and gathering what holds them
8, both mostly the terms of the scope (1.4 for the counts without them). The vectors of a place that the object knows are looked up without
the statement that would go through the place itself, which took 2.9 to run and 1.3 to compile, although it went through nothing (that of the
search by meaning, for half as many vectors, takes 0.3 and 0.5). PostgreSQL tells product and squares of a vector, which its floats hold
exactly, in the place of 688 characters each: 252 rows had 197 KB. The note of accesses goes on behind the rows that it was read with, in one
round trip.

What holds all words of a query is found first (commit dd64f47; 2,750 answers of each database are the same, byte for byte): where 200 hold
them and none of the others can be better, those are not gathered. SQLite's part of a recall of three words that 28 to 99 % of memories
hold (node:sqlite, 10,000, processor): 14.1 before, of which counting 2.8, gathering 5.8, looking up 4, columns 0.8; 8.5 now, of which 2.8
are the counts. That of the search: 15.0 (counts 2.1, gathering 4.7, looking up 5.6, the rest 2.6). In alternation with 7ff1d9c at 10,000
(quiet, 18 calls a row on D1 and 15 on PostgreSQL; before and now beside the search now): D1 keyword 30.7 and 22.1 : 27.6, at threshold 0 32.6 and 27.4; hybrid
35.3 and 29.5 : 34.2, at threshold 0 38.1 and 32.8; semantic 7.2 and 6.5 : 10.1, at threshold 0 13.2 and 13.0. PostgreSQL keyword 62.5 and
49.1 : 58.8, at threshold 0 56.1 and 54.9; hybrid 74.2 and 77.0 : 76.9, at threshold 0 94.6 and 85.8; semantic 24.9 and 22.6 : 30.3, at
threshold 0 39.0 and 33.9. By meaning at threshold 0 a recall keeps and weighs 200 and asks for 804 vectors, the search 100 and 400. What grows with
the store are the counts of words that many hold, which the score is made of.
PostgreSQL counts those where they stand since 8584e72, where enough memories hold all words (800 answers of its predecessors are the same, byte for
byte). In alternation with 765fbe0 at 10,000 (108 calls a row, p50 ms; processor of the database): keyword 63.8 and 54.1 (51.0 and 40.4) beside
the search 62.5 (51.9); hybrid 72.4 and 64.5 (52.3 and 45.2) beside 79.0 (59.5). Of the statement that remains half are these counts.


${tables.join('\n\n')}
`
console.log(report)
if (values.write) writeSection('memories', report)
