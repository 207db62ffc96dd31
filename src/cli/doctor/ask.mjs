// Sends one request of a check. It never throws: the check reports the error.
const LONGEST_MS = 10_000

/**
 * @param {Pick<import('./command.mjs').Around, 'url' | 'key'>} around
 * @param {string} path
 * @param {{ method?: string, body?: unknown, accept?: string }} [options]
 * @returns {Promise<{ status: number, json: any }>} status 0 without a response, and json is the reason
 */
export async function ask({ url, key }, path, { method = 'GET', body, accept = 'application/json' } = {}) {
  try {
    const response = await fetch(`${url}${path}`, {
      method,
      redirect: 'manual',
      signal: AbortSignal.timeout(LONGEST_MS),
      headers: {
        accept,
        ...(key === '' ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, json: jsonOf(text) }
  } catch (error) {
    return { status: 0, json: error.cause?.message ?? error.message }
  }
}

function jsonOf(text) {
  try {
    return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text)
  } catch {
    return null
  }
}

/** Calls one tool. */
export const callTool = (around, name, args) =>
  ask(around, '/mcp', {
    method: 'POST',
    accept: 'application/json, text/event-stream',
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
  })
