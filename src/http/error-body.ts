import type { ProblemCode } from '../domain/errors'
import { isMcpPath } from './mcp-message'

interface Refusal {
  readonly code: ProblemCode
  /** A sentence for the user of the client. */
  readonly message: string
  readonly retryable: boolean
}

/** The JSON-RPC code of a server error; the product's code is in `data.code`. */
const SERVER_ERROR = -32_000

/** Returns whether the client that sent a request reads JSON-RPC: it called the endpoint, or used a wrong address of it. */
function speaksJsonRpc({ method, url }: Request): boolean {
  const { pathname } = new URL(url)
  return isMcpPath(pathname) || (method === 'POST' && !/^\/(api|token|register|authorize)(\/|$)/.test(pathname))
}

/**
 * Returns the JSON body of an error. Clients of MCP show the message of a JSON-RPC error and hide every other body; both
 * forms have their sentence in `error.message`.
 *
 * @param details further members
 */
export function errorBody(request: Request, { code, message, retryable }: Refusal, details: object = {}): object {
  if (!speaksJsonRpc(request)) return { error: { code, message, retryable, ...details } }
  return { jsonrpc: '2.0', id: null, error: { code: SERVER_ERROR, message, data: { code, retryable, ...details } } }
}

/** The HTTP status of each problem. */
export const STATUS: Readonly<Record<ProblemCode, 400 | 401 | 403 | 404 | 409 | 413 | 500 | 501 | 503>> = {
  invalid_input: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  limit_exceeded: 413,
  internal: 500,
  unsupported: 501,
  unavailable: 503,
}
