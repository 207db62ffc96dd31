// `hook.mjs mcp`: MCP over stdio to `/mcp/core`, for clients whose plugins cannot name a URL. (capture contract §2)
import { isFields } from './events.mjs'
import { post } from './send.mjs'
import { settingsOf } from './settings.mjs'

const LONGEST_CALL_MS = 60_000
/** For what clients ask at their start and wait for before the first turn (Copilot: `tools/list`). */
const LONGEST_LIST_MS = 5_000
/** For answers on their way when the input has ended. */
const LONGEST_END_MS = 800
const VERSION = '2025-06-18'
/** Revisions that the server speaks behind a handshake; whoever offers another is offered ours. */
const VERSIONS = [VERSION, '2025-11-25', '2025-03-26', '2024-11-05']

/** The last event's data, where the answer is a stream of events; null for what is no message. */
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
 * @returns {Promise<void>} when the input has ended and all that was asked is answered
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
      // What names no request, such as that there were too many, would leave the client waiting.
      const { message: why = `${url} answered ${answer.status}`, data } = isFields(said?.error) ? said.error : {}
      refuse(message.id, -32000, why, data)
    } catch (error) {
      if (message.id !== undefined) refuse(message.id, -32000, `no answer from ${url}: ${error.message}`)
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
      // At once: a client waits for it at its start, whether the server is there or not.
      const offered = message.params?.protocolVersion
      version = VERSIONS.includes(offered) ? offered : VERSION
      const serverInfo = { name: 'commonplace', version: '1.0.0-rc.1' }
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
  // A client that has closed the input is gone, or waits for this program to end.
  await Promise.race([Promise.all(open), new Promise((done) => setTimeout(done, LONGEST_END_MS))])
}
