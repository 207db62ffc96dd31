// `commonplace stdio`: MCP over standard input and output, for clients that only start programs. The SDK's own transports pass messages
// unchanged, in whatever revision both ends use.
import { PassThrough } from 'node:stream'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { credentialHeaders } from './server.mjs'

/** Returns the address of the endpoint: as given, or the core tools. */
const endpointOf = (/** @type {string} */ url) => {
  const named = new URL(url)
  return named.pathname === '/' ? new URL('/mcp/core', named) : named
}

const INTERNAL = -32603
/** How long to wait for pending answers after the client has closed its input. */
const LAST_ANSWERS_MS = 60_000

/** @param {{ url: string }} options @returns {Promise<void>} when the client has disconnected and has its answers */
export async function stdio({ url }) {
  const endpoint = endpointOf(url)
  const server = new StreamableHTTPClientTransport(endpoint, { requestInit: { headers: credentialHeaders(url) } })
  // The transport closes with its input, so the end of input is held back until the last answers are written.
  const input = process.stdin.pipe(new PassThrough(), { end: false })
  const client = new StdioServerTransport(input)
  /** Ids of requests without an answer. @type {Set<unknown>} */
  const open = new Set()
  let hasEnded = false
  const endWhenAnswered = () => {
    if (hasEnded && open.size === 0) input.end()
  }
  const answer = (/** @type {any} */ message) => {
    // The client may have disconnected.
    client.send(message).catch(() => {})
    if (message.method === undefined) open.delete(message.id)
    endWhenAnswered()
  }
  // Standard output is reserved for the protocol.
  const tell = (/** @type {string} */ what) => console.error(`commonplace stdio: ${what}`)
  server.onmessage = answer
  server.onerror = () => {}
  client.onmessage = (message) => {
    const isRequest = 'id' in message && 'method' in message
    if (isRequest) open.add(message.id)
    server.send(message).catch((error) => {
      tell(`${endpoint.origin}: ${error.message}`)
      if (!isRequest) return
      const failed = { code: INTERNAL, message: `${endpoint.origin}: ${error.message}` }
      answer({ jsonrpc: '2.0', id: message.id, error: failed })
    })
  }
  const gone = new Promise((resolve) => {
    client.onclose = () => resolve(undefined)
  })
  process.stdin.once('end', () => {
    hasEnded = true
    setTimeout(() => input.end(), LAST_ANSWERS_MS).unref()
    // The last message is processed in the next tick.
    setImmediate(endWhenAnswered)
  })
  await server.start()
  await client.start()
  await gone
  await server.close()
}
