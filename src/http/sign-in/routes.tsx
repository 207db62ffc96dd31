import { Hono } from 'hono'
import { parse, serialize } from 'hono/utils/cookie'
import type { ApiKey } from '../../domain/identity/identity'
import { SignInRefused, type StartedSignIn } from '../../domain/identity/sign-in'
import type { Services } from '../../services/services'
import { addressOf } from '../client-address'
import { type Page, respondWith } from '../dashboard/page'
import { askForKey, signInWays, WRONG_KEYS_A_MINUTE } from '../dashboard/pages/login'
import { PublicFrame } from '../dashboard/parts/frame'
import { safePath, withQuery } from '../dashboard/parts/words'
import { type PageContext, tooMany, type Variables } from '../dashboard/serve'
import { beginSession, visitorOf } from '../dashboard/session'
import type { FindVisitor } from '../oauth/routes'
import { isBrowser } from '../welcome'

/** Routes to sign in without pasting a key: by Cloudflare Access, and by an OpenID Connect provider (platform contract §5). */

const ASSERTION = 'cf-access-jwt-assertion'
const CALLBACK = '/login/oidc/callback'
const LIFETIME_S = 600
const MAX_NEXT = 3_000

/** A sign-in in progress, as the browser holds it. */
interface InProgress extends StartedSignIn {
  readonly next: string
  readonly org: string | null
}

/** One cookie for each sign-in, so that two tabs do not disturb each other. */
const cookieName = ({ protocol }: URL, state: string): string =>
  `${protocol === 'https:' ? '__Host-' : ''}commonplace-sign-in-${state.slice(0, 8)}`

/** The provider's page leads back by a link of another site, so the cookie is `Lax`. It is worth nothing without the code. */
const cookieFor = (url: URL, state: string, value: string, seconds: number): string =>
  serialize(cookieName(url, state), value, {
    ...{ path: '/', httpOnly: true, sameSite: 'Lax', secure: url.protocol === 'https:', maxAge: seconds },
  })

const isState = (value: string | null): value is string => value !== null && /^[\w-]{43}$/.test(value)

/** Returns the sign-in that this browser began with a state; null for any other. */
function progressOf(request: Request, url: URL): InProgress | null {
  const state = url.searchParams.get('state')
  if (!isState(state)) return null
  const name = cookieName(url, state)
  const text = parse(request.headers.get('cookie') ?? '', name)[name]
  if (text === undefined) return null
  try {
    const found: Partial<InProgress> = JSON.parse(text)
    const { nonce = null, verifier = null, next = null, org = null } = found
    if (found.state !== state || !isState(nonce) || !isState(verifier)) return null
    return { state, nonce, verifier, next: safePath(next), org: typeof org === 'string' ? org : null }
  } catch {
    return null
  }
}

const MESSAGES: Readonly<Record<SignInRefused['fault'], string>> = {
  assertion: 'Cloudflare Access did not sign you in here. Open this server by the address that Access protects.',
  state: 'This sign-in has expired, or was begun in another browser. Start again.',
  issuer: 'The answer is not from the sign-in service of this server. Start again, or ask its administrator.',
  token: 'This sign-in is not valid. Start again.',
  denied: 'You were not signed in there. Start again, or paste a key.',
  no_address: 'The sign-in service has no e-mail address of yours, so no key can be found. Paste a key.',
  unverified_address: 'The sign-in service has not verified your e-mail address. Verify it there, or paste a key.',
  unknown_address: 'No key has the address %. Ask an administrator to create one: keys create NAME --email %',
  unavailable: 'The sign-in service does not respond. Try again later, or paste a key.',
}

/**
 * Opens the page that the person requested. The browser sends no cookie that is `SameSite=Strict` along with a redirect that another site
 * began, so this is a page of its own.
 */
const arrived = (next: string): Page => ({
  title: 'Signed in',
  body: (
    <div class="card">
      <h1>Signed in</h1>
      <p class="more">
        <a href={next}>Go on</a>
      </p>
      <meta http-equiv="refresh" content={`0;url=${next}`} />
    </div>
  ),
})

const choice = (keys: readonly ApiKey[], start: string, next: string): Page => ({
  title: 'Choose an organization',
  body: (
    <div class="card">
      <h1>Choose an organization</h1>
      <ul>
        {keys.map(({ org }) => (
          <li>
            <a href={withQuery(start, { next, org })}>{org}</a>
          </li>
        ))}
      </ul>
    </div>
  ),
})

type SignInRequest = {
  readonly c: PageContext
  readonly services: Services
  readonly by: 'access' | 'oidc'
  readonly next: string
  readonly org: string | null
}

/** Begins a session with the key of a verified address. */
async function arrive({ c, services, by, next, org }: SignInRequest, email: string): Promise<Response> {
  const url = new URL(c.req.url)
  const keys = await services.signIn.keysOf({ email }, org)
  const [key, ...others] = keys
  const { origin } = url
  if (key === undefined || others.length > 0)
    return respondWith(<PublicFrame page={choice(keys, `/login/${by}`, next)} />, { origin })
  await services.signIn.note(key, by)
  const { cookie } = await beginSession(services, url, key.id)
  return respondWith(<PublicFrame page={arrived(next)} />, { origin, headers: { 'Set-Cookie': cookie } })
}

/** Sign-ins per minute from one address: a step may ask the identity provider in the name of this server. */
const STEPS_A_MINUTE = 600

/** Runs a sign-in. A refusal is a page with the reason; refusals from one address are limited like wrong keys. */
async function trying(request: SignInRequest, step: () => Promise<Response>): Promise<Response> {
  const { c, services, by, next } = request
  const from = addressOf(c.req.raw, c.var.setup.addressHeader)
  const entered = await services.limiter?.enter(`/login/${by} ${from}`, { perMinute: STEPS_A_MINUTE })
  if (entered?.admitted === false) return tooMany(c, entered.retryAfter)
  if (entered !== undefined) services.afterwards(entered.leave())
  try {
    return await step()
  } catch (error) {
    if (!(error instanceof SignInRefused)) throw error
    const { fault, email } = error
    c.var.setup.log('INFO', 'sign_in_refused', { by, reason: fault, requestId: c.var.requestId })
    const admission = await services.limiter?.enter(`/login ${from}`, { perMinute: WRONG_KEYS_A_MINUTE })
    if (admission?.admitted === false) return tooMany(c, admission.retryAfter)
    if (admission !== undefined) services.afterwards(admission.leave())
    const message = MESSAGES[fault].replaceAll('%', email ?? '')
    return askForKey(c.req.raw, c.var.setup.config, {
      next,
      error: message,
      status: fault === 'unavailable' ? 503 : 403,
    })
  }
}

const redirectUriOf = ({ origin }: URL): string => `${origin}${CALLBACK}`

/**
 * Returns the person who is signed in, for the consent page of OAuth, and the ways to sign in there. Without an identity provider people
 * paste their key for each app.
 */
export const findVisitor: FindVisitor = async (request, config, services) => {
  const { access, openId } = config.signIn
  if (access === null && openId === null) return { visitor: null, ways: [] }
  const { pathname, search } = new URL(request.url)
  const visitor = await visitorOf(request, config, services)
  const principal = visitor?.credential.kind === 'principal' ? visitor.credential.principal : null
  return { visitor: principal, ways: signInWays(config, request, safePath(`${pathname}${search}`)) }
}

/** Mounted at the root, before the dashboard. */
export function createSignInRoutes() {
  const routes = new Hono<{ Bindings: object; Variables: Variables }>()
  const asked = (c: PageContext, by: SignInRequest['by']): SignInRequest => ({
    ...{ c, services: c.var.services, by },
    ...{ next: safePath(c.req.query('next') ?? null), org: c.req.query('org') || null },
  })

  routes.get('/login/access', async (c, next) => {
    const { access } = c.var.services.signIn
    if (access === null || !isBrowser(c.req.raw)) return next()
    const request = asked(c, 'access')
    return trying(request, async () => {
      const assertion = c.req.header(ASSERTION)
      if (assertion === undefined) throw new SignInRefused('assertion')
      return arrive(request, (await access.personOf(assertion)).email)
    })
  })

  routes.get('/login/oidc', async (c, next) => {
    const { openId } = c.var.services.signIn
    if (openId === null || !isBrowser(c.req.raw)) return next()
    const url = new URL(c.req.url)
    const request = asked(c, 'oidc')
    return trying(request, async () => {
      const { location, started } = await openId.begin(redirectUriOf(url))
      // A browser drops a cookie of more than 4,096 bytes.
      const next = encodeURIComponent(request.next).length > MAX_NEXT ? '/' : request.next
      const progress: InProgress = { ...started, next, org: request.org }
      const cookie = cookieFor(url, started.state, JSON.stringify(progress), LIFETIME_S)
      return new Response(null, {
        status: 302,
        headers: { Location: location, 'Set-Cookie': cookie, 'Cache-Control': 'no-store' },
      })
    })
  })

  routes.get(CALLBACK, async (c, next) => {
    const { openId } = c.var.services.signIn
    if (openId === null || !isBrowser(c.req.raw)) return next()
    const url = new URL(c.req.url)
    const progress = progressOf(c.req.raw, url)
    const request: SignInRequest = { ...asked(c, 'oidc'), next: progress?.next ?? '/', org: progress?.org ?? null }
    const response = await trying(request, async () => {
      if (progress === null) throw new SignInRefused('state')
      return arrive(request, (await openId.finish(url.searchParams, progress, redirectUriOf(url))).email)
    })
    // A state is used once, whatever became of it.
    if (progress !== null) response.headers.append('Set-Cookie', cookieFor(url, progress.state, '', 0))
    return response
  })

  return routes
}
