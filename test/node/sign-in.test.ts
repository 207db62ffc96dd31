import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTeam, type Team } from '../support/access'
import { CLIENT, startIdentityProvider } from '../support/identity-provider'

// biome-ignore lint/suspicious/noExplicitAny: answers are untyped
type Json = any
type Provider = Awaited<ReturnType<typeof startIdentityProvider>>

let provider: Provider
let team: Team
let withoutSignIn: Team
beforeAll(async () => {
  provider = await startIdentityProvider()
  team = await startTeam({
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: CLIENT.id,
    OIDC_CLIENT_SECRET: CLIENT.secret,
    OIDC_NAME: 'Example ID',
    ACCESS_TEAM_DOMAIN: provider.issuer,
    ACCESS_AUD: 'tag-of-the-app',
    RATE_LIMIT_PER_MINUTE: '0',
  })
  withoutSignIn = await startTeam()
})
afterAll(async () => {
  await Promise.all([team.stop(), withoutSignIn.stop()])
  await provider.stop()
})

/** A browser with its cookies, which follows a redirect only when told. */
function browser(at: Team = team) {
  const jar = new Map<string, string>()
  async function open(path: string, more: Record<string, string> = {}, form?: Record<string, string>) {
    const url = new URL(path, at.server.url.href)
    const own = url.origin === new URL(at.server.url.href).origin
    const response = await fetch(url, {
      redirect: 'manual',
      method: form === undefined ? 'GET' : 'POST',
      headers: {
        accept: 'text/html',
        ...(own && jar.size > 0 ? { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') } : {}),
        ...(form === undefined ? {} : { origin: url.origin }),
        ...more,
      },
      ...(form === undefined ? {} : { body: new URLSearchParams(form) }),
    })
    if (own)
      for (const cookie of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
        if (/max-age=0/i.test(cookie)) jar.delete(name)
        else jar.set(name, value)
      }
    return { status: response.status, text: await response.text(), location: response.headers.get('location') ?? '' }
  }
  return { open, jar }
}
type Browser = ReturnType<typeof browser>

/** Signs in at the provider. @returns the answer to the callback, and its address */
async function signIn(who: Browser, start = '/login/oidc') {
  const begun = await who.open(start)
  expect([begun.status, begun.text]).toEqual([302, ''])
  const back = (await who.open(begun.location)).location
  return { ...(await who.open(back)), back, begun }
}

const ADA = { email: 'Ada@Example.com', email_verified: true }
let serial = 0

async function makeKey(draft: Record<string, unknown> = {}, org = `org-${++serial}`) {
  const made: Json = await team.key(org, { owner: 'ada', role: 'admin', ...draft } as object)
  return { ...made, org }
}
/** An address that no other test uses, and a key of its holder. */
async function newPerson(draft: Record<string, unknown> = {}) {
  const email = `person-${++serial}@example.com`
  return { email, key: await makeKey({ email, ...draft }) }
}
const overview = async (who: Browser) => (await who.open('/')).text
const isSignedIn = async (who: Browser) => (await overview(who)).includes('action="/logout"')

describe('signing in by an OpenID Connect provider', () => {
  it('[PLATFORM-120] opens the requested page with the key of the verified address, without a key to paste', async () => {
    const key = await makeKey({ email: ' ADA@example.COM ' })
    expect(key.email).toBe('ada@example.com')
    provider.knows(ADA)
    const who = browser()
    const login = await who.open('/threads')
    expect([login.status, login.text]).toEqual([401, expect.stringContaining('Sign in with Example ID')])
    const { text, status, begun } = await signIn(who, '/login/oidc?next=%2Fthreads%3Fa%3D1')
    expect([status, text]).toEqual([200, expect.stringContaining('content="0;url=/threads?a=1"')])
    expect(await isSignedIn(who)).toBe(true)
    const asked = new URL(begun.location).searchParams
    expect([asked.get('code_challenge_method'), asked.get('scope'), asked.get('response_type')]).toEqual([
      ...['S256', 'openid email', 'code'],
    ])
    const { events } = (await team.api(`/orgs/${key.org}/audit`, key.key)).body
    expect(events.at(-1)).toMatchObject({ key_id: key.id, action: 'sign_in', detail: { by: 'oidc' } })
    // The session ends with the key, and so does the way in.
    await team.api(`/orgs/${key.org}/keys/${key.id}`, key.key, 'DELETE')
    expect(await isSignedIn(who)).toBe(false)
    expect((await signIn(who)).text).toContain('No key has the address ada@example.com')
  })

  it('[PLATFORM-120] asks for the address at the endpoint for claims where the ID token has none', async () => {
    const { email } = await newPerson()
    provider.knows({ email, email_verified: true }, { byUserInfo: true })
    const who = browser()
    await signIn(who)
    expect(await isSignedIn(who)).toBe(true)
    for (const userInfo of [{ sub: 'another' }, { email_verified: false }]) {
      provider.knows({ email, email_verified: true }, { byUserInfo: true, userInfo })
      expect((await signIn(browser())).status).toBe(403)
    }
  })

  it('[PLATFORM-121] lets people with keys of several organizations choose one of them', async () => {
    const { email, key } = await newPerson()
    const other = await makeKey({ email, name: 'other' })
    provider.knows({ email, email_verified: true })
    const who = browser()
    const { text } = await signIn(who)
    for (const org of [key.org, other.org]) expect(text).toContain(`/login/oidc?next=%2F&amp;org=${org}`)
    expect(await isSignedIn(who)).toBe(false)
    await signIn(who, `/login/oidc?org=${other.org}`)
    const { events } = (await team.api(`/orgs/${other.org}/audit`, other.key)).body
    expect(events.at(-1)).toMatchObject({ key_id: other.id, action: 'sign_in' })
    expect((await signIn(browser(), '/login/oidc?org=none')).text).toContain('No key has the address')
  })

  it('[OPERATE-222] does not let an administrator of one project give the address of another person to a key', async () => {
    const { email, key } = await newPerson()
    const narrow = await makeKey({ owner: 'eve', role: 'admin', projects: ['ferry'] }, key.org)
    for (const draft of [{ name: 'trap' }, { name: 'trap', owner: 'eve' }]) {
      const body = { ...draft, role: 'admin', projects: ['ferry'], email: email.toUpperCase() }
      const refused = await team.api(`/orgs/${key.org}/keys`, narrow.key, 'POST', body)
      expect([refused.status, refused.body.error.message]).toEqual([409, expect.stringContaining('another person')])
    }
    // Nor by a key that had the address first and is replaced after its end.
    const later = `later-${email}`
    const ended = await team.api(`/orgs/${key.org}/keys`, narrow.key, 'POST', {
      ...{ name: 'trap', owner: 'eve', role: 'admin', projects: ['ferry'], email: later },
      expires_at: new Date(Date.now() + 1_500).toISOString(),
    })
    expect(ended.status).toBe(201)
    const holder = { name: 'bea', role: 'writer', email: later }
    await expect
      .poll(async () => (await team.api(`/orgs/${key.org}/keys`, key.key, 'POST', holder)).status, { timeout: 10_000 })
      .toBe(201)
    const replaced = await team.api(`/orgs/${key.org}/keys/${ended.body.id}/rotate`, narrow.key, 'POST', {})
    expect(replaced.status).toBe(409)

    provider.knows({ email, email_verified: true })
    await signIn(browser())
    const { events } = (await team.api(`/orgs/${key.org}/audit`, key.key)).body
    expect(events.at(-1)).toMatchObject({ key_id: key.id, action: 'sign_in' })
    expect((await team.api(`/orgs/${key.org}/keys/${key.id}/rotate`, key.key, 'POST', {})).body).toMatchObject({
      email,
    })
  })

  it.each([
    ['an unverified address', { email_verified: false }, {}],
    ['an address without a statement that it is verified', { email_verified: undefined }, {}],
    ['no address', { email: undefined }, { userInfo: { email: undefined } }],
    ['an address that is not a text', { email: ['ada@example.com'] }, {}],
    ['an address without a key', { email: 'nobody@example.com' }, {}],
    [
      'an address whose letters only look like those of a key',
      { email: 'ada@example.com'.replace('k', '\u212a').replace('a', '\u0430') },
      {},
    ],
    ['a token without a signature', {}, { sign: 'none' }],
    ['a token signed with another key', {}, { sign: 'foreign key' }],
    ['a token signed with the public key as a secret', {}, { sign: 'public key as secret' }],
    ['a token for another client', { aud: 'another' }, {}],
    ['a token for several clients, made for another', { aud: [CLIENT.id, 'another'], azp: 'another' }, {}],
    ['a token of another issuer', { iss: 'https://evil.example' }, {}],
    ['an expired token', { exp: 1_000_000 }, {}],
    ['an old token', { iat: 1_000_000 }, {}],
    ['a token that is not valid yet', { nbf: 9_000_000_000 }, {}],
    ['a token without an end', { exp: undefined }, {}],
    ['a token of another sign-in', { nonce: 'another' }, {}],
    ['a token without a nonce', { nonce: undefined }, {}],
    ['an answer of another issuer', {}, { answerIssuer: 'https://evil.example' }],
  ] as const)('[PLATFORM-122] refuses %s', async (_, claims, misbehavior) => {
    const { email } = await newPerson()
    provider.knows({ email, email_verified: true, ...claims }, { claims, ...misbehavior } as object)
    const who = browser()
    const { status, text } = await signIn(who)
    expect([status, text]).toEqual([403, expect.stringContaining('role="alert"')])
    expect([...who.jar.keys()].filter((name) => /^commonplace-\d/.test(name))).toEqual([])
    expect(await isSignedIn(who)).toBe(false)
  })

  it('[PLATFORM-123] accepts an answer once, and only from the browser that began the sign-in', async () => {
    const { email } = await newPerson()
    provider.knows({ email, email_verified: true })
    const who = browser()
    const { back } = await signIn(who)
    expect((await who.open(back)).text).toContain('has expired, or was begun in another browser')
    // A link with an answer, sent to another person, signs no person in.
    const begun = await who.open('/login/oidc')
    const answer = (await who.open(begun.location)).location
    const victim = browser()
    expect((await victim.open(answer)).status).toBe(403)
    await victim.open('/login/oidc')
    expect((await victim.open(answer)).status).toBe(403)
    // The state of one sign-in does not accept the code of another.
    const second = await who.open('/login/oidc')
    const mixed = new URL(answer)
    mixed.searchParams.set('state', new URL(second.location).searchParams.get('state') ?? '')
    expect((await who.open(mixed.href)).status).toBe(503)
    for (const path of [
      '/login/oidc/callback',
      '/login/oidc/callback?code=x&state=y',
      '/login/oidc/callback?error=access_denied',
    ])
      expect((await browser().open(path)).status).toBe(403)
    expect(await isSignedIn(victim)).toBe(false)
  })

  it.each(['https://evil.example/', '//evil.example', '/\\evil.example', '/..//evil.example', 'javascript:alert(1)'])(
    '[PLATFORM-123] leads to a page of this server only, not to %s',
    async (next) => {
      const { email } = await newPerson()
      provider.knows({ email, email_verified: true })
      const { text } = await signIn(browser(), `/login/oidc?next=${encodeURIComponent(next)}`)
      expect(text).toContain('content="0;url=/"')
      expect(text).not.toContain('evil')
    },
  )

  it('[PLATFORM-122] signs no person in while the provider does not respond, and states so', async () => {
    provider.knows(ADA, { down: true })
    const other = await startTeam({ OIDC_ISSUER: `${provider.issuer}/`, OIDC_CLIENT_ID: 'x' })
    const { status, text } = await browser(other).open('/login/oidc')
    expect([status, text]).toEqual([503, expect.stringContaining('does not respond')])
    await other.stop()
  })

  it('[OPERATE-224] asks the provider at most 600 times a minute for one client address', async () => {
    provider.knows(ADA)
    const limited = await startTeam({ OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: CLIENT.id })
    const begin = async () => (await browser(limited).open('/login/oidc')).status
    const statuses: number[] = []
    for (let i = 0; i < 64; i++) statuses.push(...(await Promise.all(Array.from({ length: 10 }, begin))))
    const begun = statuses.filter((status) => status === 302).length
    // A minute may end meanwhile.
    expect([begun >= 600, begun < 640 || new Set(statuses).size === 1]).toEqual([true, true])
    expect(new Set(statuses).has(503)).toBe(false)
    await limited.stop()
  })

  it('[PLATFORM-122] trusts no configuration that names another issuer', async () => {
    provider.knows(ADA, { issuer: 'https://evil.example' })
    const other = await startTeam({ OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: 'y' })
    expect((await browser(other).open('/login/oidc')).status).toBe(403)
    await other.stop()
  })

  it('[PLATFORM-124] does not exist without its settings, in open mode, and for programs', async () => {
    for (const path of ['/login/oidc', '/login/oidc/callback?state=x', '/login/access'])
      expect((await browser(withoutSignIn).open(path)).status).toBe(404)
    expect((await browser(withoutSignIn).open('/login')).text).not.toContain('Sign in with')
    expect((await browser().open('/login/oidc', { accept: 'application/json' })).status).toBe(404)
  })
})

describe('signing in behind Cloudflare Access', () => {
  const header = async (claims: Record<string, unknown>, misbehavior: object = {}) => ({
    'cf-access-jwt-assertion': await provider.assertion(claims, misbehavior),
  })

  it('[PLATFORM-125] opens the requested page with the key of the address that Access asserts', async () => {
    const { email, key } = await newPerson()
    const who = browser()
    const given = await header({ email })
    expect((await who.open('/threads', given)).text).toContain('Sign in with Cloudflare Access')
    const { text, status } = await who.open('/login/access?next=%2Fthreads', given)
    expect([status, text]).toEqual([200, expect.stringContaining('content="0;url=/threads"')])
    expect(await isSignedIn(who)).toBe(true)
    const { events } = (await team.api(`/orgs/${key.org}/audit`, key.key)).body
    expect(events.at(-1)).toMatchObject({ action: 'sign_in', detail: { by: 'access' } })
  })

  it.each([
    ['another application', { aud: ['another'] }, {}],
    ['another team', { iss: 'https://evil.cloudflareaccess.com' }, {}],
    ['an expired sign-in', { exp: 1_000_000 }, {}],
    ['a service token, which has no address', { email: undefined, common_name: 'bot' }, {}],
    ['an address without a key', { email: 'nobody@example.com' }, {}],
    ['a header that anyone wrote, without a signature', {}, { sign: 'none' }],
    ['a header that anyone wrote, with a key of their own', {}, { sign: 'foreign key' }],
    ['a header signed with the public key as a secret', {}, { sign: 'public key as secret' }],
  ] as const)('[PLATFORM-126] refuses the assertion of %s', async (_, claims, misbehavior) => {
    const { email } = await newPerson()
    const who = browser()
    const { status } = await who.open('/login/access', await header({ email, ...claims }, misbehavior))
    expect([status, await isSignedIn(who)]).toEqual([403, false])
  })

  it('[PLATFORM-126] is nothing for a server that is not behind Access, and no credential for programs', async () => {
    const { email } = await newPerson()
    const given = await header({ email })
    const who = browser(withoutSignIn)
    expect((await who.open('/', given)).text).not.toContain('Cloudflare Access')
    expect((await who.open('/login/access', given)).status).toBe(404)
    expect((await browser().open('/login/access')).status).toBe(403)
    for (const path of ['/mcp', '/api/v1/projects'])
      expect((await team.ask(path, null, 'GET', undefined, given)).status).toBe(401)
    expect((await browser().open('/login/access', { 'cf-access-jwt-assertion': 'a.b.c' })).status).toBe(403)
  })
})

describe('the consent page of OAuth', () => {
  async function authorizeAddress(): Promise<string> {
    const redirect_uri = 'http://127.0.0.1:9/callback'
    const { body } = await team.ask('/register', null, 'POST', {
      ...{ client_name: 'An app', redirect_uris: [redirect_uri], token_endpoint_auth_method: 'none' },
    })
    const query = new URLSearchParams({
      ...{ response_type: 'code', client_id: body.client_id, redirect_uri, state: 's' },
      ...{ code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' },
    })
    return `/authorize?${query}`
  }
  const tokenOf = (text: string): string => /name="page" value="(\w+)"/.exec(text)?.[1] ?? ''

  it('[PLATFORM-127] allows an app with the key of the person who is signed in, after a click', async () => {
    const { email, key } = await newPerson()
    provider.knows({ email, email_verified: true })
    const who = browser()
    const address = await authorizeAddress()
    const first = await who.open(address)
    const [, link = ''] = /href="(\/login\/oidc\?next=[^"]+)"/.exec(first.text) ?? []
    expect([first.text, link]).toEqual([
      expect.stringContaining('Your Commonplace key'),
      expect.stringMatching(/authorize/),
    ])
    const { text } = await signIn(who, link.replaceAll('&amp;', '&'))
    const [, next = ''] = /content="0;url=([^"]+)"/.exec(text) ?? []
    const consent = await who.open(next.replaceAll('&amp;', '&'))
    expect(consent.text).toContain(`signed in as <bdi>ada</bdi> of ${key.org}`)
    expect(consent.text).not.toContain('name="key"')
    const allowed = await who.open(address, {}, { page: tokenOf(consent.text), decision: 'allow' })
    expect([allowed.status, allowed.text]).toEqual([200, expect.stringContaining('http://127.0.0.1:9/callback?code=')])
    const { events } = (await team.api(`/orgs/${key.org}/audit`, key.key)).body
    expect(events.at(-1)).toMatchObject({ key_id: key.id, action: 'oauth.grant' })
  })

  it('[PLATFORM-127] allows nothing for a form of another page, and none without a session or a key', async () => {
    const { email } = await newPerson()
    provider.knows({ email, email_verified: true })
    const who = browser()
    await signIn(who)
    const address = await authorizeAddress()
    expect((await who.open(address, {}, { page: 'a'.repeat(32), decision: 'allow' })).status).toBe(403)
    const stranger = browser()
    const page = await stranger.open(address)
    expect((await stranger.open(address, {}, { page: tokenOf(page.text), decision: 'allow' })).status).toBe(400)
  })
})
