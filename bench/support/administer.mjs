/**
 * Makes an organization, or a project or a key of one, as its administrator.
 *
 * @param {string} origin of a server with ADMIN_TOKEN
 * @param {string} token
 * @param {string} path after `/api/v1/orgs`
 * @param {Record<string, unknown>} body
 */
export async function administer(origin, token, path, body) {
  const response = await fetch(`${origin}/api/v1/orgs${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`POST /api/v1/orgs${path} answered ${response.status}: ${await response.text()}`)
  return response.json()
}
