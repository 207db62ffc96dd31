import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unpackExtension } from '@anthropic-ai/mcpb'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { prove, waitUntilReady } from '../../scripts/deploy/proof.mjs'
import { packDesktopExtension } from '../../scripts/mcpb.mjs'
import { ABOUT } from '../../src/domain/about'
import { sharedTeam } from '../contracts/endpoint/session'
import { ADMIN_TOKEN, type Team } from '../support/access'
import { ROOT } from '../support/build'
import type { RunningServer } from '../support/server'

let server: RunningServer
let team: Team
beforeAll(async () => {
  team = await sharedTeam()
  server = team.server
})

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

/** The key of a writer in an organization of its own. */
const keyOf = async (org: string): Promise<string> => (await team.key(org)).key

describe('commonplace stdio', () => {
  const program = [join(ROOT, 'src', 'cli', 'commonplace.mjs'), 'stdio']
  const open = async (url: string, key: string) => {
    const client = new Client({ name: 'test', version: '1.0.0' })
    const env = { PATH: process.env.PATH ?? '', COMMONPLACE_URL: url, COMMONPLACE_KEY: key }
    await client.connect(new StdioClientTransport({ command: process.execPath, args: program, env, stderr: 'ignore' }))
    return client
  }

  it('carries a client that only starts programs to the server, with the key of its environment', async () => {
    const client = await open(new URL(server.url).origin, await keyOf('bridged'))
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain('remember')
    const kept = await client.callTool({ name: 'remember', arguments: { title: 'Bridge', content: 'Said over stdio' } })
    expect(kept.structuredContent).toMatchObject({ kind: 'note' })
    await client.close()
  })

  it('comes as an extension of Claude Desktop, packed by the official packer, whose settings lead it to the server', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'commonplace-mcpb-'))
    const file = join(folder, 'commonplace.mcpb')
    await packDesktopExtension(file, join(folder, 'staging'))
    const unpacked = join(folder, 'unpacked')
    expect(await unpackExtension({ mcpbPath: file, outputDir: unpacked, silent: true })).toBe(true)
    const manifest = JSON.parse(readFileSync(join(unpacked, 'manifest.json'), 'utf8'))
    const { command, args, env } = manifest.server.mcp_config
    expect([command, existsSync(join(unpacked, manifest.server.entry_point))]).toEqual(['node', true])
    // As Claude Desktop fills them in.
    const { origin } = new URL(server.url)
    const key = await keyOf('extended')
    const settings: Record<string, string> = { __dirname: unpacked, 'user_config.url': origin, 'user_config.key': key }
    const filled = (text: string) => text.replace(/\$\{([\w.]+)\}/g, (whole, name) => settings[name] ?? whole)
    const client = new Client({ name: 'test', version: '1.0.0' })
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: args.map(filled),
      env: Object.fromEntries(Object.entries<string>(env).map(([name, value]) => [name, filled(value)])),
      stderr: 'ignore',
    })
    await client.connect(transport)
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('remember')
    await client.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it('explains to a client why the server refuses it', async () => {
    await expect(open(new URL(server.url).origin, 'cp_nobody_knows_this_key_at_all')).rejects.toThrow()
  })
})

describe('a server without clients yet', () => {
  it('publishes on its card what it is and how to connect, and nothing else', async () => {
    const url = new URL('/mcp/server-card', server.url)
    const response = await fetch(url)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/mcp-server-card+json')
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    const shown = card.parse(await response.json())
    expect(shown).toMatchObject({
      ...ABOUT,
      remotes: [{ url: `${url.origin}/mcp/core` }, { url: `${url.origin}/mcp` }],
    })
  })

  it('has the same version for clients, in package.json and on its card', () => {
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
    const { key, org } = await prove(deploying as never, origin, ADMIN_TOKEN)
    expect([org, said]).toEqual(['main', ['ready', 'proof']])
    expect((await prove(deploying as never, origin, ADMIN_TOKEN)).key).toBeNull()
    const asked = await fetch(`${origin}/api/v1/orgs/main/keys`, { headers: { authorization: `Bearer ${key}` } })
    const { keys } = (await asked.json()) as { keys: { role: string; revoked_at: string | null }[] }
    expect(keys.filter(({ revoked_at }) => !revoked_at).map(({ role }) => role)).toEqual(['admin'])
  })
})
