// A server that holds the history: two orgs, three people, each memory stored on its day by its own tool.
import { createClient } from '../support/mcp.mjs'
import { progress } from '../support/progress.mjs'
import { startServer } from '../support/server.mjs'

const OPERATOR = 'operator-of-the-bench-of-packs'
/** The words of fabric for the kinds that the history stores through it. */
const FABRIC_TYPES = {
  gotcha: 'bug_fix',
  bug_fix: 'bug_fix',
  error_pattern: 'bug_fix',
  convention: 'convention',
  decision: 'decision',
  pattern: 'code_pattern',
}

/** @param {import('./gold.mjs').Memory} memory @param {(id: string) => string} idOf */
function callFor(memory, idOf) {
  const { by, kind, title, text, project, domain, tags, status, thread, agent, diary, audience } = memory
  const links = (memory.links ?? []).map((link) => link.replace(/:(.*)$/, (_, id) => `:${idOf(id)}`))
  const linked = (relation) =>
    links.filter((link) => link.startsWith(`${relation}:`)).map((link) => Number(link.slice(relation.length + 1)))
  const defined = (object) => Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined))
  if (by === 'remember') {
    const parts = {
      title,
      content: text,
      kind,
      project,
      domain,
      tags,
      status,
      thread_id: thread,
      agent_id: agent,
      diary,
      audience,
      metadata: memory.expires_at === undefined ? undefined : { expires_at: memory.expires_at },
    }
    return { name: 'remember', args: defined({ ...parts, related_to: links.length > 0 ? links : undefined }) }
  }
  const contradicts = linked('contradicts')
  const named = defined({
    title,
    domain,
    status,
    expires_at: memory.expires_at,
    contradicts: contradicts.length > 0 ? contradicts : undefined,
  })
  if (by === 'context_store')
    return {
      name: 'context_store',
      args: {
        type: FABRIC_TYPES[kind ?? ''],
        content: text,
        metadata: { ...named, ...defined({ projectPath: project, tags }) },
      },
    }
  return {
    name: 'store_context',
    args: defined({
      thread_id: thread ?? `notes-${memory.at.slice(0, 7)}`,
      source: memory.source ?? 'agent',
      text,
      tags,
      metadata: { ...named, ...defined({ kind, project, diary, audience, agent_name: agent }) },
    }),
  }
}

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
