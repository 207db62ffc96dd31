import type { Principal } from '../domain/identity/scope'
import { sha256Hex } from '../domain/text'
import type { Services } from '../services/services'
import { type Credential, LOCAL } from './auth'
import { errorBody } from './error-body'

type Limiter = Services['limiter']
type Admission = Awaited<ReturnType<NonNullable<Limiter>['enter']>>

/** Applies the rate and concurrency limits of a key. Open mode and the operator have none. */
export async function enter(limiter: Limiter, credential: Credential, messages = 1): Promise<Admission | null> {
  if (limiter === null || credential.kind === 'operator' || credential.principal === LOCAL) return null
  const { name, atMostPerMinute } = countedOf(credential.principal)
  return limiter.enter(name, { messages, atMostPerMinute })
}

/** The name under which the requests of a key are counted, and its own limit. */
interface Counted {
  readonly name: string
  readonly atMostPerMinute: number | null
}

const countedOf = ({ keyId, limits }: Principal): Counted => ({
  name: limits?.countedAs ?? keyId,
  atMostPerMinute: limits?.requestsPerMinute ?? null,
})

/**
 * The counts of keys that this isolate has admitted, by the hash of the credential. The validity and limits of a key are still checked on
 * each request; the cache only lets the rate limiter be called in parallel with that check.
 */
const known = new Map<string, Counted>()
const MOST_KNOWN = 1000

function remember(sent: string, counted: Counted): void {
  known.delete(sent)
  known.set(sent, counted)
  const [oldest] = known.keys()
  if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest)
}

/**
 * Authenticates a request and checks the limits of its key, in parallel where this isolate already knows the key.
 *
 * @param authorization the header
 * @param authenticate throws Problem unauthorized, which takes precedence over the limits
 * @param afterwards for work that the response does not wait for
 */
export async function admit(
  { authorization, limiter, afterwards }: Pick<Services, 'limiter' | 'afterwards'> & { authorization: string | null },
  authenticate: () => Promise<Credential>,
): Promise<{ readonly credential: Credential; readonly admission: Admission | null }> {
  if (limiter === null || authorization === null) {
    const credential = await authenticate()
    return { credential, admission: await enter(limiter, credential) }
  }
  const sent = await sha256Hex(authorization)
  const before = known.get(sent)
  const early = before === undefined ? null : limiter.enter(before.name, { atMostPerMinute: before.atMostPerMinute })
  const leaveEarly = () =>
    early !== null && afterwards(early.then((admission) => (admission.admitted ? admission.leave() : undefined)))
  const credential = await authenticate().catch((error: unknown) => {
    known.delete(sent)
    leaveEarly()
    throw error
  })
  const counted = credential.kind === 'principal' ? countedOf(credential.principal) : null
  if (counted !== null) remember(sent, counted)
  if (early !== null && counted?.name === before?.name && counted?.atMostPerMinute === before?.atMostPerMinute)
    return { credential, admission: await early }
  leaveEarly()
  return { credential, admission: await enter(limiter, credential) }
}

/** Returns 429: as JSON-RPC on the MCP endpoint, in the platform's own form elsewhere. */
export function refuse(admission: Extract<Admission, { admitted: false }>, request: Request): Response {
  const { exceeded, retryAfter } = admission
  const limit = exceeded === 'perMinute' ? 'too many requests in a minute' : 'too many requests at the same time'
  const message = `This key sends ${limit}; try again in ${retryAfter} s`
  const body = errorBody(request, { code: 'limit_exceeded', message, retryable: true }, { retry_after: retryAfter })
  return Response.json(body, { status: 429, headers: { 'Retry-After': String(retryAfter) } })
}

/** Calls `over` once the response has been sent or the client has disconnected: a tool may still run while its answer streams. */
export function whenSent(response: Response, over: () => void): Response {
  if (response.body === null) {
    over()
    return response
  }
  const counted = new TransformStream({ flush: over, cancel: over })
  return new Response(response.body.pipeThrough(counted), response)
}
