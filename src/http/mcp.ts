import type { JSONRPCRequest, McpServerFactory } from '@modelcontextprotocol/server'
import { createMcpHandler } from 'agents/mcp/server'
import type { ParserOptions } from '../domain/json/parser'
import { listChanges } from '../tools/history/list-changes'
import { isArguments, isImageData, longestString, MAX_MEMBERS } from '../tools/request-strings'
import { MAX_BODY_BYTES, readJsonBody } from './body'
import { createChunkedResult } from './chunked-result'
import { isListening, type ListenMessage, serveListening } from './listen'
import type { McpRequest } from './mcp-message'
import { oneRequestOf, removeAbsentMembers, serveOneRequest } from './mcp-message'
import { createServer } from './mcp-server'
import { whileWaiting } from './waiting'

/** Serves MCP over streamable HTTP: one stateless endpoint for revision 2026-07-28 and every revision of 2025. */

const rpcError = (status: number, code: number, message: string): Response =>
  Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status })

const BOTH = 'application/json, text/event-stream'

/**
 * The request without its body, which has been read. The answer is JSON or an event stream whatever `Accept` names, as RFC 9110
 * §12.5.1 allows: every client reads both, and many name one of them, `application/*`, or another type.
 */
function withoutBody({ url, method, headers: given, signal }: Request): Request {
  const headers = new Headers(given)
  headers.set('accept', BOTH)
  return new Request(url, { method, headers, signal })
}

/** The only revision that allows several messages in one list; it also applies to a request without the version header. */
const BATCHES = '2025-03-26'

interface Serving {
  readonly reading?: ParserOptions
  readonly admit?: McpRequest['admit']
  /** Answers a message that waits for a change; without it, the connection is silent meanwhile. */
  readonly late?: (answer: Promise<Response>) => Promise<Response>
  /** Answers a client that listens; without it, the SDK handler answers and sends no notifications. */
  readonly listen?: (httpRequest: Request, message: ListenMessage) => Promise<Response>
}

/** Returns whether a message waits for a change. A list of messages is answered as an event stream. */
function isWaiting(body: unknown): boolean {
  const { method, params } = (Array.isArray(body) ? {} : (body ?? {})) as JSONRPCRequest
  const { name, arguments: given } = (params ?? {}) as { name?: unknown; arguments?: { wait_seconds?: unknown } }
  return method === 'tools/call' && name === listChanges.name && Boolean(given?.wait_seconds)
}

/** Returns why a list of messages is refused, or null. Each message counts against the limits of the key. */
async function batchRefusal(headers: Headers, messages: number, { admit }: Serving): Promise<Response | null> {
  if ((headers.get('mcp-protocol-version') ?? BATCHES) !== BATCHES)
    return rpcError(400, -32600, `Invalid Request: lists of messages belong to revision ${BATCHES}; send one at a time`)
  return messages > 1 ? ((await admit?.(messages - 1)) ?? null) : null
}

/** Returns the SDK handler, which serves or refuses everything but single requests of a 2025 revision. */
function handlerOf({ url, headers }: Request, createServer: McpServerFactory, onerror: (error: Error) => void) {
  const { pathname, hostname, host } = new URL(url)
  return createMcpHandler(createServer, {
    route: pathname,
    // Host and Origin were checked for every route before this.
    allowedHostnames: [hostname, new URL(`http://${headers.get('host') ?? host}`).hostname],
    allowedOriginHostnames: '*',
    // The guard decides which pages may read an answer.
    corsOptions: false,
    maxRequestBodySize: MAX_BODY_BYTES,
    onerror,
  })
}

/**
 * Serves one HTTP request with a server made for it. The body is read here, because the SDK handler's own limit is too small
 * for images. Separate from `handleMcp`, so that the conformance suite can use its own server.
 */
export async function serveMcp(
  httpRequest: Request,
  createServer: McpServerFactory,
  onerror: (error: Error) => void,
  serving: Serving = {},
): Promise<Response> {
  const { headers, method } = httpRequest
  if (method !== 'POST') return handlerOf(httpRequest, createServer, onerror).fetch(httpRequest)
  const body = await readJsonBody(httpRequest, MAX_BODY_BYTES, serving.reading)
  if (body.kind === 'too_large') return rpcError(413, -32000, body.reason)
  if (body.kind === 'malformed') return rpcError(400, -32700, 'Parse error: the request body is not valid JSON')
  removeAbsentMembers(body.value)
  if (serving.listen !== undefined && isListening(body.value))
    return serving.listen(withoutBody(httpRequest), body.value)
  const message = oneRequestOf(headers, body.value)
  const late = (isWaiting(body.value) && serving.late) || ((answer: Promise<Response>) => answer)
  if (message !== null) return late(serveOneRequest(httpRequest, message, createServer))
  const refused = Array.isArray(body.value) ? await batchRefusal(headers, body.value.length, serving) : null
  if (refused !== null) return refused
  return late(handlerOf(httpRequest, createServer, onerror).fetch(withoutBody(httpRequest), { parsedBody: body.value }))
}

/** Answers one HTTP request to the endpoint. */
export async function handleMcp(httpRequest: Request, request: McpRequest): Promise<Response> {
  const { origin } = new URL(httpRequest.url)
  const { services, principal, release, admit } = request
  const apart = createChunkedResult()
  const createServerOf: McpServerFactory = ({ era }) => createServer(request, origin, era, apart.send)
  const onerror = (error: Error) =>
    request.log('DEBUG', 'mcp_rejected', { requestId: request.requestId, message: error.message })
  const listen: Serving['listen'] = (listening, message) =>
    serveListening(listening, message, { services, principal, createServer: createServerOf, onerror, release })
  let isFilled = false
  const response = await serveMcp(httpRequest, createServerOf, onerror, {
    reading: {
      isBase64: isImageData,
      maxBase64Bytes: request.config.imageLimits.each,
      longest: longestString,
      isBounded: isArguments,
      maxMembers: MAX_MEMBERS,
      maxValues: MAX_MEMBERS,
    },
    admit,
    late(answer) {
      isFilled = true
      return whileWaiting(answer.then(apart.fill), services.afterwards)
    },
    ...(request.offersResources ? { listen } : {}),
  })
  return isFilled ? response : apart.fill(response)
}
