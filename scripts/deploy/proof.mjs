// Last step, the proof: the server is ready; an organization and a key are made; one entry is stored, found by words and deleted.
import { Blocked } from './failures.mjs'

const PATIENCE = 60
const BETWEEN_MS = 2000
const THREAD = 'deployment-proof'

/**
 * @param {import('./command.mjs').Deploying} deploying
 * @param {string} origin
 * @returns {Promise<any>} the answer of /ready
 */
export async function waitUntilReady({ fetch, sleep, say }, origin) {
  let last = 'no answer'
  for (let tried = 0; tried < PATIENCE; tried++) {
    try {
      const response = await fetch(`${origin}/ready`)
      const answer = await response.json()
      if (response.ok) {
        say('ready', `${origin}/ready answers`)
        return answer
      }
      const broken = Object.entries(answer.checks ?? {}).filter(([, { ok }]) => !ok)
      last =
        answer.error?.message ??
        broken.map(([name, { problem }]) => `${name}: ${problem ?? 'does not respond'}`).join('; ')
      if (answer.error?.code === 'unavailable' && /not configured correctly/.test(last)) break
    } catch (error) {
      // A new host name takes a moment to propagate.
      last = error instanceof Error ? error.message : String(error)
    }
    await sleep(BETWEEN_MS)
  }
  throw new Blocked(`The Worker is deployed but not ready: ${last}. Fix that and deploy again.`)
}

/** @param {import('./command.mjs').Deploying} deploying @param {string} origin @param {string} bearer */
const calling =
  ({ fetch }, origin, bearer) =>
  async (/** @type {string} */ method, /** @type {string} */ path, /** @type {any} */ body) => {
    const response = await fetch(`${origin}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${bearer}`,
        accept: 'application/json, text/event-stream',
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const answer = await response.json().catch(() => ({}))
    if (!response.ok) throw new Blocked(`${path} answered ${response.status}: ${answer.error?.message ?? 'nothing'}`)
    return answer
  }

/**
 * @param {import('./command.mjs').Deploying} deploying
 * @param {string} origin
 * @param {string} token ADMIN_TOKEN
 * @returns {Promise<{ key: string | null, org: string }>} the first admin key, if there was none
 */
export async function prove(deploying, origin, token) {
  const admin = calling(deploying, origin, token)
  const { orgs } = await admin('GET', '/api/v1/orgs', null)
  const org = deploying.options.org ?? orgs[0]?.id ?? 'main'
  if (!orgs.some((/** @type {{ id: string }} */ { id }) => id === org))
    await admin('POST', '/api/v1/orgs', { id: org, name: org })
  const { keys } = await admin('GET', `/api/v1/orgs/${org}/keys`, null)
  const proof = await admin('POST', `/api/v1/orgs/${org}/keys`, { name: THREAD, role: 'writer', capture: false })
  try {
    const call = calling(deploying, origin, proof.key)
    const tool = async (/** @type {string} */ name, /** @type {object} */ args) => {
      const { result, error } = await call('POST', '/mcp', {
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name, arguments: args },
      })
      if (error || result?.isError)
        throw new Blocked(
          `${name} failed: ${error?.message ?? result.structuredContent?.error?.message ?? 'no reason given'}`,
        )
      return result.structuredContent
    }
    const text = `The deployment of ${deploying.now().toISOString()} works.`
    const stored = await tool('store_context', { thread_id: THREAD, source: 'agent', text })
    const found = await tool('fts_search_context', { query: 'deployment works', thread_id: THREAD })
    const isFound = found.results?.some((/** @type {{ id: number }} */ { id }) => id === stored.context_id)
    await tool('delete_context', { context_ids: [stored.context_id] })
    if (!isFound) throw new Blocked('An entry was stored but not found by its words.')
    deploying.say('proof', 'one entry was stored, found by its words and deleted')
  } finally {
    await admin('DELETE', `/api/v1/orgs/${org}/keys/${proof.id}`, null)
  }
  const isKept = keys.some((/** @type {any} */ one) => one.role === 'admin' && !one.revoked_at)
  if (isKept) return { key: null, org }
  const first = await admin('POST', `/api/v1/orgs/${org}/keys`, { name: 'first admin', role: 'admin' })
  return { key: first.key, org }
}
