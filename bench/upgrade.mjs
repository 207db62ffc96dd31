// `node bench/upgrade.mjs`: a database of the last release, filled by that release, is brought to this one. How long does it take, and
// is everything there and every answer as before? See README.md.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { PHRASE, PROBE } from './load/corpus.mjs'
import { fill } from './load/fill.mjs'
import { letPass } from './support/folders.mjs'
import { createClient } from './support/mcp.mjs'
import { markdownTable, short, thousands } from './support/numbers.mjs'
import { circumstances, writeSection } from './support/results.mjs'
import { startServer } from './support/server.mjs'
import { createWorkspace } from './support/workspace.mjs'

/** The last commit before migration 0016: what was released knew 0001 to 0015. */
const LAST_RELEASE = '83a3348~1'

const { values } = parseArgs({
  options: {
    targets: { type: 'string', default: 'workerd,postgres' },
    size: { type: 'string', default: '100000' },
    port: { type: 'string', default: '18795' },
    /** A folder that keeps the filled databases for another run, which then goes on from there. */
    keep: { type: 'string' },
    /** Fills, and leaves the rest to another run. */
    fill: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})
const size = Number(values.size)
const port = Number(values.port)
const NAMES = { workerd: 'D1', postgres: 'PostgreSQL' }

/** Questions whose answers must not change; scores may, where the index has learned more. @type {[name: string, args: Record<string, unknown>][]} */
const QUESTIONS = [
  ['search_context', { limit: 50 }],
  ['search_context', { limit: 50, offset: size / 2 }],
  ['search_context', { limit: 100, thread_id: PROBE.thread }],
  ['search_context', { limit: 100, tags: [PROBE.tag] }],
  ['search_context', { limit: 100, metadata: { status: PROBE.status } }],
  ['fts_search_context', { query: PROBE.words.join(' '), mode: 'boolean', limit: 100 }],
  ['fts_search_context', { query: PHRASE, mode: 'phrase', limit: 100 }],
  ['list_threads', {}],
]
/** What an answer tells of who is found, in one order. */
const SCORES = new Set(['score', 'scores', 'rank', 'relevance_score', 'fts_rank', 'relevance'])

/** What of the answer of before is not in the answer of now; new members of objects are no difference. */
function differences(before, now, path = '') {
  if (before === null || typeof before !== 'object')
    return Object.is(before, now) ? [] : [`${path}: ${before} is ${now}`]
  if (now === null || typeof now !== 'object') return [`${path}: was an object, is ${now}`]
  return Object.entries(before).flatMap(([key, value]) =>
    SCORES.has(key) ? [] : differences(value, now[key], `${path}.${key}`),
  )
}

const byId = (answer) =>
  Array.isArray(answer.results) ? { ...answer, results: answer.results.toSorted((a, b) => a.id - b.id) } : answer

/** Everything that is kept of each entry, as a hash of the answers that bring them whole, and the answers to the questions. */
async function takeStock(client) {
  const hashes = []
  for (let first = 1; first <= size; first += 100) {
    const context_ids = Array.from({ length: 100 }, (_, i) => first + i)
    const { content } = await client.call('get_context_by_ids', { context_ids })
    for (const { id, thread_id, source, text_content, tags, metadata, created_at, updated_at } of content.result)
      hashes.push(
        `${id} ${createHash('sha256')
          .update(JSON.stringify([thread_id, source, text_content, tags, metadata, created_at, updated_at]))
          .digest('hex')}`,
      )
  }
  const answers = []
  for (const [name, args] of QUESTIONS) answers.push(byId((await client.call(name, args)).content))
  return { hashes, answers }
}

const timed = async (step) => {
  const started = performance.now()
  const value = await step()
  return { value, ms: performance.now() - started }
}

const where = circumstances()
const [old, now] = [createWorkspace(LAST_RELEASE), createWorkspace()]
const stateOf = (target) => {
  const folder = values.keep === undefined ? old.folder(target) : join(values.keep, target)
  mkdirSync(folder, { recursive: true })
  for (const one of [join(folder, '..'), folder]) letPass(one)
  return folder
}
const start = (workspace, target, state) =>
  startServer(target, { workspace, state, port, vars: { LOG_LEVEL: 'ERROR', RATE_LIMIT_PER_MINUTE: '0' } })

async function upgrade(target) {
  const state = stateOf(target)
  const filled = join(state, 'filled')
  const before = await start(old, target, state)
  const client = createClient(before.origin)
  if (!existsSync(filled)) await fill(client, size, `${NAMES[target]} of the last release`)
  writeFileSync(filled, '')
  if (values.fill) {
    client.close()
    await before.stop()
    return null
  }
  const was = await takeStock(client)
  client.close()
  await before.stop()

  const first = await timed(() => start(now, target, state))
  const after = createClient(first.value.origin)
  // The index of words and vectors are made anew by requests, a part each, where the release changed what they are made of.
  let requests = 0
  const rest = await timed(async () => {
    for (let warned = true; warned && requests < 10_000; requests++) {
      const { content } = await after.call('fts_search_context', { query: PHRASE, limit: 1 })
      warned = content.warnings !== undefined
    }
  })
  const is = await takeStock(after)
  const wrong = was.answers.flatMap((answer, i) => differences(answer, is.answers[i], QUESTIONS[i][0]))
  const there = new Set(is.hashes)
  const lost = was.hashes.filter((hash) => !there.has(hash))
  const { content: written } = await after.call('store_context', {
    thread_id: 'after',
    source: 'user',
    text: 'after the upgrade',
  })
  await after.call('update_context', { context_id: 1, metadata_patch: { upgraded: true } })
  const { content: history } = await after.call('get_context_history', { context_id: 1 })
  if (history.total !== 2) wrong.push(`history of an entry of before: ${JSON.stringify(history)}`)
  after.close()
  await first.value.stop()
  const second = await timed(() => start(now, target, state))
  await second.value.stop()
  for (const line of [...wrong, ...lost].slice(0, 20)) console.error(line)
  return [
    ...[NAMES[target], thousands(was.hashes.length), thousands(is.hashes.length), lost.length, wrong.length],
    ...[
      short(first.ms / 1000),
      short(second.ms / 1000),
      requests,
      short(rest.ms / 1000),
      written.context_id > size ? 'yes' : 'no',
    ],
  ]
}

const rows = []
for (const target of values.targets.split(',')) rows.push((await upgrade(target)) ?? [])
if (!values.fill) {
  const report = `## Upgrade of a database of the last release

${where}; ${thousands(size)} entries stored by the last release (migrations 0001–0015, commit ${LAST_RELEASE}), then opened by this one in plain workerd.
Every entry was read whole before and after, and ${QUESTIONS.length} lists and searches compared. \`start\`: until the server answers, with the migrations
(0016 on) and, the second time, without; \`then\`: requests and seconds until searches no longer warn that their index is being written anew.

${markdownTable(['database', 'entries before', 'after', 'lost or changed', 'answers that differ', 'first start s', 'second start s', 'then requests', 's', 'new ids go on'], rows)}`
  console.log(report)
  if (values.write) writeSection('upgrade', report)
}
