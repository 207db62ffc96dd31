import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose'
import { readEmail, SignInRefused } from '../../domain/identity/sign-in'
import { HOUR_MS } from '../../domain/time'
import type { Clock } from '../../ports/clock'
import type { OpenIdProvider, VerifiedPerson } from '../../ports/sign-in'
import { isOutage } from './access-gate'

/** Signatures with a public key. With HS256 the published key of the provider would be the secret, and `none` has no signature. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']
/** Seconds by which the clocks may differ. */
const TOLERANCE_S = 30
/** Age of an ID token in seconds: it is made for this sign-in. */
const MAX_AGE_S = 600
const TIMEOUT_MS = 10_000
const MAX_ANSWER = 200_000

interface Discovered {
  readonly authorization: string
  readonly token: string
  readonly userInfo: string | null
  readonly keys: JWTVerifyGetKey
  /** Whether the provider accepts the secret in the form only. */
  readonly secretInForm: boolean
  readonly at: number
}

const base64Url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

const random = (): string => base64Url(crypto.getRandomValues(new Uint8Array(32)))

const challengeOf = async (verifier: string): Promise<string> =>
  base64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))))

/** Sends a request, and returns the JSON object of a successful answer. @throws SignInRefused unavailable */
async function ask(url: string, init: RequestInit = {}): Promise<Record<string, unknown>> {
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS), ...init })
    const text = await response.text()
    if (!response.ok || text.length > MAX_ANSWER) throw new Error(`status ${response.status}`)
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null) throw new Error('not an object')
    return { ...value }
  } catch {
    throw new SignInRefused('unavailable')
  }
}

/** Returns an address of the provider. Plain http only on this machine, for tests and development. */
function endpoint(value: unknown): string | null {
  if (typeof value !== 'string' || !URL.canParse(value)) return null
  const { protocol, hostname } = new URL(value)
  return protocol === 'https:' || (protocol === 'http:' && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname))
    ? value
    : null
}

/** @param issuer the exact issuer of its tokens, whose configuration is at `/.well-known/openid-configuration` */
export function createOpenIdProvider(
  settings: { readonly issuer: string; readonly clientId: string; readonly clientSecret: string | null },
  clock: Clock,
): OpenIdProvider {
  const { issuer, clientId, clientSecret } = settings
  let known: Discovered | null = null

  async function discover(): Promise<Discovered> {
    if (known !== null && clock.now() - known.at < HOUR_MS) return known
    const found = await ask(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)
    const [authorization, token, keys] = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'].map((name) =>
      endpoint(found[name]),
    )
    // Another issuer could sign tokens for its own users.
    if (found.issuer !== issuer || !authorization || !token || !keys) throw new SignInRefused('issuer')
    const methods = found.token_endpoint_auth_methods_supported
    known = {
      ...{ authorization, token, userInfo: endpoint(found.userinfo_endpoint), at: clock.now() },
      keys: createRemoteJWKSet(new URL(keys)),
      secretInForm: Array.isArray(methods) && !methods.includes('client_secret_basic'),
    }
    return known
  }

  /** Exchanges the code. */
  async function exchange({ token, secretInForm }: Discovered, form: Record<string, string>) {
    const body = new URLSearchParams({ grant_type: 'authorization_code', client_id: clientId, ...form })
    const headers: Record<string, string> = { accept: 'application/json' }
    if (clientSecret !== null && secretInForm) body.set('client_secret', clientSecret)
    else if (clientSecret !== null)
      headers.authorization = `Basic ${btoa(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`)}`
    return ask(token, { method: 'POST', headers, body })
  }

  /** @throws SignInRefused token */
  async function verify(idToken: unknown, { keys }: Discovered, nonce: string): Promise<JWTPayload> {
    if (typeof idToken !== 'string') throw new SignInRefused('token')
    const { payload } = await jwtVerify(idToken, keys, {
      ...{ issuer, audience: clientId, algorithms: ALGORITHMS, clockTolerance: TOLERANCE_S, maxTokenAge: MAX_AGE_S },
      ...{ requiredClaims: ['sub', 'exp', 'iat', 'nonce'], currentDate: new Date(clock.now()) },
    }).catch((error: unknown) => {
      throw new SignInRefused(error instanceof errors.JOSEError && !isOutage(error) ? 'token' : 'unavailable')
    })
    const isForOthers = Array.isArray(payload.aud) && payload.aud.length > 1
    if (payload.nonce !== nonce || ((isForOthers || payload.azp !== undefined) && payload.azp !== clientId))
      throw new SignInRefused('token')
    return payload
  }

  /** Returns the claims about the address: of the ID token, or else of the endpoint for them. */
  async function claimsOf(payload: JWTPayload, { userInfo }: Discovered, accessToken: unknown) {
    if (payload.email !== undefined || userInfo === null || typeof accessToken !== 'string') return payload
    const claims = await ask(userInfo, { headers: { authorization: `Bearer ${accessToken}` } })
    if (claims.sub !== payload.sub) throw new SignInRefused('token')
    return claims
  }

  return {
    async begin(redirectUri) {
      const { authorization } = await discover()
      const started = { state: random(), nonce: random(), verifier: random() }
      const location = new URL(authorization)
      const parameters = {
        ...{ response_type: 'code', client_id: clientId, redirect_uri: redirectUri, scope: 'openid email' },
        ...{ state: started.state, nonce: started.nonce },
        ...{ code_challenge: await challengeOf(started.verifier), code_challenge_method: 'S256' },
      }
      for (const [name, value] of Object.entries(parameters)) location.searchParams.set(name, value)
      return { location: location.href, started }
    },

    async finish(parameters, { state, nonce, verifier }, redirectUri): Promise<VerifiedPerson> {
      if (parameters.get('state') !== state) throw new SignInRefused('state')
      // RFC 9207: an answer of another provider.
      if ((parameters.get('iss') ?? issuer) !== issuer) throw new SignInRefused('issuer')
      const code = parameters.get('code')
      if (code === null) throw new SignInRefused('denied')
      const provider = await discover()
      const answer = await exchange(provider, { code, redirect_uri: redirectUri, code_verifier: verifier })
      const payload = await verify(answer.id_token, provider, nonce)
      const claims = await claimsOf(payload, provider, answer.access_token)
      const email = readEmail(claims.email)
      if (email === null) throw new SignInRefused('no_address')
      // Without this claim anyone could register the address of another person at the provider.
      if (claims.email_verified !== true && claims.email_verified !== 'true')
        throw new SignInRefused('unverified_address')
      return { email }
    },
  }
}
