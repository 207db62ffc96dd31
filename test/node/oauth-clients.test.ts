import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Deployment, type Json, type Key, REDIRECT, startDeployment } from '../support/oauth'

/** OAuth as the SDKs' own clients run it, from the first 401 to a tool call; only the person is played by the test. */

/** Data that an SDK client stores, and the address that it opens for its user. */
function createMemory() {
  const kept: { client?: Json; tokens?: Json; verifier?: string; opened?: URL; discovery?: Json } = {}
  const provider = {
    redirectUrl: REDIRECT,
    clientMetadata: {
      client_name: 'SDK client',
      redirect_uris: [REDIRECT],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    state: () => 'a state',
    clientInformation: () => kept.client,
    saveClientInformation: (client: Json) => {
      kept.client = client
    },
    tokens: () => kept.tokens,
    saveTokens: (tokens: Json) => {
      kept.tokens = tokens
    },
    redirectToAuthorization: (url: URL) => {
      kept.opened = url
    },
    saveCodeVerifier: (verifier: string) => {
      kept.verifier = verifier
    },
    codeVerifier: () => kept.verifier ?? '',
    saveDiscoveryState: (state: Json) => {
      kept.discovery = state
    },
    discoveryState: () => kept.discovery,
  }
  return { kept, provider }
}

type Memory = ReturnType<typeof createMemory>

interface Session {
  call(name: string, args: Json): Promise<Json>
  close(): Promise<void>
}

interface Sdk {
  readonly connect: (url: URL, memory: Memory) => Promise<Session>
  readonly finish: (url: URL, memory: Memory, back: URL) => Promise<void>
}

const v2 = (pin?: string): Sdk => ({
  async connect(url, { provider }) {
    const client = new Client({ name: 'test', version: '1' }, pin ? { versionNegotiation: { mode: { pin } } } : {})
    await client.connect(new StreamableHTTPClientTransport(url, { authProvider: provider }))
    return { call: (name, args) => client.callTool({ name, arguments: args }), close: () => client.close() }
  },
  async finish(url, { provider }, back) {
    await new StreamableHTTPClientTransport(url, { authProvider: provider }).finishAuth(back.searchParams)
  },
})

const SDKS: Readonly<Record<string, Sdk>> = {
  'SDK v2, revision 2026-07-28': v2('2026-07-28'),
  'SDK v2, revision 2025': v2(),
  'SDK v1': {
    async connect(url, { provider }) {
      const client = new ClientV1({ name: 'test', version: '1' })
      await client.connect(new TransportV1(url, { authProvider: provider }) as Transport)
      return { call: (name, args) => client.callTool({ name, arguments: args }), close: () => client.close() }
    },
    async finish(url, { provider }, back) {
      await new TransportV1(url, { authProvider: provider }).finishAuth(back.searchParams.get('code') as string)
    },
  },
}

let deployment: Deployment
let holder: Key
beforeAll(async () => {
  deployment = await startDeployment()
  holder = await deployment.key()
})
afterAll(() => deployment.stop())

describe.each(Object.entries(SDKS))('%s', (_, sdk) => {
  /** The user's view: the client opens the browser, then it works. */
  async function signIn(url: URL): Promise<Memory> {
    const memory = createMemory()
    await expect(sdk.connect(url, memory)).rejects.toThrow()
    const back = await deployment.allow(memory.kept.opened as URL, holder)
    expect(back.searchParams.get('state')).toBe('a state')
    expect(back.searchParams.get('iss')).toBe(deployment.base)
    await sdk.finish(url, memory, back)
    return memory
  }

  it.each(['/mcp', '/mcp/threads'])('finds its own way from the 401 of %s to a tool call', async (path) => {
    const url = new URL(path, deployment.base)
    const memory = await signIn(url)
    expect(memory.kept.opened?.searchParams.get('resource')).toBe(url.href)
    const session = await sdk.connect(url, memory)
    const args = { thread_id: 't', source: 'agent', text: 'stored by a grant' }
    const { structuredContent } = await session.call('store_context', args)
    expect(structuredContent).toMatchObject({ success: true })
    await session.close()
  })

  it('refreshes by itself when its access token is no longer taken', async () => {
    const memory = await signIn(deployment.server.url)
    memory.kept.tokens = { ...memory.kept.tokens, access_token: 'key_0:0:0' }
    const session = await sdk.connect(deployment.server.url, memory)
    expect(memory.kept.tokens.access_token).not.toBe('key_0:0:0')
    expect((await session.call('list_threads', {})).isError).not.toBe(true)
    await session.close()
  })
})
