// A server that holds the history: two orgs, three people, each memory stored on its day by its own tool.
import { createClient } from '../support/mcp.mjs'
import { progress } from '../support/progress.mjs'
import { startServer } from '../support/server.mjs'
import { callFor } from './calls.mjs'

const OPERATOR = 'operator-of-the-bench-of-packs'
/** Keys of those who store and ask, by `org/owner`. */
async function makeKeys(origin, history, team) {
  const post = async (path, body) => {
    const response = await fetch(`${origin}/api/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${OPERATOR}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
    return response.json()
  }
  const keys = new Map()
  for (const { org = team.org, owner = team.asker } of [{}, ...history]) {
    const name = `${org}/${owner}`
    if (keys.has(name)) continue
    if (![...keys.keys()].some((known) => known.startsWith(`${org}/`))) await post('/orgs', { id: org, name: org })
    keys.set(name, /** @type {any} */ (await post(`/orgs/${org}/keys`, { name: owner, role: 'writer', owner })).key)
  }
  return keys
}

/**
 * @param {import('../support/workspace.mjs').Workspace} workspace
 * @param {import('./gold.mjs').Memory[]} history in the order of time
 * @param {import('./gold.mjs').Team} team
 * @param {{target: string, port: number, vars: Record<string, string>}} options
 */
export async function openWorld(workspace, history, team, { target, port, vars }) {
  const limits = { RATE_LIMIT_PER_MINUTE: '0', MAX_CONCURRENT_REQUESTS: '0' }
  const server = await startServer(target, {
    ...{ workspace, port, state: workspace.folder('state') },
    vars: { LOG_LEVEL: 'ERROR', ADMIN_TOKEN: OPERATOR, ...limits, ...vars, AUTH_MODE: 'required' },
  })
  const keys = await makeKeys(server.origin, history, team)
  const asker = { key: keys.get(`${team.org}/${team.asker}`), now: team.now }
  let caller = asker
  const client = createClient(server.origin, () => ({
    authorization: `Bearer ${caller.key}`,
    'x-bench-now': caller.now,
  }))

  /** @type {Map<string, string>} ids of the store by names of the gold set */
  const ids = new Map()
  const bar = progress('history, storing', history.length)
  for (const memory of history) {
    caller = { key: keys.get(`${memory.org ?? team.org}/${memory.owner ?? team.asker}`), now: memory.at }
    const { name, args } = callFor(memory, (id) => ids.get(id) ?? id)
    const { content } = await client.call(name, args)
    ids.set(memory.id, String(content.id ?? content.context_id))
    bar.tick(1)
  }
  bar.finish(`${ids.size} memories`)
  caller = asker
  const names = new Map([...ids].map(([name, id]) => [id, name]))
  return {
    client,
    origin: server.origin,
    /** @param {string | number} id of the store @returns {string} its name in the gold set */
    nameOf: (id) => names.get(String(id)) ?? `?${id}`,
    async close() {
      client.close()
      await server.stop()
    },
  }
}
