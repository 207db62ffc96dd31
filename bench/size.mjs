// `npm run bench -- size`: measures the bytes of an entry in D1 by part. See README.md.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import { entryAt } from './rows/corpus.mjs'
import { createClient } from './support/mcp.mjs'
import { markdownTable, thousands } from './support/numbers.mjs'
import { progress } from './support/progress.mjs'
import { circumstances, writeSection } from './support/results.mjs'
import { startServer } from './support/server.mjs'
import { createWorkspace } from './support/workspace.mjs'

const { values } = parseArgs({
  options: {
    size: { type: 'string', default: '5000' },
    port: { type: 'string', default: '18977' },
    ref: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
})
const size = Number(values.size)
const BATCH = 100
/** Runs of the schedule, which merges the index of words. */
const SETTLE = 15
/** What Cloudflare gives a database, by plan. */
const PLANS = { Free: 500e6, Paid: 10e9 }

/** Labels of tables and indexes in the report. @type {[RegExp, string][]} */
const PARTS = [
  [/^entries$/, 'rows of entries'],
  [/^entries_fts/, 'index of words'],
  [/^entries_/, 'indexes of entries'],
  [/^entry_vectors$/, 'vectors, 512 numbers each'],
  [/entry_vectors/, 'indexes of vectors'],
  [/^entry_tags/, 'tags, two each'],
  [/^changes/, 'log of changes'],
]
const partOf = (name) => PARTS.find(([pattern]) => pattern.test(name))?.[1] ?? 'all else'

/** Stores the entries in a server of its own. @returns the file of its database */
async function filled(workspace) {
  const state = workspace.folder('state')
  const server = await startServer('workerd', { workspace, state, port: Number(values.port), vars: {} })
  const client = createClient(server.origin)
  try {
    const bar = progress(`${thousands(size)} entries`, size)
    for (let from = 0; from < size; from += BATCH) {
      const entries = Array.from({ length: BATCH }, (_, i) => entryAt(from + i, size))
      await client.call('store_context_batch', { entries })
      bar.tick(BATCH)
    }
    bar.finish()
    for (let n = 0; n < SETTLE; n++) await server.schedule?.()
  } finally {
    client.close()
    await server.stop()
  }
  const folder = join(state, 'd1', 'miniflare-D1DatabaseObject')
  const files = existsSync(folder) ? readdirSync(folder) : []
  const file = files.find((name) => name.endsWith('.sqlite') && name !== 'metadata.sqlite')
  if (file === undefined) throw new Error(`no database in ${folder}`)
  return join(folder, file)
}

const where = circumstances(values.ref)
const workspace = createWorkspace(values.ref)
let report
try {
  const db = new DatabaseSync(await filled(workspace))
  const { text } = /** @type {{ text: number }} */ (
    db.prepare('SELECT avg(length(text) + coalesce(length(metadata), 0)) AS text FROM entries').get()
  )
  const parts = new Map()
  for (const { name, bytes } of db.prepare('SELECT name, sum(pgsize) AS bytes FROM dbstat GROUP BY name').all())
    parts.set(partOf(name), (parts.get(partOf(name)) ?? 0) + Number(bytes) / size)
  db.close()
  const all = [...parts.values()].reduce((sum, bytes) => sum + bytes, 0)
  const rows = [...parts].sort(([, a], [, b]) => b - a).map(([name, bytes]) => [name, thousands(bytes)])
  const carried = Object.entries(PLANS).map(([plan, bytes]) => `${thousands(bytes / all / 1000)},000 on ${plan}`)
  report = `## Bytes an entry takes in D1

${where}. ${thousands(size)} entries of ${thousands(text)} bytes of text and metadata, with two tags,
after ${SETTLE} runs of the schedule; the vectors of the index, which are in a Durable Object, are not in it. A database holds
${carried.join(', ')}.

${markdownTable(['what', 'bytes an entry'], [...rows, ['together', thousands(all)]])}
`
} finally {
  workspace.remove()
}
console.log(report)
if (values.write) writeSection('size', report)
