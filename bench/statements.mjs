// Which statement of a call costs, and which of its tables? Rows read and milliseconds of each statement that a call of the bench `rows` sends
// to D1, dearest first, and of each table of its WITH clause with those that it needs.
//   node bench/statements.mjs --only 'wake|in a project' [--size 10000] [--stores FOLDER] [--large] [--text]
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { casesFor as casesOfLarge, largeEntryAt } from './large/cases.mjs'
import { casesFor } from './rows/cases.mjs'
import { entryAt } from './rows/corpus.mjs'
import { createClient } from './support/mcp.mjs'
import { markdownTable, short, thousands } from './support/numbers.mjs'
import { startServer } from './support/server.mjs'
import { createWorkspace } from './support/workspace.mjs'

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    size: { type: 'string', default: '1000' },
    /** A folder of filled stores. */
    stores: { type: 'string' },
    /** The calls and the store of `large`. */
    large: { type: 'boolean', default: false },
    /** Prints the text of each statement, too. */
    text: { type: 'boolean', default: false },
    least: { type: 'string', default: '50' },
    ref: { type: 'string' },
    port: { type: 'string', default: '18960' },
  },
})
const size = Number(values.size)
const [casesOf, makeEntry] = values.large ? [casesOfLarge, largeEntryAt] : [casesFor, entryAt]
const wanted = new RegExp(values.only)
const workspace = createWorkspace(values.ref, 'bench/statements/index.ts')
const state =
  values.stores === undefined
    ? workspace.folder('state')
    : resolve(values.stores, `${values.large ? 'd1' : 'rows'}-${size}`)
mkdirSync(state, { recursive: true })
const file = join(state, 'kept.json')
const kept = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { ids: [] }
const server = await startServer('workerd', {
  ...{ workspace, state, port: Number(values.port), vars: { LOG_LEVEL: 'ERROR' } },
})
const client = createClient(server.origin)

async function fill() {
  if (kept.ids.length >= size) return
  while (kept.ids.length < size) {
    const entries = Array.from({ length: 100 }, (_, i) => makeEntry(kept.ids.length + i, size))
    const { content } = await client.call('store_context_batch', { entries })
    kept.ids.push(...content.results.map(({ context_id }) => context_id))
    writeFileSync(file, JSON.stringify(kept))
  }
  for (let n = 0; n < 15; n++) await server.schedule?.()
}

const ask = async (path, body) =>
  (await fetch(`${server.origin}/bench/${path}`, { method: 'POST', body: JSON.stringify(body ?? {}) })).json()

/** The tables of a WITH clause, each with the text up to its end. @param {string} sql @returns {{ name: string, until: string }[]} */
function tablesOf(sql) {
  const begin = /^\s*WITH (?:RECURSIVE )?/i.exec(sql)
  if (begin === null) return []
  const tables = []
  let at = begin[0].length
  for (;;) {
    const head = /^\s*,?\s*(\w+)\s*(?:\([^()]*\)\s*)?AS\s+(?:(?:NOT )?MATERIALIZED\s*)?\(/.exec(sql.slice(at))
    if (head === null) return tables
    let [depth, quote] = [1, '']
    at += head[0].length
    for (; depth > 0 && at < sql.length; at++) {
      const letter = sql[at]
      if (quote !== '') quote = letter === quote ? '' : quote
      else if (letter === "'" || letter === '"') quote = letter
      else depth += letter === '(' ? 1 : letter === ')' ? -1 : 0
    }
    tables.push({ name: head[1], until: sql.slice(0, at) })
  }
}

try {
  await fill()
  for (const { name, tool, args } of casesOf(size, kept.ids).filter((one) => wanted.test(`${one.tool} ${one.name}`))) {
    for (let n = 2; n < 4; n++) {
      await client.call(tool, args(n))
      await new Promise((done) => setTimeout(done, 100))
      if (n === 2) await ask('told')
    }
    const told = await ask('told')
    console.log(`\n## ${name}: ${thousands(told.reduce((sum, { read }) => sum + read, 0))} rows read\n`)
    for (const one of told.toSorted((a, b) => b.read - a.read)) {
      if (one.read < Number(values.least)) continue
      const tables = []
      const places = Math.max(0, ...Array.from(one.sql.matchAll(/\?(\d+)/g), ([, n]) => Number(n)))
      const all = places === 0 ? '' : ` WHERE ?${places} IS NULL OR 1`
      for (const table of tablesOf(one.sql)) {
        const { read, ms, first, error } = await ask('ask', {
          ...{ sql: `${table.until} SELECT count(*) AS n FROM ${table.name}${all}`, params: one.params },
        })
        tables.push([table.name, ...(error ? [error, '', ''] : [thousands(read), thousands(first.n), short(ms)])])
      }
      console.log(
        `${thousands(one.read)} rows, ${thousands(one.written)} written, ${short(one.ms)} ms: ${one.sql.slice(0, 160)}…`,
      )
      if (values.text) console.log(one.sql, JSON.stringify(one.params))
      if (tables.length > 0) console.log(markdownTable(['table', 'rows read', 'its rows', 'ms'], tables))
    }
  }
} finally {
  client.close()
  await server.stop()
  workspace.remove()
}
