import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Deployment, departureOf, type Json, type Key, pkce, startDeployment } from '../support/oauth'

/**
 * OAuth as ChatGPT and Cursor run it, request by request.
 *
 * ChatGPT: developers.openai.com/apps-sdk/build/auth (metadata, registration, `resource` in the authorization and in the exchange, PKCE by
 * S256; callback `https://chatgpt.com/connector/oauth/{id}`, formerly `https://chatgpt.com/connector_platform_oauth_redirect`).
 * Cursor: cursor.com/docs/mcp (callback `cursor://anysphere.cursor-mcp/oauth/callback`); its registration names three callbacks
 * (bytebase/bytebase#20510, erp-mafia/accounted#2225), with `application_type` web or without it (better-auth/better-auth#10956).
 */
const ORIGIN = 'https://memory.example'

let deployment: Deployment
let holder: Key
beforeAll(async () => {
  deployment = await startDeployment({ origin: ORIGIN, onLog: () => undefined })
  holder = await deployment.key()
})
afterAll(() => deployment.stop())

interface Flow {
  /** Address that the person gave the client. */
  readonly dialed: string
  readonly registration: Json
  /** Of the registered ones. */
  readonly redirect: string
  readonly userAgent: string
  /** Whether the client repeats the resource when it exchanges the code. */
  readonly resourceInExchange: boolean
}

const CURSOR = {
  client_name: 'Cursor',
  redirect_uris: [
    'cursor://anysphere.cursor-mcp/oauth/callback',
    'https://www.cursor.com/agents/mcp/oauth/callback',
    'http://localhost:8787/callback',
  ],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
}
const CHATGPT = {
  client_name: 'ChatGPT',
  redirect_uris: [
    'https://chatgpt.com/connector/oauth/OUbdUMlL15Ct',
    'https://chatgpt.com/connector_platform_oauth_redirect',
  ],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
  application_type: 'web',
}

const FLOWS: Readonly<Record<string, Flow>> = {
  ChatGPT: {
    ...{ dialed: `${ORIGIN}/mcp/connector`, registration: CHATGPT, userAgent: 'openai-mcp/1.0.0' },
    redirect: 'https://chatgpt.com/connector/oauth/OUbdUMlL15Ct',
    resourceInExchange: true,
  },
  'ChatGPT with a closing slash and its former callback': {
    ...{ dialed: `${ORIGIN}/mcp/`, registration: CHATGPT, userAgent: 'openai-mcp/1.0.0' },
    redirect: 'https://chatgpt.com/connector_platform_oauth_redirect',
    resourceInExchange: true,
  },
  'Cursor, by the scheme of its app': {
    ...{ dialed: `${ORIGIN}/mcp/core`, registration: CURSOR, userAgent: 'Cursor/3.13.25' },
    redirect: 'cursor://anysphere.cursor-mcp/oauth/callback',
    resourceInExchange: false,
  },
  'Cursor, with its scheme alone and application_type web': {
    ...{ dialed: `${ORIGIN}/mcp/core/`, userAgent: 'Cursor/3.13.25' },
    registration: { ...CURSOR, application_type: 'web', redirect_uris: CURSOR.redirect_uris.slice(0, 1) },
    redirect: 'cursor://anysphere.cursor-mcp/oauth/callback',
    resourceInExchange: true,
  },
  'Cursor, by its web page': {
    ...{ dialed: `${ORIGIN}/mcp/core`, registration: CURSOR, userAgent: 'Cursor/3.13.25' },
    redirect: 'https://www.cursor.com/agents/mcp/oauth/callback',
    resourceInExchange: true,
  },
}

describe.each(Object.entries(FLOWS))('%s', (_, { dialed, registration, redirect, userAgent, resourceInExchange }) => {
  const agent = { 'user-agent': userAgent }
  const types = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const initialize = JSON.stringify({
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: {
      protocolVersion: '2025-06-18',
      capabilities: { roots: { listChanged: true } },
      clientInfo: { name: registration.client_name, version: '1.0.0' },
    },
  })
  const json = async (address: string, init: RequestInit = {}): Promise<Json> => {
    const response = await deployment.ask(address, init)
    expect([address, response.status]).toEqual([address, init.method === 'POST' ? expect.any(Number) : 200])
    return response.json()
  }

  it('comes from the first 401 to a tool call and a refresh', async () => {
    // 1. The first message, without a token.
    const refused = await deployment.ask(dialed, { method: 'POST', headers: { ...types, ...agent }, body: initialize })
    const challenge = refused.headers.get('www-authenticate') ?? ''
    expect([refused.status, challenge]).toEqual([401, expect.stringMatching(/^Bearer .*resource_metadata="[^"]+"/)])
    // 2. The metadata of the resource, as the challenge names it.
    const metadataAddress = /resource_metadata="([^"]+)"/.exec(challenge)?.[1] ?? ''
    const resource = await json(metadataAddress, { headers: agent })
    expect(resource).toMatchObject({ resource: dialed, authorization_servers: [ORIGIN] })
    // 3. The metadata of the authorization server.
    const server = await json(`${resource.authorization_servers[0]}/.well-known/oauth-authorization-server`)
    expect(server).toMatchObject({ issuer: ORIGIN, code_challenge_methods_supported: expect.arrayContaining(['S256']) })
    expect(server.token_endpoint_auth_methods_supported).toContain('none')
    // 4. Registration.
    const registered = await deployment.ask(server.registration_endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...agent },
      body: JSON.stringify({ ...registration, scope: resource.scopes_supported.join(' ') }),
    })
    const client = (await registered.json()) as Json
    expect([registered.status, client]).toEqual([
      201,
      expect.objectContaining({ redirect_uris: registration.redirect_uris }),
    ])
    // 5. The person's browser.
    const { verifier, challenge: code_challenge } = pkce()
    const address = new URL(server.authorization_endpoint)
    address.search = new URLSearchParams({
      ...{ response_type: 'code', client_id: client.client_id, redirect_uri: redirect, code_challenge },
      ...{ code_challenge_method: 'S256', state: 'oauth_s_0123', scope: resource.scopes_supported.join(' ') },
      resource: resource.resource,
    }).toString()
    const page = await deployment.open(address)
    expect(page.status).toBe(200)
    const destination = /^https?:/.test(redirect) ? new URL(redirect).host : 'cursor://anysphere.cursor-mcp'
    expect(page.text).toContain(`<dt>You will be sent back to</dt><dd>${destination}</dd>`)
    expect(page.text.includes('This is a program on your own computer')).toBe(redirect.startsWith('cursor:'))
    const back = departureOf(await deployment.submit(address, page, { key: holder.key }))
    expect(back.href.startsWith(`${redirect}?`)).toBe(true)
    expect([back.searchParams.get('state'), back.searchParams.get('iss')]).toEqual(['oauth_s_0123', ORIGIN])
    // 6. The exchange of the code.
    const exchanged = await deployment.token({
      ...{ grant_type: 'authorization_code', client_id: client.client_id, code: back.searchParams.get('code') ?? '' },
      ...{ redirect_uri: redirect, code_verifier: verifier },
      ...(resourceInExchange ? { resource: resource.resource } : {}),
    })
    expect([exchanged.status, exchanged.body.token_type.toLowerCase()]).toEqual([200, 'bearer'])
    // 7. The first message again, and a call.
    const { access_token, refresh_token } = exchanged.body
    const headers = { ...types, ...agent, authorization: `Bearer ${access_token}` }
    const opened = await deployment.ask(dialed, { method: 'POST', headers, body: initialize })
    expect(((await opened.json()) as Json).result.serverInfo.name).toBe('commonplace')
    const listed = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })
    const list = (await (await deployment.ask(dialed, { method: 'POST', headers, body: listed })).json()) as Json
    const [tool] = list.result.tools
    const args = tool.name === 'search' ? { query: 'anything' } : {}
    const path = new URL(dialed).pathname
    expect(
      (
        await deployment.call(
          access_token,
          list.result.tools[0].name === 'store_context' ? 'list_threads' : tool.name,
          args,
          path,
        )
      ).status,
    ).toBe(200)
    // 8. The refresh.
    const refreshed = await deployment.token({
      ...{ grant_type: 'refresh_token', client_id: client.client_id, refresh_token },
      ...(resourceInExchange ? { resource: resource.resource } : {}),
    })
    expect([refreshed.status, refreshed.body.access_token === access_token]).toEqual([200, false])
  })

  it('is sent back with an error, and without a code, when the person refuses or the proof is missing', async () => {
    const { client_id } = await deployment.register(registration)
    const { challenge } = pkce()
    const address = deployment.addressFor(client_id, challenge, { redirect_uri: redirect, resource: dialed })
    const refused = departureOf(
      await deployment.submit(address, await deployment.open(address), { decision: 'refuse' }),
    )
    expect([refused.href.startsWith(`${redirect}?`), refused.searchParams.get('error')]).toEqual([
      true,
      'access_denied',
    ])
    const more = { redirect_uri: redirect, resource: dialed, code_challenge: null, code_challenge_method: null }
    expect((await deployment.open(deployment.addressFor(client_id, challenge, more))).status).toBe(400)
  })
})
