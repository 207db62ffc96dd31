// An MCP client that costs as little as possible: one kept-alive connection, one JSON-RPC POST a call. The server is
// stateless and answers the 2025 revisions without `initialize`.
import { Agent, request } from 'node:http'

export const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2025-11-25',
}

/**
 * @param {string} origin of a server
 * @param {() => Record<string, string>} [headers] of the next call
 */
export function createClient(origin, headers = () => ({})) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  let id = 0

  const post = (body, path = '/mcp') =>
    new Promise((resolve, reject) => {
      const outgoing = request(
        new URL(path, origin).href,
        { method: 'POST', agent, headers: { ...HEADERS, ...headers(), 'content-length': Buffer.byteLength(body) } },
        (response) => {
          const parts = []
          response.on('data', (part) => parts.push(part))
          response.on('error', reject)
          response.on('end', () =>
            resolve({ status: response.statusCode, text: Buffer.concat(parts).toString('utf8') }),
          )
        },
      )
      // The server may close an idle connection at the moment of its reuse; the call was not read then.
      outgoing.on('error', (/** @type {NodeJS.ErrnoException} */ error) => {
        if (outgoing.reusedSocket && error.code === 'ECONNRESET') post(body, path).then(resolve, reject)
        else reject(error)
      })
      outgoing.end(body)
    })

  /** @returns {Promise<{ms: number, result: any}>} */
  const rpc = async (method, params) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params })
    const started = performance.now()
    const { status, text } = await post(body)
    const ms = performance.now() - started
    const message = readMessage(text)
    if (status !== 200 || message?.result === undefined)
      throw new Error(`${method} answered ${status}: ${text.slice(0, 500)}`)
    return { ms, result: message.result }
  }

  return {
    /**
     * Calls a tool, or posts to a route; the milliseconds end with the last byte of the answer.
     *
     * @param {string} name or the path of a route
     * @param {Record<string, unknown>} args
     * @returns {Promise<{ms: number, content: any}>}
     */
    async call(name, args) {
      if (name.startsWith('/')) {
        const started = performance.now()
        const { status, text } = await post(JSON.stringify(args), name)
        if (status !== 200) throw new Error(`${name} answered ${status}: ${text.slice(0, 500)}`)
        return { ms: performance.now() - started, content: JSON.parse(text) }
      }
      const { ms, result } = await rpc('tools/call', { name, arguments: args })
      if (result.isError) throw new Error(`${name} failed: ${result.content?.[0]?.text?.slice(0, 500)}`)
      return { ms, content: result.structuredContent }
    },

    /**
     * Asks for anything else than a tool.
     *
     * @param {string} method
     * @param {Record<string, unknown>} params
     * @returns {Promise<{ms: number, result: any}>}
     */
    request: rpc,

    /** @returns {Promise<string[]>} names of the tools */
    async toolNames() {
      const { result } = await rpc('tools/list', {})
      return result.tools.map(({ name }) => name)
    },

    close: () => agent.destroy(),
  }
}

/** @typedef {ReturnType<typeof createClient>} Client */

/** The answer is one JSON text, or an event stream whose last data line is it. */
export function readMessage(text) {
  const data = text.startsWith('{')
    ? text
    : text
        .split('\n')
        .filter((line) => line.startsWith('data: {'))
        .at(-1)
        ?.slice(6)
  return data === undefined ? undefined : JSON.parse(data)
}
