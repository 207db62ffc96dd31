import {
  AuthorizationError,
  type AuthRequest,
  authorizationErrorRedirect,
  CimdFetchError,
  type OAuthHelpers,
} from '@cloudflare/workers-oauth-provider'
import { html } from 'hono/html'
import { Problem } from '../../domain/errors'
import { MAX_NAME } from '../../domain/identity/identity'
import type { Principal } from '../../domain/identity/scope'
import type { Services } from '../../services/services'
import { frame, type Page, respondWithPage } from '../html'
import { destinationOf, isAcceptableClientId, isAllowedRedirect, leadsToApp } from './client-ids'
import { createPageToken, isFromOurPage, pageCookie, readForm } from './form'
import { SCOPE, withoutSlash } from './resources'

/**
 * Consent pages, which need no script. `html` escapes every value; names that clients choose
 * are cut, and cannot change the direction or order of the text around them.
 */
export interface Client {
  readonly name: string
  /** Host that publishes its metadata document; null for a client that registered itself. */
  readonly publisher: string | null
  /** The host that the person is redirected to. */
  readonly destination: string
  /** Whether that is a program on the person's own machine. */
  readonly local: boolean
}

/** Cuts a text that a client chose, and removes control characters, including those of writing direction. */
function tame(text: string): string {
  const plain = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ').trim()
  const points = [...plain]
  return points.length > MAX_NAME ? `${points.slice(0, MAX_NAME).join('')}…` : plain
}

interface Consent {
  readonly client: Client
  /** Binds the form to the browser that received it. */
  readonly token: string
  /** The error of the last submission. */
  readonly error: string | null
  /** Families that the client requested; null for all. */
  readonly families: string | null
  /** The person who is signed in, by the name of the key and the organization; null asks for a key. */
  readonly holder: { readonly owner: string; readonly org: string } | null
  /** Other ways to sign in. */
  readonly ways: readonly SignInWay[]
}

/** A link that signs in by an identity provider. */
export interface SignInWay {
  readonly label: string
  readonly href: string
}

const ON_YOUR_COMPUTER = html`<p class="note">This is a program on your own computer.
Continue only if you have just started connecting it yourself.</p>`

/** Asks whether a client may use the access of a key. The form is submitted to the address of the page. */
export function consentPage({ client, token, error, families, holder, ways }: Consent) {
  const name = tame(client.name)
  const described = error === null ? 'key-hint' : 'key-error key-hint'
  return frame(
    error === null ? `Allow ${name}?` : `Error: allow ${name}?`,
    html`<h1>Allow <bdi>${name}</bdi> to use your memory?</h1>
<dl>
<dt>Published by</dt><dd>${client.publisher ?? 'unknown: this app registered itself, and its name is not verified'}</dd>
<dt>You will be sent back to</dt><dd>${client.destination}</dd>
</dl>
${client.local ? ON_YOUR_COMPUTER : ''}
<h2>It will be able to</h2>
<ul>
<li>read memory, and change it as far as ${holder === null ? 'the key below' : 'your key'} may: in its organization and projects, with its role</li>
${families === null ? '' : html`<li>use these tools only: ${families}</li>`}
</ul>
<p class="hint">It never sees the key. Its access ends 30 days from now, or at once when the key is revoked.</p>
${holder === null ? ways.map(({ label, href }) => html`<p><a href="${href}">${label}</a></p>`) : ''}
<form method="post">
<input type="hidden" name="page" value="${token}">
${holder === null ? keyField(error, described) : html`${error === null ? '' : html`<p class="error" role="alert">${error}</p>`}<p class="note">You are signed in as <bdi>${holder.owner}</bdi> of ${holder.org}.</p>`}
<div class="actions">
<button class="main" name="decision" value="allow">Allow</button>
<button name="decision" value="refuse" formnovalidate>Refuse</button>
</div>
</form>`,
  )
}

const keyField = (error: string | null, described: string) => html`<label for="key">Your Commonplace key</label>
${error === null ? '' : html`<p class="error" id="key-error" role="alert">${error}</p>`}
<input id="key" name="key" type="password" autocomplete="off" autocapitalize="none" spellcheck="false" required
 aria-describedby="${described}" aria-invalid="${error === null ? 'false' : 'true'}"${error === null ? '' : html` autofocus`}>
<p class="hint" id="key-hint">It begins with cp_. An administrator of your organization makes keys.</p>`

/**
 * Sends the person back to the client. Chromium applies `form-action` to every redirect after a form, including those of the
 * client's own site, so this is a page of its own and not a redirect.
 */
export const departurePage = (allowed: boolean, to: string, destination: string) =>
  frame(
    allowed ? 'Allowed' : 'Refused',
    html`<h1>${allowed ? 'Allowed' : 'Refused'}</h1>
<p>You are being sent back. If nothing happens: <a href="${to}">continue to ${destination}</a></p>`,
    html`<meta http-equiv="refresh" content="0;url=${to}">
`,
  )

/** Explains why the request cannot be allowed. @param way back to the client, where the client is verified */
export const troublePage = (message: string, way: { to: string; destination: string } | null = null) =>
  frame(
    'The app cannot be connected',
    html`<h1>The app cannot be connected</h1>
<p role="alert">${message}</p>
${way === null ? '' : html`<p><a href="${way.to}">Back to ${way.destination}</a></p>`}`,
  )

/** Serves `/authorize`: shows who asks for which access, accepts a key or a refusal, and redirects back. */
interface Situation {
  readonly request: Request
  readonly helpers: OAuthHelpers
  readonly services: Pick<Services, 'identity' | 'administration'>
  /** The person whose dashboard session the browser has; null without one. */
  readonly visitor: Principal | null
  readonly ways: readonly SignInWay[]
}

const STALE = 'This page was open for too long, or in another window. Paste the key again.'
const EMPTY = 'Paste the key.'
const UNKNOWN = 'This key is not valid. It may have been mistyped, have expired or have been revoked.'
const OPERATOR = 'This is the ADMIN_TOKEN, which belongs to no organization. Make a key with it, and paste that key.'

const respond = (page: Page, { origin }: URL, status: number, headers: Record<string, string> = {}) =>
  respondWithPage(page, { origin, status, forms: true, headers })

/** @throws AuthorizationError, CimdFetchError */
async function parseConsent(helpers: OAuthHelpers, request: Request): Promise<AuthRequest> {
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
  const { request, helpers, services, visitor, ways } = situation
  const url = new URL(request.url)
  const client = await describe(helpers, asked)
  const holder = visitor === null ? null : { owner: visitor.owner ?? visitor.keyId, org: visitor.org }
  const families = /\/mcp\/(.+)$/.exec(asked.resource ?? '')?.[1] ?? null
  const ask = (error: string | null, status: number, token = createPageToken()) =>
    respond(consentPage({ client, token, error, families, holder, ways }), url, status, {
      'Set-Cookie': pageCookie(token, url),
    })
  if (request.method !== 'POST') return ask(null, 200)

  const form = await readForm(request)
  if (form === null || !isFromOurPage(request, form)) return ask(STALE, 403)
  const token = form.get('page') as string
  const leave = (allowed: boolean, to: string) =>
    respond(departurePage(allowed, to, client.destination), url, 200, { 'Set-Cookie': pageCookie(token, url, 0) })
  if (form.get('decision') !== 'allow')
    return leave(false, authorizationErrorRedirect(asked, 'access_denied', 'The person refused'))
  const key = (form.get('key') ?? '').trim()
  const grantee = visitor !== null && key === '' ? visitor : await holderOf(key, services.identity)
  if (typeof grantee === 'string') return ask(grantee, 400, token)
  return leave(true, await grant(situation, asked, grantee))
}

/**
 * Answers GET and POST with a page. Anyone may register a client, so errors do not redirect: they show a link back
 * (RFC 9700 §4.11.2).
 */
export async function authorize(situation: Situation): Promise<Response> {
  const url = new URL(situation.request.url)
  try {
    return await decide(situation, await parseConsent(situation.helpers, situation.request))
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
