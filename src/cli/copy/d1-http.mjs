// Connects to a deployed D1 through Cloudflare's API, with the methods of the binding that the adapter calls.
import { Failure } from '../postgres/connect.mjs'

const API = process.env.CLOUDFLARE_API_BASE_URL ?? 'https://api.cloudflare.com/client/v4'

/**
 * @param {string} id of the database, as shown by `wrangler d1 list`
 * @returns {{ database: D1Database, close: () => Promise<void> }}
 */
export function openRemote(id) {
  const { CLOUDFLARE_ACCOUNT_ID: account, CLOUDFLARE_API_TOKEN: token } = process.env
  if (!account || !token)
    throw new Failure(
      'Set CLOUDFLARE_ACCOUNT_ID and CLOUDFLARE_API_TOKEN (a token with permission to edit D1) to reach a deployed D1.',
    )
  const url = `${API}/accounts/${encodeURIComponent(account)}/d1/database/${encodeURIComponent(id)}/query`

  /** Runs a batch as one transaction. */
  async function batch(statements) {
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ batch: statements.map(({ sql, params }) => ({ sql, params })) }),
    }).catch((error) => {
      throw new Failure(`Cannot reach Cloudflare's API: ${error.cause?.message ?? error.message}`)
    })
    const answer = await response.json().catch(() => ({}))
    if (!response.ok || answer.success === false) {
      const said = answer.errors?.map(({ message }) => message).join('; ') ?? `status ${response.status}`
      throw new Failure(`Cloudflare's API refused the request (D1 ${id}): ${said}`)
    }
    return answer.result
  }

  const prepare = (sql, params = []) => ({
    sql,
    params,
    bind: (...values) => prepare(sql, values),
    all: async () => (await batch([{ sql, params }]))[0],
    first: async () => (await batch([{ sql, params }]))[0]?.results[0] ?? null,
  })
  // Only the methods that the adapter calls.
  return { database: /** @type {any} */ ({ prepare, batch }), close: async () => {} }
}
