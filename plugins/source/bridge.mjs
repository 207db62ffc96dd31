// `hook.mjs mcp`: MCP over stdio to `/mcp/core`, for clients whose plugins cannot name a URL (capture contract §2).
import { isFields } from './events.mjs'
import { post } from './send.mjs'
import { settingsOf } from './settings.mjs'

const LONGEST_CALL_MS = 60_000
/** Timeout of requests that clients wait for at their start (Copilot: `tools/list`). */
const LONGEST_LIST_MS = 5_000
/** Time to wait for pending answers after the input has ended. */
const LONGEST_END_MS = 800
const VERSION = '2025-06-18'
/** Revisions that the server supports with a handshake; a client that offers another gets the newest of these. */
const VERSIONS = [VERSION, '2025-11-25', '2025-03-26', '2024-11-05']

/** Returns the last event's data, if the answer is a stream of events; null if it is not a message. */
function messageIn({ text, type }) {
  if (!type.includes('text/event-stream')) return objectIn(text)
  const data = text.split(/\r?\n\r?\n/).flatMap((event) => {
    const lines = event.split(/\r?\n/).filter((line) => line.startsWith('data:'))
    return lines.length === 0 ? [] : [lines.map((line) => line.slice(5).trimStart()).join('\n')]
  })
  return objectIn(data.at(-1) ?? '')
}

function objectIn(text) {
  try {
    const value = JSON.parse(text)
    return isFields(value) ? value : null
  } catch {
    return null
  }
}

/**
 * @param {{ env: Record<string, string | undefined>, home: string, input: NodeJS.ReadableStream, write: (line: string) => void }} around
 * @returns {Promise<void>} when the input has ended and every request is answered
 */
export async function bridge({ env, home, input, write }) {
  const { url, key } = settingsOf(env, home)
  const open = new Set()
  let version = VERSION
  const say = (message) => write(`${JSON.stringify(message)}\n`)
  const refuse = (id, code, message, data) => say({ jsonrpc: '2.0', id, error: { code, message, data } })

  async function forward(message) {
    try {
      const headers = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': version }
      const until = Date.now() + (message.method === 'tools/call' ? LONGEST_CALL_MS : LONGEST_LIST_MS)
      const answer = await post(`${url}/mcp/core`, { key, body: JSON.stringify(message), until, headers })
      if (message.id === undefined) return
      if (answer.status === 401 || answer.status === 403) return refuse(message.id, -32001, `${url} refuses the key`)
      const said = messageIn(answer)
      if (said?.id === message.id) return say(said)
      // An error without a request id, such as a rate limit, would leave the client waiting.
      const { message: why = `${url} answered ${answer.status}`, data } = isFields(said?.error) ? said.error : {}
      refuse(message.id, -32000, why, data)
    } catch (error) {
      if (message.id !== undefined) refuse(message.id, -32000, `cannot reach ${url}: ${error.message}`)
    }
  }

  function take(line) {
    let message
    try {
      message = JSON.parse(line)
    } catch {
      return refuse(null, -32700, 'no JSON')
    }
    if (!isFields(message)) return refuse(null, -32600, 'no request')
    if (message.method === 'initialize') {
      // Answered immediately: a client waits for it at its start, even if the server cannot be reached.
      const offered = message.params?.protocolVersion
      version = VERSIONS.includes(offered) ? offered : VERSION
      const serverInfo = { name: 'commonplace', version: '1.0.0' }
      return say({
        jsonrpc: '2.0',
        id: message.id,
        result: { protocolVersion: version, capabilities: { tools: {} }, serverInfo },
      })
    }
    if (message.method === 'ping') return say({ jsonrpc: '2.0', id: message.id, result: {} })
    if (typeof message.method !== 'string' || message.method.startsWith('notifications/')) return
    const work = forward(message).finally(() => open.delete(work))
    open.add(work)
  }

  let rest = ''
  input.setEncoding('utf8')
  for await (const piece of input) {
    const lines = `${rest}${piece}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.trim() !== '') take(line)
  }
  if (rest.trim() !== '') take(rest)
  // A client that has closed the input has exited, or waits for this program to end.
  await Promise.race([Promise.all(open), new Promise((done) => setTimeout(done, LONGEST_END_MS))])
}
