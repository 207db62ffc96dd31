// Fills a store with the demo: starts a Worker on the data folder and writes with the tools that agents use. Tools store the present
// time, so the times are then changed in the database. Ends when that is done.
import { join } from 'node:path'
import { root } from '../install.mjs'
import { plannedEntries } from './entries.mjs'
import { picture } from './pictures.mjs'
import { startOn } from './server.mjs'
import { captureSessions } from './sessions.mjs'

/** @typedef {import('./entries.mjs').Planned} Planned */
const HOUR_MS = 3_600_000
const state = process.argv[2] ?? join(root, '.wrangler/demo')

const { server, origin } = await startOn(state)
const url = new URL('/mcp', origin)

/** @param {string} name @param {Record<string, unknown>} args @returns {Promise<any>} */
async function call(name, args) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
  })
  const { result } = /** @type {any} */ (await response.json())
  if (result.isError) throw new Error(`${name}: ${result.content[0].text}`)
  return result.structuredContent
}

// First, so that the entries of agents are the latest activity.
await captureSessions(origin)

const planned = plannedEntries(picture)
/** Ids by the keys that other entries refer to. @type {Map<string, number>} */
const ids = new Map()
/** @type {{ id: number, hoursAgo: number }[]} */
const stored = []
for (const { hoursAgo, key, about, supersedes, ...entry } of planned) {
  const metadata = {
    ...entry.metadata,
    ...(about === undefined ? {} : { references: { context_ids: [ids.get(about)] } }),
    ...(supersedes === undefined ? {} : { supersedes: [ids.get(supersedes)] }),
  }
  const { context_id: id } = await call('store_context', { ...entry, metadata })
  if (key !== undefined) ids.set(key, id)
  stored.push({ id, hoursAgo })
}

/** Later additions to an earlier decision, for the history page. */
for (const [key, agent_name, sentence] of [
  ['double-bookings/decision', 'claude', ' Checked again after release 4.2: the index is there on all three clusters.'],
  ['search-latency/decision', 'claude', ' Since November the table holds 90 days; it is 2.0 GB.'],
  ['payment-retries/gotcha', 'cursor', ' Their support confirmed it: 24 hours, and no plan to change that.'],
]) {
  const id = ids.get(/** @type {string} */ (key))
  const { result } = await call('get_context_by_ids', { context_ids: [id] })
  await call('update_context', {
    context_id: id,
    text: result[0].text_content + sentence,
    metadata_patch: { checked: true, agent_name },
  })
}

// Moves every stored time of an entry to its planned hour.
const db = await server.getD1Database('DB')
const now = Date.now()
const at = stored.map(({ id, hoursAgo }) => [id, Math.round(now - hoursAgo * HOUR_MS)])
const moved = `(SELECT json_extract(value, '$[1]') FROM json_each(?1) WHERE json_extract(value, '$[0]') =`
const times = JSON.stringify(at)
const ours = "(SELECT json_extract(value, '$[0]') FROM json_each(?1))"
const run = (/** @type {string} */ statement) => db.prepare(statement).bind(times).run()
await run(
  `UPDATE changes SET at = ${moved} entry_id) WHERE version = 1 AND entry_id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))`,
)
await run(`UPDATE changes SET at = ${now - 3 * HOUR_MS} WHERE version > 1 AND entry_id IN ${ours}`)
await run(
  `UPDATE entry_versions SET created_at = ${moved} entry_id), updated_at = ${moved} entry_id), ended_at = ${now - 3 * HOUR_MS} WHERE entry_id IN ${ours}`,
)
await run(
  `UPDATE entries SET created_at = ${moved} entries.id), updated_at = CASE WHEN version > 1 THEN ${now - 3 * HOUR_MS} ELSE ${moved} entries.id) END WHERE id IN ${ours}`,
)
await run(`UPDATE entry_tags SET created_at = ${moved} entry_id) WHERE entry_id IN ${ours}`)
await run(`UPDATE thread_counters SET
  first_second = (SELECT min(e.created_second) FROM entries e WHERE e.org = thread_counters.org AND e.thread_id = thread_counters.thread_id),
  last_second = (SELECT max(e.created_second) FROM entries e WHERE e.org = thread_counters.org AND e.thread_id = thread_counters.thread_id)
  WHERE ?1 <> ''`)
await server.dispose()
console.log(`Stored ${stored.length} memories.`)
process.exit(0)
