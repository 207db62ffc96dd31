import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, type Deployment, type Json, pkce, REDIRECT, startDeployment } from '../support/oauth'

/** OAuth on the protocol level: metadata, refused requests, and rights of a grant whose key changes. */
const lines: string[] = []
let deployment: Deployment
beforeAll(async () => {
  deployment = await startDeployment({ onLog: (line) => lines.push(line) })
})
afterAll(() => deployment.stop())

const json = async (path: string): Promise<Json> => (await deployment.ask(path)).json()

describe('discovery', () => {
  it('begins with a 401 that names the metadata of the address that was dialled', async () => {
    for (const path of ['/mcp', '/mcp/threads']) {
      const response = await deployment.ask(path, { method: 'POST', body: '{}' })
      const url = `${deployment.base}/.well-known/oauth-protected-resource${path}`
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([
        401,
        `Bearer realm="commonplace", resource_metadata="${url}", scope="memory"`,
      ])
      expect(await json(url)).toEqual({
        resource: `${deployment.base}${path}`,
        authorization_servers: [deployment.base],
        scopes_supported: ['memory'],
        bearer_methods_supported: ['header'],
        resource_name: 'Commonplace',
      })
    }
  })

  it('describes the full resource without a path, and no unknown one', async () => {
    expect((await json('/.well-known/oauth-protected-resource')).resource).toBe(`${deployment.base}/mcp`)
    for (const path of ['/api/v1', '/mcp/nonsense', '/mcp//', '/images'])
      expect((await deployment.ask(`/.well-known/oauth-protected-resource${path}`)).status).toBe(404)
  })

  it('publishes the authorization server', async () => {
    const { base } = deployment
    expect(await json('/.well-known/oauth-authorization-server')).toMatchObject({
      issuer: base,
      authorization_endpoint: `${base}/authorize`,
      token_endpoint: `${base}/token`,
      registration_endpoint: `${base}/register`,
      revocation_endpoint: `${base}/token`,
      scopes_supported: ['memory'],
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      // On this machine a document could only have a private address.
      client_id_metadata_document_supported: false,
    })
  })
})

describe('an authorization request', () => {
  let clientId: string
  const { challenge } = pkce()
  beforeAll(async () => {
    clientId = (await deployment.register()).client_id
  })
  const open = (more: Record<string, string | null>) =>
    deployment.open(deployment.addressFor(clientId, challenge, more))

  it('shows nothing but the fault when it does not prove its client by S256', async () => {
    for (const more of [
      { code_challenge: null, code_challenge_method: null },
      { code_challenge_method: 'plain' },
      { code_challenge_method: null },
      { code_challenge: 'short' },
    ]) {
      const page = await open(more)
      expect([more, page.status]).toEqual([more, 400])
      expect(page.text).not.toContain('<form')
      // A link leads back to the client; a person is never redirected without an action.
      expect(page.headers.get('location')).toBeNull()
      expect(page.text).toMatch(/<a href="http:\/\/127\.0\.0\.1:41999\/callback\?error=invalid_request&amp;/)
    }
  })

  it('needs S256 also from a client that has a secret', async () => {
    const { client_id } = await deployment.register({ token_endpoint_auth_method: 'client_secret_post' })
    const more = { code_challenge: null, code_challenge_method: null }
    expect((await deployment.open(deployment.addressFor(client_id, challenge, more))).status).toBe(400)
  })

  it('leads nowhere when the redirect URI is not exactly one of the client', async () => {
    for (const redirect_uri of [
      'https://evil.example/callback',
      'http://127.0.0.1:41999/callback/more',
      'http://127.0.0.1:41999/callback?more=1',
      'http://127.0.0.1.evil.example:41999/callback',
      'javascript:alert(1)//callback',
      'data:text/html,x',
      '',
    ]) {
      const page = await open({ redirect_uri })
      expect([redirect_uri, page.status]).toEqual([redirect_uri, 400])
      expect(page.text).not.toMatch(/<form|<a /)
    }
  })

  it('is for one of our resources, the full one by default', async () => {
    expect((await open({ resource: null })).status).toBe(200)
    for (const resource of ['https://other.example/mcp', `${deployment.base}/`, `${deployment.base}/api/v1`])
      expect([resource, (await open({ resource })).status]).toEqual([resource, 400])
  })

  it('comes from a client that is known', async () => {
    for (const client_id of ['nobody', '', 'x'.repeat(5000), 'https://app.example/client.json', '\u0000'])
      expect([client_id, (await open({ client_id })).status]).toEqual([client_id, 400])
  })

  it('cannot be made for a redirect URI that runs a script or crosses the net in the clear', async () => {
    for (const redirect of [
      ...[
        'javascript:alert(1)',
        'JavaScript://x/%0aalert(1)',
        'data:text/html,x',
        'file:///etc/passwd',
        'vbscript:x',
        'blob:x',
      ],
      ...[
        'http://evil.example/',
        'ms-msdt:/id',
        'search-ms://x',
        'mailto:a@b.example',
        'tel:1',
        'intent://x',
        'view-source://x',
      ],
      ...[
        'cursor:callback',
        'cursor://x#fragment',
        'cursor://user@x/',
        'cursor://x y',
        'ws://x.example/',
        'about://blank',
      ],
    ])
      expect(await deployment.register({ redirect_uris: [redirect] })).toMatchObject({
        error: expect.stringMatching(/^invalid_/),
      })
  })
})

describe('a code and its tokens', () => {
  const prepare = async () => {
    const holder = await deployment.key()
    const { client_id } = await deployment.register()
    const { verifier, challenge } = pkce()
    const back = await deployment.allow(deployment.addressFor(client_id, challenge), holder)
    return { holder, client_id, verifier, code: back.searchParams.get('code') as string }
  }

  it('are bound to the verifier, the client and the redirect URI', async () => {
    const { client_id, verifier, code } = await prepare()
    const other = (await deployment.register()).client_id
    const faults = [
      await deployment.exchange(client_id, code, pkce().verifier),
      await deployment.exchange(client_id, code, ''),
      await deployment.exchange(other, code, verifier),
      await deployment.exchange(client_id, code, verifier, { redirect_uri: 'http://127.0.0.1:41999/elsewhere' }),
      await deployment.exchange(client_id, code, verifier, { resource: 'https://other.example/mcp' }),
      await deployment.exchange(client_id, code, verifier, { resource: `${deployment.base}/mcp/threads` }),
    ]
    expect(faults.map(({ status }) => status)).toEqual(faults.map(() => 400))
    expect((await deployment.exchange(client_id, code, verifier)).status).toBe(200)
  })

  it('end when the code is used a second time', async () => {
    const { client_id, verifier, code } = await prepare()
    const first = await deployment.exchange(client_id, code, verifier)
    expect(first.body).toMatchObject({ token_type: 'bearer', expires_in: 3600, scope: 'memory' })
    expect((await deployment.call(first.body.access_token, 'list_threads')).status).toBe(200)
    const second = await deployment.exchange(client_id, code, verifier)
    expect([second.status, second.body.error]).toEqual([400, 'invalid_grant'])
    expect((await deployment.call(first.body.access_token, 'list_threads')).status).toBe(401)
  })

  it('come of one use of the code, however many exchange it at the same moment', async () => {
    for (const times of [2, 8, 30]) {
      const { client_id, verifier, code } = await prepare()
      const answers = await Promise.all(
        Array.from({ length: times }, () => deployment.exchange(client_id, code, verifier)),
      )
      const issued = answers.filter(({ status }) => status === 200)
      expect([times, issued.length]).toEqual([times, 1])
      const refused = answers.filter(({ status }) => status === 400).map(({ body }) => body.error)
      expect(refused).toEqual(Array.from({ length: times - 1 }, () => 'invalid_grant'))
    }
  })

  it('come of the right exchange when a wrong one is made at the same moment', async () => {
    const { client_id, verifier, code } = await prepare()
    const answers = await Promise.all(
      [pkce().verifier, verifier, pkce().verifier].map((one) => deployment.exchange(client_id, code, one)),
    )
    expect(answers.map(({ status }) => status)).toEqual([400, 200, 400])
    expect((await deployment.call(answers[1]?.body.access_token, 'list_threads')).status).toBe(200)
  })

  it('are read from one form by all that decides about them', async () => {
    const { client_id, verifier, code } = await prepare()
    const fields = {
      grant_type: 'authorization_code',
      client_id,
      code,
      code_verifier: verifier,
      redirect_uri: REDIRECT,
    }
    const form = new URLSearchParams(fields).toString()
    const ask = async (body: string, type: string) => {
      const init = { method: 'POST', headers: { 'content-type': type }, body }
      return (await deployment.ask('/token', init)).status
    }
    const FORM = 'application/x-www-form-urlencoded'
    for (const type of [
      `${FORM}\t; charset=utf-8`,
      'multipart/form-data; boundary=x',
      'application/json',
      'text/plain',
    ])
      expect([type, await ask(form, type)]).toEqual([type, 400])
    const other = `k:${'g'.repeat(16)}:${'s'.repeat(32)}`
    for (const body of [`${form}&code=${other}`, `code=${other}&${form}`, `${form}&grant_type=refresh_token`])
      expect([body, await ask(body, FORM)]).toEqual([body, 400])
    expect(await ask(form, `${FORM}; charset=utf-8`)).toBe(200)
    expect(await ask(`\ufeff${form}`, FORM)).toBe(400)
  })

  it('are the same for all who refresh with one token at the same moment, or again within 30 seconds', async () => {
    const { client_id, refresh_token } = await deployment.connect(await deployment.key())
    const refresh = (token: string) =>
      deployment.token({ grant_type: 'refresh_token', client_id, refresh_token: token })
    const both = await Promise.all(Array.from({ length: 8 }, () => refresh(refresh_token)))
    both.push(await refresh(refresh_token))
    expect(both.map(({ status }) => status)).toEqual(both.map(() => 200))
    for (const name of ['access_token', 'refresh_token', 'scope', 'resource', 'token_type'])
      expect([name, new Set(both.map(({ body }) => body[name])).size]).toEqual([name, 1])
    const [first] = both.map(({ body }) => body)
    expect(both.every(({ body }) => body.expires_in <= 3600 && body.expires_in > 3500)).toBe(true)
    expect((await deployment.call(first.access_token, 'list_threads')).status).toBe(200)
    // Two processes with the successor continue, both of them.
    const next = await Promise.all([refresh(first.refresh_token), refresh(first.refresh_token)])
    expect(next[0]?.body.refresh_token).toBe(next[1]?.body.refresh_token)
    expect((await deployment.call(next[1]?.body.access_token, 'list_threads')).status).toBe(200)
    expect((await deployment.call(first.access_token, 'list_threads')).status).toBe(200)
  })

  it('are given again to the client alone that refreshed', async () => {
    const holder = await deployment.key()
    const registered = await deployment.register({ token_endpoint_auth_method: 'client_secret_post' })
    const { client_id, client_secret } = registered
    const { verifier, challenge } = pkce()
    const back = await deployment.allow(deployment.addressFor(client_id, challenge), holder)
    const first = await deployment.exchange(client_id, back.searchParams.get('code'), verifier, { client_secret })
    const refresh_token = first.body.refresh_token as string
    const refresh = (fields: Record<string, string>) =>
      deployment.token({ grant_type: 'refresh_token', refresh_token, ...fields })
    const second = await refresh({ client_id, client_secret })
    expect(second.status).toBe(200)
    const other = (await deployment.register()).client_id
    for (const fields of [
      { client_id },
      { client_id, client_secret: 'wrong' },
      { client_id: other },
      { client_id: 'unknown' },
      {},
    ] as Record<string, string>[]) {
      const { status, body } = await refresh(fields)
      expect([fields, status >= 400, body.refresh_token]).toEqual([fields, true, undefined])
    }
    expect((await refresh({ client_id, client_secret })).body.refresh_token).toBe(second.body.refresh_token)
    expect((await deployment.call(second.body.access_token, 'list_threads')).status).toBe(200)
  })

  it('are all worthless once given back, also when they are refreshed at the same moment', async () => {
    const { client_id, refresh_token, access_token } = await deployment.connect(await deployment.key())
    const refresh = (token: string) =>
      deployment.token({ grant_type: 'refresh_token', client_id, refresh_token: token })
    const answers = await Promise.all([
      ...[refresh(refresh_token), deployment.token({ client_id, token: refresh_token })],
      refresh(refresh_token),
    ])
    const tokens = [access_token, ...answers.map(({ body }) => body.access_token)].filter((one) => one !== undefined)
    const live = await Promise.all(tokens.map(async (one) => (await deployment.call(one, 'list_threads')).status))
    expect(live).toEqual(live.map(() => 401))
    expect((await refresh(refresh_token)).status).toBe(400)
  })

  it('rotate at a refresh, and a refresh token that was replaced and left behind is refused', async () => {
    const { client_id, refresh_token, access_token } = await deployment.connect(await deployment.key())
    const refresh = (token: string) =>
      deployment.token({ grant_type: 'refresh_token', client_id, refresh_token: token })
    const second = await refresh(refresh_token)
    expect(second.status).toBe(200)
    expect(second.body.refresh_token).not.toBe(refresh_token)
    expect(second.body.access_token).not.toBe(access_token)
    expect((await deployment.call(second.body.access_token, 'list_threads')).status).toBe(200)
    expect((await refresh(second.body.refresh_token)).status).toBe(200)
    expect(await refresh(refresh_token)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  })

  it('end, all of them, when a refresh token that was replaced twice is used again', async () => {
    const { client_id, refresh_token } = await deployment.connect(await deployment.key())
    const refresh = (token: string) =>
      deployment.token({ grant_type: 'refresh_token', client_id, refresh_token: token })
    const second = (await refresh(refresh_token)).body
    // A client that never heard the answer may ask with the same token once more.
    const again = (await refresh(refresh_token)).body
    const third = (await refresh(again.refresh_token)).body
    const last = (await refresh(third.refresh_token)).body
    expect((await deployment.call(last.access_token, 'list_threads')).status).toBe(200)
    expect((await refresh(second.refresh_token)).body.error).toBe('invalid_grant')
    expect((await deployment.call(last.access_token, 'list_threads')).status).toBe(401)
    expect((await refresh(last.refresh_token)).status).toBe(400)
  })

  it('do not end when a caller invents a token', async () => {
    const { client_id, access_token, refresh_token } = await deployment.connect(await deployment.key())
    const [user, grant] = refresh_token.split(':')
    const ofGrant = `${user}:${grant}:${'z'.repeat(32)}`
    for (const made of [ofGrant, `${user}:${'x'.repeat(16)}:${'y'.repeat(32)}`, 'a:b:c', `${user}:*:*`])
      expect((await deployment.token({ grant_type: 'refresh_token', client_id, refresh_token: made })).status).toBe(400)
    expect((await deployment.call(access_token, 'list_threads')).status).toBe(200)
  })

  it('are rate limited per address', async () => {
    const crowded = await startDeployment()
    try {
      const answers: Json[] = []
      const some = Array.from({ length: 25 }, (_, i) => ({ client_name: `client ${i}` }))
      for (let i = 0; i < 10; i++)
        answers.push(...(await Promise.all(some.map((metadata) => crowded.register(metadata)))))
      // A minute may turn in between, which lets as many in again.
      const refused = answers.filter(({ error }) => error === 'temporarily_unavailable').length
      expect([refused > 0, refused <= 130]).toEqual([true, true])
    } finally {
      await crowded.stop()
    }
  })

  it('are for clients that registered within limits', async () => {
    const many = Array.from({ length: 21 }, (_, i) => `http://127.0.0.1:41999/callback/${i}`)
    for (const metadata of [
      { client_name: 'n'.repeat(201) },
      { client_name: '\u{1f600}'.repeat(201) },
      { redirect_uris: many },
      { redirect_uris: [`https://app.example/${'p'.repeat(1000)}`] },
    ]) {
      const { error, error_description } = await deployment.register(metadata)
      expect(error).toBe('invalid_client_metadata')
      expect(error_description).toMatch(/; send /)
    }
    const fields = ['logo_uri', 'client_uri', 'policy_uri', 'tos_uri', 'client_name#de', 'contacts']
    for (const field of fields) {
      const value = `https://app.example/${'p'.repeat(9000)}`
      const answer = await deployment.register({ [field]: field === 'contacts' ? [value] : value })
      expect([field, answer.client_id]).toEqual([field, undefined])
    }
    const fitting = { client_name: 'n'.repeat(200), redirect_uris: many.slice(0, 20) }
    expect(await deployment.register(fitting)).toMatchObject({ client_id: expect.any(String), ...fitting })
  })

  it('end when the client gives them back', async () => {
    const { client_id, access_token, refresh_token } = await deployment.connect(await deployment.key())
    expect((await deployment.token({ client_id, token: refresh_token })).status).toBe(200)
    expect((await deployment.call(access_token, 'list_threads')).status).toBe(401)
  })

  it('are in the store as hashes only, and nothing of the key is', async () => {
    const holder = await deployment.key()
    const { access_token, refresh_token } = await deployment.connect(holder)
    const stored = await deployment.server.grants()
    expect(stored).toContain(holder.id)
    for (const secret of [access_token, refresh_token, holder.key, holder.key.slice(3, 20)])
      expect(stored).not.toContain(secret.split(':').at(-1))
  })

  it('answer odd and oversized requests without an internal error', async () => {
    const { client_id } = await deployment.register()
    const long = 'x'.repeat(3000)
    for (const form of [
      {},
      { client_id: long },
      { grant_type: 'authorization_code', client_id, code: `${long}:${long}:${long}` },
      { grant_type: 'refresh_token', client_id, refresh_token: `${long}:a:b` },
      { client_id, token: `${long}:${long}:${long}` },
      { client_id, filler: 'x'.repeat(100_000) },
      { client_id: 'http://127.0.0.1:1/', grant_type: 'authorization_code' },
    ] as Record<string, string>[])
      expect((await deployment.token(form)).status).toBeLessThan(500)
    for (const body of ['', '{', 'null', '[]', '"x"', '{"redirect_uris":[1]}', `"${'x'.repeat(100_000)}"`]) {
      const { status } = await deployment.ask('/register', { method: 'POST', body })
      expect([body.length, status < 500 && status >= 400]).toEqual([body.length, true])
    }
  })
})

describe('a grant', () => {
  const store = { thread_id: 't', source: 'agent', text: 'words' }

  it('may what its key may, and no more', async () => {
    const reader = await deployment.connect(await deployment.key({ role: 'reader' }))
    const { result } = await deployment.call(reader.access_token, 'store_context', store)
    expect(result.structuredContent.error.code).toBe('forbidden')
    const narrow = await deployment.connect(await deployment.key({ projects: ['p'], agent: 'robot' }))
    const denied = await deployment.call(narrow.access_token, 'store_context', { ...store, metadata: { project: 'q' } })
    expect(denied.result.structuredContent.error.message).toBe('Project access denied: q')
    const kept = await deployment.call(narrow.access_token, 'store_context', store)
    expect(kept.result.structuredContent.success).toBe(true)
  })

  it('changes nothing that its key may not change, by any version of it', async () => {
    const wide = await deployment.connect(await deployment.key({ owner: 'ada' }))
    const narrow = await deployment.connect(await deployment.key({ projects: ['p'], owner: 'bob' }))
    const said = async (token: string, tool: string, args: Record<string, unknown>) =>
      (await deployment.call(token, tool, args)).result.structuredContent
    const moved = [{ project: 'q' }, { project: null }, { project: 'p', audience: 'private' }]
    for (const metadata_patch of moved) {
      const first = { ...store, thread_id: JSON.stringify(metadata_patch), metadata: { project: 'p' } }
      const { context_id } = await said(wide.access_token, 'store_context', first)
      await said(wide.access_token, 'update_context', { context_id, text: 'words of now', metadata_patch })
      const back = await said(narrow.access_token, 'restore_context', { context_ids: [context_id], version: 1 })
      expect([metadata_patch, back.restored, back.skipped]).toEqual([
        ...[metadata_patch, [], [{ context_id, reason: 'not found' }]],
      ])
      for (const [tool, args] of [
        ['update_context', { context_id, text: 'mine', expected_version: 7 }],
        ['context_delete', { memoryId: String(context_id) }],
      ] as const) {
        const { error, code } = await said(narrow.access_token, tool, args)
        expect([tool, error.code ?? code]).toEqual([tool, tool === 'context_delete' ? 'NOT_FOUND' : 'not_found'])
      }
      const { result } = await said(wide.access_token, 'get_context_by_ids', { context_ids: [context_id] })
      expect(result[0].text_content).toBe('words of now')
    }
  })

  it('ends with its key at the next request, and cannot be refreshed', async () => {
    const holder = await deployment.key()
    const { client_id, access_token, refresh_token } = await deployment.connect(holder)
    expect((await deployment.call(access_token, 'list_threads')).status).toBe(200)
    await deployment.revoke(holder)
    const refused = await deployment.call(access_token, 'list_threads')
    expect(refused.status).toBe(401)
    expect(refused.headers.get('www-authenticate')).toMatch(/error="invalid_token", resource_metadata="/)
    const refreshed = await deployment.token({ grant_type: 'refresh_token', client_id, refresh_token })
    expect([refreshed.status, refreshed.body.error]).toEqual([400, 'invalid_grant'])
    expect(await deployment.server.grants()).not.toContain(`grant:${holder.id}:`)
  })

  it('ends when its key expires', async () => {
    const holder = await deployment.key({ expires_at: '2999-01-01' })
    const { client_id, access_token, refresh_token } = await deployment.connect(holder)
    expect((await deployment.call(access_token, 'list_threads')).status).toBe(200)
    await deployment.server.sql(`UPDATE api_keys SET expires_at = 1 WHERE id = '${holder.id}'`)
    expect((await deployment.call(access_token, 'list_threads')).status).toBe(401)
    expect((await deployment.token({ grant_type: 'refresh_token', client_id, refresh_token })).status).toBe(400)
  })

  it('is valid where it was issued for: for the full resource below it too, for one family only there', async () => {
    const holder = await deployment.key()
    const status = async (token: string, path: string) =>
      (await deployment.call(token, 'list_threads', {}, path)).status
    const whole = await deployment.connect(holder)
    expect(await status(whole.access_token, '/mcp/threads')).toBe(200)
    const family = await deployment.connect(holder, { resource: `${deployment.base}/mcp/threads` })
    expect(await status(family.access_token, '/mcp/threads')).toBe(200)
    expect(await status(family.access_token, '/mcp')).toBe(401)
    const image = { headers: { authorization: `Bearer ${family.access_token}` } }
    expect((await deployment.ask(`/images/${'0'.repeat(64)}`, image)).status).toBe(404)
  })

  it('is worth nothing at another address of the same server', async () => {
    const { access_token } = await deployment.connect(await deployment.key())
    const elsewhere = deployment.base.replace('127.0.0.1', 'localhost')
    const init = { method: 'POST', headers: { authorization: `Bearer ${access_token}` }, body: '{}' }
    expect((await fetch(`${elsewhere}/mcp`, init)).status).toBe(401)
  })

  it('administers nothing, whatever its key may', async () => {
    const holder = await deployment.key({ role: 'admin' })
    const { access_token } = await deployment.connect(holder)
    const list = (bearer: string) =>
      deployment.ask('/api/v1/orgs/acme/keys', { headers: { authorization: `Bearer ${bearer}` } })
    expect((await list(access_token)).status).toBe(401)
    expect((await list(holder.key)).status).toBe(200)
  })

  it('leaves other grants of the same key alone, and the key itself', async () => {
    const holder = await deployment.key()
    const [first, second] = [await deployment.connect(holder), await deployment.connect(holder)]
    for (const bearer of [first.access_token, second.access_token, holder.key])
      expect((await deployment.call(bearer, 'list_threads')).status).toBe(200)
  })

  it('is in the audit log without text of the client', async () => {
    const holder = await deployment.key()
    const { client_id } = await deployment.connect(holder)
    const { events } = await deployment.admin('GET', '/orgs/acme/audit?limit=1000')
    const noted = events.filter(({ action, key_id }: Json) => action === 'oauth.grant' && key_id === holder.id)
    expect(noted).toMatchObject([{ allowed: true, tool: null, ids: [], detail: { granted: 1 } }])
    expect(JSON.stringify(events)).not.toContain(client_id)
  })

  it('is refused in the words of any wrong credential when it is made up', async () => {
    const refused = await deployment.call('cp_nonsense', 'list_threads')
    for (const token of ['a:b:c', `key_0:${'a'.repeat(16)}:${'b'.repeat(32)}`, `${'x'.repeat(600)}:a:b`, '::', 'é'])
      expect((await deployment.call(encodeURI(token), 'list_threads')).status).toBe(refused.status)
  })
})

it('writes no key and no token to the log', async () => {
  const holder = await deployment.key()
  const address = deployment.addressFor((await deployment.register()).client_id, pkce().challenge)
  for (const key of [holder.key, `${holder.key}x`, ADMIN_TOKEN])
    await deployment.submit(address, await deployment.open(address), { key })
  const { access_token, refresh_token } = await deployment.connect(holder)
  await deployment.token({ grant_type: 'refresh_token', client_id: 'nobody', refresh_token })
  expect(lines.join('\n')).toContain('oauth_refused')
  for (const secret of [holder.key, ADMIN_TOKEN, access_token, refresh_token, REDIRECT])
    expect(lines.join('\n')).not.toContain(secret)
})
