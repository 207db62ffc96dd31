// Answers one request of a 2025 revision with one JSON text, which costs less than an event stream of a single event.
import {
  isJSONRPCRequest,
  isJsonContentType,
  type JSONRPCRequest,
  type McpServerFactory,
  PerRequestHTTPServerTransport,
  PROTOCOL_VERSION_META_KEY,
  SdkError,
  SdkErrorCode,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server'

/** The client disconnected before its answer was ready. */
const CLIENT_GONE = 499

const isEventStream = ({ headers }: Response): boolean => headers.get('content-type') === 'text/event-stream'

/**
 * Returns the body if it is a single request of a 2025 revision; null for everything else, which the SDK's own handler answers or refuses.
 */
export function oneRequestOf(headers: Headers, body: unknown): JSONRPCRequest | null {
  const version = headers.get('mcp-protocol-version')
  if (version !== null && !SUPPORTED_PROTOCOL_VERSIONS.includes(version)) return null
  if (!isJsonContentType(headers.get('content-type')) || !isJSONRPCRequest(body)) return null
  const { _meta: meta } = body.params ?? {}
  // A message that names its revision is of 2026-07-28 or later.
  return meta !== undefined && PROTOCOL_VERSION_META_KEY in meta ? null : body
}

/**
 * Answers with a server made for this request. A notification before the answer would make it an event stream; our server sends none.
 *
 * @throws any error of the factory
 */
export async function serveOneRequest(
  httpRequest: Request,
  message: JSONRPCRequest,
  createServer: McpServerFactory,
): Promise<Response> {
  const server = await createServer({ era: 'legacy', requestInfo: httpRequest })
  const transport = new PerRequestHTTPServerTransport({ classification: { era: 'legacy' } })
  const send = transport.send.bind(transport)
  transport.send = async (sent, options) => {
    // Without a session, the client's answer could not reach this request, and a tool would wait for it.
    if ('method' in sent && isJSONRPCRequest(sent))
      return transport.onmessage?.({ jsonrpc: '2.0', id: sent.id, error: UNASKED })
    // After its answer the server has nothing to close: closing it would cost an error with its stack.
    if (!('method' in sent)) transport.onclose = () => {}
    await send(sent, options)
  }
  await server.connect(transport)
  try {
    const response = await transport.handleMessage(message, { request: httpRequest })
    // In these revisions the answer reports what is wrong with a message; 404 would mean that the session has ended.
    if (response.ok || isEventStream(response)) return response
    return new Response(response.body, { headers: response.headers })
  } catch (error) {
    if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed)
      return new Response(null, { status: CLIENT_GONE })
    throw error
  }
}

const UNASKED = { code: -32603, message: 'This server keeps no sessions, so it cannot ask the client during a call' }
