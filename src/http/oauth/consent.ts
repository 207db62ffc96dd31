import {
  AuthorizationError,
  type AuthRequest,
  authorizationErrorRedirect,
  CimdFetchError,
  type OAuthHelpers,
} from '@cloudflare/workers-oauth-provider'
import { Problem } from '../../domain/errors'
import type { Principal } from '../../domain/identity/scope'
import type { Services } from '../../services/services'
import { type Page, respondWithPage } from '../html'
import { isAcceptableClientId } from './client-ids'
import { createPageToken, isFromOurPage, pageCookie, readForm } from './form'
import { type Client, consentPage, departurePage, troublePage } from './page'
import { SCOPE } from './provider'
import { destinationOf, isAllowedRedirect, leadsToApp } from './redirect-uris'
import { withoutSlash } from './resources'

/** Serves `/authorize`: shows who asks for which access, accepts a key or a refusal, and redirects back. */
interface Situation {
  readonly request: Request
  readonly helpers: OAuthHelpers
  readonly services: Pick<Services, 'identity' | 'administration'>
}

const STALE = 'This page was open for too long, or in another window. Paste the key again.'
const EMPTY = 'Paste the key.'
const UNKNOWN = 'This key is not valid. It may have been mistyped, have expired or have been revoked.'
const OPERATOR = 'This is the ADMIN_TOKEN, which belongs to no organization. Make a key with it, and paste that key.'

const respond = (page: Page, { origin }: URL, status: number, headers: Record<string, string> = {}) =>
  respondWithPage(page, { origin, status, forms: true, headers })

/** @throws AuthorizationError, CimdFetchError */
async function parse(helpers: OAuthHelpers, request: Request): Promise<AuthRequest> {
  const url = new URL(request.url)
  if (!isAcceptableClientId(url.searchParams.get('client_id') ?? ''))
    throw new AuthorizationError('invalid_request', { description: 'Invalid client_id' })
  if (!isAllowedRedirect(url.searchParams.get('redirect_uri') ?? ''))
    throw new AuthorizationError('invalid_request', { description: 'Invalid redirect URI' })
  const resources = url.searchParams.getAll('resource')
  url.searchParams.delete('resource')
  for (const resource of resources) url.searchParams.append('resource', withoutSlash(resource))
  // The body is not passed on: the provider reads the address only.
  const asked = await helpers.parseAuthRequest(new Request(url))
  // The provider allows clients with a secret to omit PKCE; OAuth 2.1 does not.
  if (!/^[\w-]{43}$/.test(asked.codeChallenge ?? ''))
    throw new AuthorizationError('invalid_request', {
      description: 'A code_challenge with S256 is required',
      redirectUri: asked.redirectUri,
      state: asked.state,
      issuer: url.origin,
    })
  return asked
}

async function describe(helpers: OAuthHelpers, asked: AuthRequest): Promise<Client> {
  const { clientName, clientDomain, redirectIsLoopback } = await helpers.describeConsent(asked)
  const { redirectUri } = asked
  const local = redirectIsLoopback || leadsToApp(redirectUri)
  return { name: clientName, publisher: clientDomain ?? null, destination: destinationOf(redirectUri), local }
}

/** Returns the holder of the pasted key, or the message that explains why there is none. One read of the database at most. */
async function holderOf(key: string, identity: Services['identity']): Promise<Principal | string> {
  if (key === '') return EMPTY
  if (await identity.isAdminToken(key)) return OPERATOR
  try {
    return await identity.principalOfKey(key)
  } catch (error) {
    if (error instanceof Problem && error.code === 'unauthorized') return UNKNOWN
    throw error
  }
}

/** Makes the grant. If the audit log fails, the code is not sent, and the grant ends unused. */
async function grant({ helpers, services }: Situation, asked: AuthRequest, principal: Principal): Promise<string> {
  const { keyId } = principal
  const { redirectTo } = await helpers.completeAuthorization({
    request: asked,
    userId: keyId,
    metadata: {},
    scope: [SCOPE],
    props: { keyId },
    // Several people may hold one key, each with an installation of the same client.
    revokeExistingGrants: false,
  })
  await services.administration.note({ ...principal, action: 'oauth.grant', tool: null }, true, { granted: 1 })
  return redirectTo
}

async function decide(situation: Situation, asked: AuthRequest): Promise<Response> {
  const { request, helpers, services } = situation
  const url = new URL(request.url)
  const client = await describe(helpers, asked)
  const families = /\/mcp\/(.+)$/.exec(asked.resource ?? '')?.[1] ?? null
  const ask = (error: string | null, status: number, token = createPageToken()) =>
    respond(consentPage({ client, token, error, families }), url, status, { 'Set-Cookie': pageCookie(token, url) })
  if (request.method !== 'POST') return ask(null, 200)

  const form = await readForm(request)
  if (form === null || !isFromOurPage(request, form)) return ask(STALE, 403)
  const token = form.get('page') as string
  const leave = (allowed: boolean, to: string) =>
    respond(departurePage(allowed, to, client.destination), url, 200, { 'Set-Cookie': pageCookie(token, url, 0) })
  if (form.get('decision') !== 'allow')
    return leave(false, authorizationErrorRedirect(asked, 'access_denied', 'The person refused'))
  const holder = await holderOf((form.get('key') ?? '').trim(), services.identity)
  if (typeof holder === 'string') return ask(holder, 400, token)
  return leave(true, await grant(situation, asked, holder))
}

/**
 * Answers GET and POST with a page. Anyone may register a client, so errors do not redirect: they show a link back
 * (RFC 9700 §4.11.2).
 */
export async function authorize(situation: Situation): Promise<Response> {
  const url = new URL(situation.request.url)
  try {
    return await decide(situation, await parse(situation.helpers, situation.request))
  } catch (error) {
    if (error instanceof CimdFetchError)
      return respond(troublePage('The description of this app could not be fetched or is not valid.'), url, 400)
    // These errors are shown to the person; the server answers and logs all others.
    if (error instanceof Problem && error.cause === undefined) return respond(troublePage(error.message), url, 503)
    if (!(error instanceof AuthorizationError)) throw error
    const way =
      error.redirectTo === undefined ? null : { to: error.redirectTo, destination: destinationOf(error.redirectTo) }
    return respond(troublePage(`The app sent an invalid request: ${error.description}`, way), url, 400)
  }
}
