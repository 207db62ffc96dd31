// `commonplace stdio`: MCP over standard input and output, for clients that only start programs. Messages pass as they are, by the SDK's
// own transports, in whatever revision the two ends speak.
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { credentialHeaders } from './server.mjs'

/** The address of the endpoint: what was named, or the tools of every day. */
const endpointOf = (/** @type {string} */ url) => {
  const named = new URL(url)
  return named.pathname === '/' ? new URL('/mcp/core', named) : named
}

const INTERNAL = -32603

/** @param {{ url: string }} options @returns {Promise<void>} when the client has gone */
export async function stdio({ url }) {
  const endpoint = endpointOf(url)
  const server = new StreamableHTTPClientTransport(endpoint, { requestInit: { headers: credentialHeaders(url) } })
  const client = new StdioServerTransport()
  // Standard output belongs to the protocol.
  const tell = (/** @type {string} */ what) => console.error(`commonplace stdio: ${what}`)
  server.onmessage = (message) => void client.send(message)
  server.onerror = () => {}
  client.onmessage = (message) => {
    server.send(message).catch((error) => {
      tell(`${endpoint.origin}: ${error.message}`)
      if (!('id' in message) || !('method' in message)) return
      void client.send({
        jsonrpc: '2.0',
        id: message.id,
        error: { code: INTERNAL, message: `${endpoint.origin}: ${error.message}` },
      })
    })
  }
  const gone = new Promise((resolve) => {
    client.onclose = () => resolve(undefined)
    process.stdin.once('end', () => resolve(undefined))
  })
  await server.start()
  await client.start()
  await gone
  await server.close()
}
