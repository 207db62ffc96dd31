import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { prove, waitUntilReady } from '../../scripts/deploy/proof.mjs'
import { ABOUT } from '../../src/domain/about'
import { ROOT } from '../support/build'
import { type RunningServer, startServer } from '../support/server'

const TOKEN = 'a-token-of-the-operator-of-this-test'

let server: RunningServer
beforeAll(async () => {
  server = await startServer({ AUTH_MODE: 'required', ADMIN_TOKEN: TOKEN })
})
afterAll(() => server.stop())

/** schema.json of github.com/modelcontextprotocol/experimental-ext-server-card, what of it we use; unknown members are refused. */
const remote = z.strictObject({
  type: z.enum(['streamable-http', 'sse']),
  url: z.string().regex(/^(https?:\/\/[^\s]+|\{[a-zA-Z_][a-zA-Z0-9_]*\}[^\s]*)$/),
  headers: z.array(z.looseObject({ name: z.string() })).optional(),
  supportedProtocolVersions: z.array(z.string()).optional(),
})
const card = z.strictObject({
  $schema: z.literal('https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json'),
  name: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  version: z.string().max(255),
  description: z.string().min(1).max(100),
  title: z.string().min(1).max(100),
  remotes: z.array(remote),
})

describe('commonplace stdio', () => {
  const program = [join(ROOT, 'src', 'cli', 'commonplace.mjs'), 'stdio']
  const open = async (url: string, key: string) => {
    const client = new Client({ name: 'test', version: '1.0.0' })
    const env = { PATH: process.env.PATH ?? '', COMMONPLACE_URL: url, COMMONPLACE_KEY: key }
    await client.connect(new StdioClientTransport({ command: process.execPath, args: program, env, stderr: 'ignore' }))
    return client
  }

  it('carries a client that only starts programs to the server, with the key of its environment', async () => {
    const { origin } = new URL(server.url)
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
    const post = async (path: string, body: object): Promise<Record<string, string>> =>
      (await fetch(`${origin}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).json()
    await post('/orgs', { id: 'bridged', name: 'Bridged' })
    const { key = '' } = await post('/orgs/bridged/keys', { name: 'desktop', role: 'writer' })
    const client = await open(origin, key)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain('remember')
    const kept = await client.callTool({ name: 'remember', arguments: { title: 'Bridge', content: 'Said over stdio' } })
    expect(kept.structuredContent).toMatchObject({ success: true })
    await client.close()
  })

  it('tells a client why the server refuses it', async () => {
    await expect(open(new URL(server.url).origin, 'cp_nobody_knows_this_key_at_all')).rejects.toThrow()
  })
})

describe('a server that nobody knows yet', () => {
  it('tells everybody on its card what it is and how it is connected to, and nothing else', async () => {
    const url = new URL('/mcp/server-card', server.url)
    const response = await fetch(url)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/mcp-server-card+json')
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    const shown = card.parse(await response.json())
    expect(shown).toMatchObject({
      ...ABOUT,
      remotes: [{ url: `${url.origin}/mcp` }, { url: `${url.origin}/mcp/core` }],
    })
  })

  it('says the same version to clients, in package.json and on its card', () => {
    expect(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version).toBe(ABOUT.version)
  })

  it('passes the proof of a deployment, which leaves one key of an administrator and no entry behind', async () => {
    const { origin } = new URL(server.url)
    const said: string[] = []
    const deploying = {
      ...{ fetch, now: () => new Date(), sleep: async () => {}, options: { org: 'main' } },
      say: (step: string) => void said.push(step),
    }
    await waitUntilReady(deploying as never, origin)
    const { key, org } = await prove(deploying as never, origin, TOKEN)
    expect([org, said]).toEqual(['main', ['ready', 'proof']])
    expect((await prove(deploying as never, origin, TOKEN)).key).toBeNull()
    const asked = await fetch(`${origin}/api/v1/orgs/main/keys`, { headers: { authorization: `Bearer ${key}` } })
    const { keys } = (await asked.json()) as { keys: { role: string; revoked_at: string | null }[] }
    expect(keys.filter(({ revoked_at }) => !revoked_at).map(({ role }) => role)).toEqual(['admin'])
  })
})
