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
import type { Config } from '../config'
import type { Principal } from '../domain/identity/scope'
import type { Services } from '../services/services'
import type { Tool } from '../tools/define-tool'
import { isRecord } from '../tools/record'
import type { Log } from './log'
import type { Measure } from './measure'

/** Levels of a message that hold protocol members; deeper members are client data. */
const MAX_DEPTH = 8

/** Removes every member that is null. @param depth levels below this one */
function prune(value: unknown, depth: number): void {
  if (depth === 0 || typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const item of value) prune(item, depth - 1)
    return
  }
  const members = value as Record<string, unknown>
  for (const name of Object.keys(members))
    if (members[name] === null) delete members[name]
    else prune(members[name], depth - 1)
}

/**
 * Removes null protocol members from a message. Clients in Python, Go and C# send null for an optional member that they do not
 * set (`params`, `arguments`, `_meta`, `cursor`, capabilities, prompt arguments). In the arguments of a tool, null keeps the meaning
 * that the tool's schema gives it.
 *
 * @param message a request or notification, or a list of them; it is changed in place
 */
export function removeAbsentMembers(message: unknown): void {
  if (Array.isArray(message)) {
    for (const one of message) removeAbsentMembers(one)
    return
  }
  if (!isRecord(message) || typeof message.method !== 'string') return
  const { params: sent } = message
  if (sent === null || (Array.isArray(sent) && sent.length === 0)) delete message.params
  // A notification has no id.
  if (message.id === null && message.method.startsWith('notifications/')) delete message.id
  const { params } = message
  if (!isRecord(params)) return
  const ofTool = message.method === 'tools/call' && isRecord(params.arguments) ? params.arguments : null
  if (ofTool !== null) delete params.arguments
  // PHP writes an empty object as a list.
  else if (Array.isArray(params.arguments) && params.arguments.length === 0) delete params.arguments
  if (message.method === 'initialize') emptyWhereNull(params, 'capabilities')
  if (isRecord(params._meta)) emptyWhereNull(params._meta, 'io.modelcontextprotocol/clientCapabilities')
  prune(params, MAX_DEPTH)
  if (ofTool !== null) params.arguments = ofTool
}

/** Replaces a required protocol member that is null or an empty list with an empty object. */
function emptyWhereNull(holder: Record<string, unknown>, name: string): void {
  const value = holder[name]
  if (value === null || (Array.isArray(value) && value.length === 0)) holder[name] = {}
}

/** Dependencies of one request to the endpoint. */
export interface McpRequest {
  readonly config: Config
  readonly services: Services
  readonly principal: Principal
  readonly tools: readonly Tool[]
  /** Names of tools that are called here but not offered, each with the equivalent call. */
  readonly instead?: Readonly<Record<string, string>>
  /** Whether resources, prompts and completions are served in addition to the tools. */
  readonly offersResources: boolean
  /** Whether threads are listed as resources. */
  readonly listsThreads: boolean
  /** Whether clients that show MCP Apps get them. */
  readonly offersApps?: true
  readonly requestId: string
  readonly log: Log
  /** Receives each call and its outcome; absent where they are not recorded. */
  readonly measure?: Pick<Measure, 'answered' | 'called' | 'rendered' | 'traced'> | undefined
  /** Counts further messages of the same request against the limits of its key; returns the answer if they exceed them. */
  readonly admit: (messages: number) => Promise<Response | null>
  /** Marks the request as an open stream, which no longer counts as a running request. */
  readonly release: () => void
}

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

/** Addresses of the MCP endpoint. Clients and people append a trailing slash to them. */

/** Returns a path without its one trailing slash. */
export const withoutClosingSlash = (path: string): string =>
  path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path

/** Returns whether a path is the endpoint or below it. */
export const isMcpPath = (path: string): boolean => /^\/mcp(\/|$)/.test(path)

/** Paths that are routed without their trailing slash. */
const FORGIVING = /^\/(mcp|health|ready|\.well-known)(\/|$)/

/** Returns the path by which a request is routed. */
export const routedPath = (path: string): string => (FORGIVING.test(path) ? withoutClosingSlash(path) : path)
