// The searches that are measured: the server's search tools, as far as it has them, and a plain baseline.
import { DatabaseSync } from 'node:sqlite'

const DEPTH = 100

/**
 * @typedef {object} Leg
 * @property {string} name
 * @property {(query: import('./collection.mjs').Query) => Promise<{ids: number[], ms: number}>} ask best first
 */

const TOOLS = [
  { name: 'fts', tool: 'fts_search_context', extra: { mode: 'match' } },
  { name: 'semantic', tool: 'semantic_search_context', extra: {} },
  { name: 'hybrid', tool: 'hybrid_search_context', extra: {} },
]

export const BASELINE = 'fts5-or'
export const LEG_NAMES = [...TOOLS.map(({ name }) => name), BASELINE]

/**
 * @param {import('../support/mcp.mjs').Client} client
 * @param {boolean} threaded
 * @returns {Promise<Leg[]>}
 */
export async function serverLegs(client, threaded) {
  const present = new Set(await client.toolNames())
  return TOOLS.filter(({ tool }) => present.has(tool)).map(({ name, tool, extra }) => ({
    name,
    async ask({ text, thread }) {
      const args = { query: text, limit: DEPTH, ...extra, ...(threaded ? { thread_id: thread } : {}) }
      const { ms, content } = await client.call(tool, args)
      return { ids: content.results.map(({ id }) => id), ms }
    },
  }))
}

/**
 * What SQLite does without our help: every word of the question joined with OR, `bm25()`, its own stemmer, no stop words.
 *
 * @param {import('./collection.mjs').Collection} collection
 * @param {ReadonlyMap<string, number>} unitOf entry by document
 * @returns {Leg}
 */
export function baselineLeg({ documents, threaded }, unitOf) {
  const db = new DatabaseSync(':memory:')
  db.exec(`CREATE VIRTUAL TABLE docs USING fts5(text, thread UNINDEXED, tokenize = 'porter unicode61')`)
  const insert = db.prepare('INSERT INTO docs (rowid, text, thread) VALUES (?, ?, ?)')
  const seen = new Set()
  db.exec('BEGIN')
  for (const { id, text, thread } of documents) {
    const unit = unitOf.get(id)
    if (unit === undefined || seen.has(unit)) continue
    seen.add(unit)
    insert.run(unit, text, thread)
  }
  db.exec('COMMIT')
  const within = threaded ? 'AND thread = ?' : ''
  const select = db.prepare(
    `SELECT rowid FROM docs WHERE docs MATCH ? ${within} ORDER BY bm25(docs), rowid LIMIT ${DEPTH}`,
  )
  return {
    name: BASELINE,
    async ask({ text, thread }) {
      const started = performance.now()
      const words = [...new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu))].map((word) => `"${word}"`)
      const rows = words.length === 0 ? [] : select.all(words.join(' OR '), ...(threaded ? [thread] : []))
      return { ids: rows.map(({ rowid }) => Number(rowid)), ms: performance.now() - started }
    },
  }
}
