import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, type Deployment, departureOf, type Key, type Page, pkce, startDeployment } from '../support/oauth'

/** The page on which a person allows or refuses, as any browser gets it; test/e2e/browser.test.ts checks it in one. */
let deployment: Deployment
let holder: Key
let address: string
beforeAll(async () => {
  deployment = await startDeployment()
  holder = await deployment.key()
  address = deployment.addressFor((await deployment.register()).client_id, pkce().challenge)
})
afterAll(() => deployment.stop())

const text = (page: Page) => page.text.replace(/<style.*<\/style>/s, '')

describe('the consent page', () => {
  it('runs no scripts, and cannot be framed or cached', async () => {
    const { headers, text } = await deployment.open(address)
    const nonce = /style nonce="([^"]+)"/.exec(text)?.[1]
    expect(headers.get('content-security-policy')).toBe(
      `default-src 'none'; style-src 'nonce-${nonce}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
    )
    expect(text).not.toContain('<script')
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      'cache-control': 'no-store',
      'access-control-allow-origin': deployment.base,
    })
    expect((await deployment.open(address)).text).not.toContain(nonce)
  })

  it('shows who asks, where the person is sent, and what will be possible', async () => {
    const page = text(await deployment.open(address))
    expect(page).toContain('<bdi>A client</bdi>')
    expect(page).toContain('this app registered itself, and its name is not verified')
    expect(page).toContain('<dd>127.0.0.1:41999</dd>')
    expect(page).toContain('a program on your own computer')
    expect(page).not.toContain('use these tools only')
    const { client_id } = await deployment.register({ redirect_uris: ['https://app.example/back'] })
    const more = { redirect_uri: 'https://app.example/back', resource: `${deployment.base}/mcp/threads` }
    const other = text(await deployment.open(deployment.addressFor(client_id, pkce().challenge, more)))
    expect(other).toContain('<dd>app.example</dd>')
    expect(other).toContain('use these tools only: threads')
    expect(other).not.toContain('a program on your own computer')
  })

  it('shows a hostile name as harmless text', async () => {
    const client_name = `</title><script>alert(1)</script>"><img src=x onerror=alert(2)>\u202egnp.exe\u2028\n${'x'.repeat(110)}`
    const { client_id } = await deployment.register({ client_name })
    const page = await deployment.open(deployment.addressFor(client_id, pkce().challenge, { state: '"><script>' }))
    expect(page.status).toBe(200)
    expect(page.text).not.toMatch(/<script|<img|\u202e|\u2028/)
    expect(page.text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(page.text).not.toContain('x'.repeat(70))
  })

  it('names the way back without letting the client write into it', async () => {
    const redirect = "https://app.example/back?a=\"><script>alert(1)</script>&b='x'"
    const { client_id } = await deployment.register({ redirect_uris: [redirect] })
    const at = deployment.addressFor(client_id, pkce().challenge, { redirect_uri: redirect, state: '"><script>' })
    const page = await deployment.submit(at, await deployment.open(at), { key: holder.key })
    expect(page.text).not.toContain('<script')
    expect(departureOf(page).origin).toBe('https://app.example')
    expect(departureOf(page).searchParams.get('state')).toBe('"><script>')
  })
})

describe('a key that is pasted', () => {
  const paste = async (key: string) => deployment.submit(address, await deployment.open(address), { key })

  it('leads back to the client with a code, also with blanks around it', async () => {
    const page = await paste(` ${holder.key}\n`)
    expect(page.status).toBe(200)
    const back = departureOf(page)
    expect([back.origin, back.pathname]).toEqual(['http://127.0.0.1:41999', '/callback'])
    expect(Object.fromEntries(back.searchParams)).toEqual({
      code: expect.any(String),
      state: 'a state',
      iss: deployment.base,
    })
    expect(page.headers.get('set-cookie')).toContain('Max-Age=0')
    expect(page.text).not.toContain(holder.key)
  })

  it('is never shown again when it is wrong, and the page shows the error next to the field', async () => {
    const revoked = await deployment.key()
    await deployment.revoke(revoked)
    const wrong = {
      [revoked.key]: 'This key is not valid.',
      [`${holder.key.slice(0, -1)}~`]: 'This key is not valid.',
      [holder.key.toUpperCase()]: 'This key is not valid.',
      '<script>alert(1)</script>': 'This key is not valid.',
      '': 'Paste the key.',
      [ADMIN_TOKEN]: 'This is the ADMIN_TOKEN, which belongs to no organization.',
    }
    for (const [key, words] of Object.entries(wrong)) {
      const page = await paste(key)
      expect([key, page.status]).toEqual([key, 400])
      expect(page.text).toContain(`<p class="error" id="key-error" role="alert">${words}`)
      expect(page.text).toMatch(/aria-describedby="key-error key-hint" aria-invalid="true" autofocus/)
      expect(page.text).toContain('<title>Error: allow A client?')
      if (key !== '') expect(page.text).not.toContain(key)
    }
  })

  it('may be pasted again after an error', async () => {
    const page = await paste('wrong')
    const again = await deployment.submit(address, page, { key: holder.key })
    expect(departureOf(again).searchParams.get('code')).toBeTruthy()
  })

  it('is not needed to refuse', async () => {
    const page = await deployment.submit(address, await deployment.open(address), { decision: 'refuse' })
    expect(Object.fromEntries(departureOf(page).searchParams)).toMatchObject({
      error: 'access_denied',
      state: 'a state',
      iss: deployment.base,
    })
  })

  it('is used for nothing when the form does not come from the page in this browser', async () => {
    const [page, other] = [await deployment.open(address), await deployment.open(address)]
    const { key } = holder
    const forged = [
      await deployment.submit(address, page, { key }, { cookie: '' }),
      await deployment.submit(address, page, { key }, { cookie: other.cookie }),
      await deployment.submit(address, page, { key, page: '' }),
      await deployment.submit(address, page, { key, page: '0'.repeat(32) }),
      await deployment.submit(address, page, { key }, { origin: 'http://localhost:6274' }),
      await deployment.submit(address, page, { key }, { 'content-type': 'text/plain' }),
      await deployment.submit(address, page, { key, filler: 'x'.repeat(100_000) }),
    ]
    for (const answer of forged) {
      expect(answer.status).toBe(403)
      expect(answer.text).toContain('role="alert">This page was open for too long')
      expect(answer.text).not.toContain('http-equiv="refresh"')
    }
    for (const origin of ['https://evil.example', 'null'])
      expect((await deployment.submit(address, page, { key }, { origin })).status).toBe(403)
  })
})

describe('on a public address', () => {
  const CLIENT = 'https://app.example/oauth/client.json'
  const redirect = 'https://app.example/back'
  const document = (client_id: string) => ({
    client_id,
    client_name: 'Published client',
    redirect_uris: [redirect],
    token_endpoint_auth_method: 'none',
  })
  const fetched: string[] = []
  const answers: Record<string, () => Response> = {
    [CLIENT]: () => Response.json(document(CLIENT)),
    'https://app.example/other.json': () => Response.json(document(CLIENT)),
    'https://app.example/large.json': () =>
      new Response(JSON.stringify({ ...document(CLIENT), filler: 'x'.repeat(9000) })),
    'https://app.example/page.html': () => new Response('<html>'),
  }
  let site: Deployment
  let key: Key
  beforeAll(async () => {
    const web = async ({ url }: { readonly url: string }) => {
      fetched.push(url)
      return answers[url]?.() ?? new Response('', { status: 404 })
    }
    site = await startDeployment({ web, origin: 'https://memory.example', onLog: () => undefined })
    key = await site.key()
  })
  afterAll(() => site.stop())
  const at = (client_id: string, challenge = pkce().challenge) =>
    site.addressFor(client_id, challenge, { redirect_uri: redirect })

  it('keeps its cookie for this host over https', async () => {
    const { headers } = await site.open(at(CLIENT))
    expect(headers.get('set-cookie')).toMatch(
      /^__Host-commonplace-consent-[0-9a-f]{8}=[0-9a-f]{32}; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    )
  })

  it('takes a client by its metadata document and shows who publishes it', async () => {
    const metadata = await (await site.ask('/.well-known/oauth-authorization-server')).json()
    expect(metadata).toMatchObject({ issuer: 'https://memory.example', client_id_metadata_document_supported: true })
    const { verifier, challenge } = pkce()
    const page = await site.open(at(CLIENT, challenge))
    expect(text(page)).toContain('<bdi>Published client</bdi>')
    expect(text(page)).toContain('<dt>Published by</dt><dd>app.example</dd>')
    const back = departureOf(await site.submit(at(CLIENT, challenge), page, { key: key.key }))
    const code = back.searchParams.get('code')
    const { status, body } = await site.exchange(CLIENT, code, verifier, { redirect_uri: redirect })
    expect([status, body.resource]).toEqual([200, 'https://memory.example/mcp'])
    expect((await site.call(body.access_token, 'list_threads')).status).toBe(200)
  })

  it('refuses a document that is not the client of its address, too large, missing or none', async () => {
    for (const name of ['other.json', 'large.json', 'missing.json', 'page.html']) {
      const page = await site.open(at(`https://app.example/${name}`))
      expect([name, page.status]).toEqual([name, 400])
      expect(page.text).toContain('could not be fetched or is not valid')
    }
  })

  it('fetches no document from a private address, in any member', async () => {
    const count = fetched.length
    for (const host of [
      '127.0.0.1',
      '10.0.0.1',
      '169.254.169.254',
      '0x7f.1',
      '2130706433',
      '[::1]',
      '[fd00::1]',
      'localhost',
      'router.lan',
      'db.internal',
      'intranet',
      'app.example:8443',
    ]) {
      const id = `https://${host}/client.json`
      const assertion = `e30.${Buffer.from(JSON.stringify({ iss: id })).toString('base64url')}.x`
      const type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
      expect([id, (await site.open(at(id))).status]).toEqual([id, 400])
      expect((await site.exchange(id, 'a:b:c', 'x')).status).toBe(401)
      expect((await site.token({ client_assertion: assertion, client_assertion_type: type })).status).toBe(401)
      const headers = { authorization: `Basic ${btoa(`${encodeURIComponent(id)}:x`)}` }
      const body = new URLSearchParams({ grant_type: 'authorization_code' })
      expect((await site.ask('/token', { method: 'POST', headers, body })).status).toBe(401)
    }
    expect((await site.open(at('http://app.example/oauth/client.json'))).status).toBe(400)
    expect(fetched.slice(count)).toEqual([])
  })
})
