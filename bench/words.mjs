// `npm run bench -- words`: measures searches of one to ten words on D1, where words are as frequent as in a language:
// few in thousands of entries, many in a handful. Milliseconds and rows read by the number of words; with --ref
// compared with an earlier commit over the same store, and whether both returned the same. See README.md.
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
    size: { type: 'string', default: '20000' },
    queries: { type: 'string', default: '120' },
    ref: { type: 'string' },
    /** A folder of the filled store. */
    stores: { type: 'string' },
    port: { type: 'string', default: '18970' },
    write: { type: 'boolean', default: false },
  },
})
const [size, queries, port] = [values.size, values.queries, values.port].map(Number)
const BATCH = 100
const MOST_WORDS = 10
/** Time to wait for log lines after an answer. */
const LOGGED_MS = 20

const SYLLABLES = 'ka lo mi ter ran dos ve pul shi gor ne bat qui zan fel ho'.split(' ')
const VOCABULARY = 6_000
/** A word that no stemmer changes. @param {number} rank */
function wordAt(rank) {
  let word = 'x'
  for (let rest = rank + 17; rest > 0; rest = Math.floor(rest / 16)) word = SYLLABLES[rest % 16] + word
  return `${word}o`
}

/** Zipf and Mandelbrot: cumulative word frequencies by rank. */
const SAID = Array.from({ length: VOCABULARY }, (_, rank) => (rank + 3) ** -0.95)
for (let rank = 1; rank < VOCABULARY; rank++) SAID[rank] = Number(SAID[rank]) + Number(SAID[rank - 1])
const saidBy = (share) => SAID.findIndex((sum) => sum >= share * (SAID.at(-1) ?? 0))

function entryAt(i) {
  const next = random(i + 1)
  const words = Array.from({ length: 20 + Math.floor(next() * 50) }, () => wordAt(saidBy(next())))
  return { thread_id: `thread ${i % 50}`, source: 'agent', text: words.join(' ') }
}

/** Of the thirty most common words, of the next three hundred and of three thousand more a third each. */
function queryAt(n) {
  const next = random(7_919 * (n + 1))
  const words = new Set()
  while (words.size < 1 + (n % MOST_WORDS)) {
    const [from, count] = [
      [0, 30],
      [30, 300],
      [330, 3_000],
    ][Math.floor(next() * 3)] ?? [0, 30]
    words.add(wordAt(from + Math.floor(next() * count)))
  }
  return [...words].join(' ')
}

async function fill(client, server) {
  const bar = progress(`${thousands(size)} entries`, size)
  for (let i = 0; i < size; i += BATCH) {
    await client.call('store_context_batch', { entries: Array.from({ length: BATCH }, (_, k) => entryAt(i + k)) })
    bar.tick(BATCH)
  }
  bar.finish()
  for (let n = 0; n < 15; n++) await server.schedule?.()
}

/** @returns each query's time, rows read and what it found */
async function measured(workspace, state) {
  const vars = { LOG_LEVEL: 'DEBUG', RATE_LIMIT_PER_MINUTE: '0' }
  const server = await startServer('workerd', { workspace, state, port, vars })
  const client = createClient(server.origin)
  try {
    if (!existsSync(`${state}.filled`)) {
      await fill(client, server)
      writeFileSync(`${state}.filled`, '')
    }
    let rows = 0
    server.onLog((event) => {
      if (typeof event.rows_read === 'number') rows = event.rows_read
    })
    const found = []
    // The first round compiles.
    for (let round = 0; round < 2; round++)
      for (let n = 0; n < queries; n++) {
        const { ms, content } = await client.call('fts_search_context', { query: queryAt(n), limit: 50 })
        await new Promise((done) => setTimeout(done, LOGGED_MS))
        if (round > 0) found.push({ ms, rows, ids: content.results.map(({ id }) => id).join() })
      }
    return found
  } finally {
    client.close()
    await server.stop()
  }
}

const where = circumstances()
const workspace = createWorkspace()
const state = values.stores === undefined ? workspace.folder('state') : resolve(values.stores, `words-${size}`)
mkdirSync(state, { recursive: true })
const now = await measured(workspace, state)
const earlier = values.ref === undefined ? null : createWorkspace(values.ref)
const before = earlier === null ? [] : await measured(earlier, state)
const columns = before.length > 0 ? [before, now] : [now]
const rows = Array.from({ length: MOST_WORDS }, (_, i) => [
  i + 1,
  ...columns.flatMap((all) => {
    const own = all.filter((_, n) => n % MOST_WORDS === i)
    const [times, read] = [own.map(({ ms }) => ms), own.map((one) => one.rows)]
    return [percentile(times, 0.5), percentile(times, 0.95)]
      .map(short)
      .concat([percentile(read, 0.5), percentile(read, 1)].map(thousands))
  }),
])
const heads = (name) => [`${name}p50 ms`, 'p95', 'rows, p50', 'most']
const same = before.filter(({ ids }, n) => ids === now[n]?.ids).length
const beside =
  before.length === 0
    ? ''
    : ` Compared with ${values.ref} over the same store: ${same} of ${queries} answers are the same.`
const report = `## Words as common as in a language

${where}. Plain workerd, one connection; ${thousands(size)} entries of 20 to 70 words of ${thousands(VOCABULARY)} by Zipf's law, ${queries} queries of one to ten
words by \`fts_search_context\`, a third each of the 30 most common words, the next 300 and 3,000 more.${beside}

${markdownTable(['words', ...(before.length > 0 ? [...heads(`${values.ref}: `), ...heads('now: ')] : heads(''))], rows)}
`
console.log(report)
if (values.write) writeSection('words', report)
earlier?.remove()
workspace.remove()
