import { unavailable } from '../../domain/errors'
import { sha256Hex } from '../../domain/text'
import type { Services } from '../../services/services'
import { clientIdOf } from './client-ids'
import { oauthError } from './provider'
import { TOKEN } from './resources'

/**
 * Encrypts answers to a refresh with the refresh token that was exchanged: only a client that presents the same token again can read
 * them, and a stored token cannot be read without another one.
 */
const bytesOf = (text: string) => new TextEncoder().encode(text)
const IV_BYTES = 12

async function keyFor(token: string): Promise<CryptoKey> {
  const digest = await crypto.subtle.digest('SHA-256', bytesOf(`answer to a refresh\n${token}`))
  return crypto.subtle.importKey('raw', digest, 'AES-GCM', false, ['encrypt', 'decrypt'])
}

/** @param token 192 random bits, so that the key needs no further derivation */
export async function sealAnswer(token: string, answer: object): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
  const sealed = await crypto.subtle.encrypt(
    { name: 'AES-GCM', iv },
    await keyFor(token),
    bytesOf(JSON.stringify(answer)),
  )
  return btoa(String.fromCharCode(...iv, ...new Uint8Array(sealed)))
}

/** @throws if it was not sealed with this token */
export async function openAnswer(token: string, text: string): Promise<unknown> {
  const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
  const iv = bytes.subarray(0, IV_BYTES)
  const key = await keyFor(token)
  const opened = await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, key, bytes.subarray(IV_BYTES))
  return JSON.parse(new TextDecoder().decode(opened))
}

/**
 * Handles token requests, one at a time for each grant. The provider reads a grant from KV, checks it and writes it back, which is not
 * atomic: two requests at the same time would both succeed. Locks decide which codes and tokens were used, whatever KV still returns.
 */
interface Deps {
  readonly turns: Services['grantTurns']
  /** Lets the provider answer a form; the answer is marked where a replaced refresh token was used. */
  readonly serve: (form: URLSearchParams) => Promise<Response>
  /** Whether the answer of `serve` has that mark. */
  readonly isReuse: (response: Response) => boolean
  readonly endGrant: (grant: Grant, reason: string) => Promise<void>
  readonly hasGrant: (grant: Grant) => Promise<boolean>
}

export interface Grant {
  readonly userId: string
  readonly grantId: string
}

const INVALID = () =>
  oauthError(400, 'invalid_grant', 'The code or refresh token was used before, or its grant has ended')
function tryAgain(): Response {
  const response = oauthError(503, 'temporarily_unavailable', 'The grant is being updated; try again in 2 s')
  response.headers.set('Retry-After', '2')
  return response
}

type Kind = 'code' | 'refresh' | 'revocation'

/** The code or token that the provider uses to decide a request. */
function presentedIn(form: URLSearchParams): { kind: Kind; token: string } | null {
  const type = form.get('grant_type') ?? ''
  if (type === 'authorization_code') return { kind: 'code', token: form.get('code') ?? '' }
  if (type === 'refresh_token') return { kind: 'refresh', token: form.get('refresh_token') ?? '' }
  return type === '' && form.has('token') ? { kind: 'revocation', token: form.get('token') ?? '' } : null
}

/** The fields of a form by which a client proves itself. */
const PROOFS = ['client_id', 'client_secret', 'client_assertion', 'client_assertion_type']

/** A form that the provider answers with 200 for a client that proves itself, and that changes nothing. */
function proofOf(form: URLSearchParams): URLSearchParams {
  const proof = new URLSearchParams({ token: 'none' })
  for (const name of PROOFS) for (const value of form.getAll(name)) proof.append(name, value)
  return proof
}

interface Answer {
  readonly refresh_token?: string
  readonly expires_in?: number
}

interface Kept {
  readonly client: string
  readonly answer: Answer
}

/** @param authorization the header of the request, in which a client may name itself */
export async function answerTokenRequest(
  form: URLSearchParams,
  authorization: string | null,
  { turns, serve, isReuse, endGrant, hasGrant }: Deps,
): Promise<Response> {
  const presented = presentedIn(form)
  if (presented === null) return serve(form)
  const { kind, token } = presented
  // No code or token of another form was ever issued, so the provider refuses it.
  if (!TOKEN.test(token)) return serve(form)
  const [userId = '', grantId = ''] = token.split(':')
  const grant = { userId, grantId }
  const client = clientIdOf(form, authorization)
  const asked = { kind, hash: await sha256Hex(token) }
  const { verdict, finish } = await turns.begin(`${userId}:${grantId}`, asked).catch((cause: unknown) => {
    throw unavailable('The grant could not be read; try again', cause)
  })

  /** For a request that is not carried out: a client that does not prove itself gets no information and ends no grant. */
  async function answerUsed(): Promise<{ response: Response; ends: boolean }> {
    const proof = await serve(proofOf(form))
    if (proof.status !== 200) return { response: proof, ends: false }
    if (verdict.kind !== 'again') return { response: INVALID(), ends: verdict.kind === 'refused' && verdict.endsGrant }
    const kept = (await openAnswer(token, verdict.answer)) as Kept
    if (kept.client !== client) return { response: INVALID(), ends: false }
    const left = Math.max(0, (kept.answer.expires_in ?? 0) - Math.ceil(verdict.age / 1000))
    const headers = { 'Cache-Control': 'no-store', Pragma: 'no-cache' }
    return { response: Response.json({ ...kept.answer, expires_in: left }, { headers }), ends: false }
  }

  let isOver = false
  const end = async (outcome: Parameters<typeof finish>[0]): Promise<boolean> => {
    isOver = true
    return finish(outcome)
  }
  try {
    if (verdict.kind !== 'go') {
      const { response, ends } = await answerUsed()
      if (ends)
        await endGrant(grant, kind === 'code' ? 'its code was used again' : 'a replaced refresh token was used again')
      await end({ kind: ends ? 'ended' : 'unchanged' })
      return response
    }
    const response = await serve(form)
    if (kind === 'revocation') {
      const isGone = response.ok && !(await hasGrant(grant))
      await end({ kind: isGone ? 'ended' : 'unchanged' })
      return response
    }
    if (response.ok) {
      const answer = (await response.clone().json()) as Answer
      const next = answer.refresh_token === undefined ? null : await sha256Hex(answer.refresh_token)
      const sealed = kind === 'code' ? null : await sealAnswer(token, { client, answer } satisfies Kept)
      return (await end({ kind: 'exchanged', next, answer: sealed })) ? response : tryAgain()
    }
    // KV may still return an older state of the grant than the locks know. A token that the locks do not know may be invented.
    return isReuse(response) && verdict.isKnown ? tryAgain() : response
  } finally {
    if (!isOver) await end({ kind: 'unchanged' }).catch(() => {})
  }
}
