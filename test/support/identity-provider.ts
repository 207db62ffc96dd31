// An identity provider of the tests: OpenID Connect with PKCE, and the keys of Cloudflare Access. It can misbehave.
import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose'

export const CLIENT = { id: 'commonplace-client', secret: 'a secret: of the client' }

// biome-ignore lint/suspicious/noExplicitAny: answers are untyped
type Json = any

export interface Misbehavior {
  /** Claims that replace those of the ID token; undefined removes one. */
  claims?: Record<string, unknown>
  /** How the ID token is signed. */
  sign?: 'none' | 'foreign key' | 'public key as secret'
  /** Returns the address by the endpoint for claims only. */
  byUserInfo?: boolean
  userInfo?: Record<string, unknown>
  /** The issuer that the configuration names. */
  issuer?: string
  /** The parameter `iss` of the redirect. */
  answerIssuer?: string
  down?: boolean
}

async function bodyOf(request: IncomingMessage): Promise<URLSearchParams> {
  let text = ''
  for await (const part of request) text += part
  return new URLSearchParams(text)
}

export async function startIdentityProvider() {
  const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true })
  const foreign = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' }
  const codes = new Map<string, { challenge: string; nonce: string; redirectUri: string }>()
  let person: Record<string, unknown> = {}
  let wrong: Misbehavior = {}
  let issuer = ''

  async function signed(claims: JWTPayload): Promise<string> {
    if (wrong.sign === 'none') return new UnsecuredJWT(claims).encode()
    if (wrong.sign === 'public key as secret')
      return new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'k1' }).sign(Buffer.from(JSON.stringify(jwk)))
    const key = wrong.sign === 'foreign key' ? foreign.privateKey : privateKey
    return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'k1' }).sign(key)
  }
  const now = () => Math.floor(Date.now() / 1000)
  const overridden = (claims: Record<string, unknown>): JWTPayload =>
    Object.fromEntries(Object.entries({ ...claims, ...wrong.claims }).filter(([, value]) => value !== undefined))

  async function token(request: IncomingMessage): Promise<[number, Json]> {
    const form = await bodyOf(request)
    const code = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    const basic = `Basic ${Buffer.from(`${encodeURIComponent(CLIENT.id)}:${encodeURIComponent(CLIENT.secret)}`).toString('base64')}`
    if (request.headers.authorization !== basic) return [401, { error: 'invalid_client' }]
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    if (code === undefined || code.challenge !== challenge || code.redirectUri !== form.get('redirect_uri'))
      return [400, { error: 'invalid_grant' }]
    const { email, email_verified, ...rest } = person
    const address = wrong.byUserInfo ? {} : { email, email_verified }
    const claims = { iss: issuer, aud: CLIENT.id, sub: 's1', iat: now(), exp: now() + 300, nonce: code.nonce }
    const id_token = await signed(overridden({ ...claims, ...rest, ...address }))
    return [200, { id_token, access_token: 'at', token_type: 'Bearer' }]
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', issuer)
    const json = (status: number, value: Json) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    if (wrong.down) return void json(500, {})
    if (url.pathname === '/.well-known/openid-configuration')
      return void json(200, {
        issuer: wrong.issuer ?? issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        userinfo_endpoint: `${issuer}/userinfo`,
        jwks_uri: `${issuer}/jwks`,
      })
    if (url.pathname === '/jwks' || url.pathname === '/cdn-cgi/access/certs') return void json(200, { keys: [jwk] })
    if (url.pathname === '/userinfo') return void json(200, { sub: 's1', ...person, ...wrong.userInfo })
    if (url.pathname === '/token') return void json(...(await token(request)))
    if (url.pathname !== '/authorize') return void json(404, {})
    const asked = url.searchParams
    const code = randomUUID()
    const redirectUri = asked.get('redirect_uri') ?? ''
    codes.set(code, { challenge: asked.get('code_challenge') ?? '', nonce: asked.get('nonce') ?? '', redirectUri })
    const back = new URL(redirectUri)
    back.searchParams.set('code', code)
    back.searchParams.set('state', asked.get('state') ?? '')
    back.searchParams.set('iss', wrong.answerIssuer ?? issuer)
    response.writeHead(302, { location: back.href }).end()
  }

  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    issuer,
    /** Signs the person in whom the provider knows, and misbehaves as told. */
    knows(claims: Record<string, unknown>, misbehavior: Misbehavior = {}) {
      person = claims
      wrong = misbehavior
    },
    /** The assertion that Cloudflare Access would add for a person. */
    assertion: (claims: Record<string, unknown>, misbehavior: Misbehavior = {}) => {
      wrong = misbehavior
      const usual = { iss: issuer, aud: ['tag-of-the-app'], sub: 'u', iat: now(), exp: now() + 300, type: 'app' }
      return signed(overridden({ ...usual, ...claims }))
    },
    stop: () => new Promise((resolve) => server.close(resolve)),
  }
}
