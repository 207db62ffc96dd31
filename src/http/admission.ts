import type { Services } from '../services/services'
import { type Credential, LOCAL } from './auth'

type Limiter = Services['limiter']
type Admission = Awaited<ReturnType<NonNullable<Limiter>['enter']>>

/** Limits of each key, as HTTP answers them. Open mode and the operator have none. */
export async function enter(limiter: Limiter, credential: Credential, messages = 1): Promise<Admission | null> {
  if (limiter === null || credential.kind === 'operator' || credential.principal === LOCAL) return null
  return limiter.enter(credential.principal.keyId, { messages })
}

/** 429 as JSON-RPC on the MCP endpoint, in the platform's own form elsewhere. */
export function refuse(admission: Extract<Admission, { admitted: false }>, path: string): Response {
  const { exceeded, retryAfter } = admission
  const limit = exceeded === 'perMinute' ? 'too many requests in a minute' : 'too many requests at the same time'
  const message = `This key sends ${limit}; try again in ${retryAfter} s`
  const body = path.startsWith('/mcp')
    ? {
        jsonrpc: '2.0',
        id: null,
        error: { code: -32000, message, data: { code: 'limit_exceeded', retryable: true, retry_after: retryAfter } },
      }
    : { error: { code: 'limit_exceeded', message, retryable: true } }
  return Response.json(body, { status: 429, headers: { 'Retry-After': String(retryAfter) } })
}

/** Calls `over` once the whole response has been sent, or nobody takes it any more: a tool may still work while its answer streams. */
export function whenSent(response: Response, over: () => void): Response {
  if (response.body === null) {
    over()
    return response
  }
  const counted = new TransformStream({ flush: over, cancel: over })
  return new Response(response.body.pipeThrough(counted), response)
}
