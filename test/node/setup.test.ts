import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'smol-toml'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SETUP_CLIENTS } from '../../src/integrations/setup/client-files'
import { sharedOpen, sharedTeam } from '../contracts/endpoint/session'
import { ADMIN_TOKEN, type Team } from '../support/access'
import { CLIENTS, type Connect, type TestClient } from '../support/clients'
import { runHere } from '../support/command-here'
import type { RunningServer } from '../support/server'

// biome-ignore lint/suspicious/noExplicitAny: snippets are untyped
type Json = any
const URL_OF: Readonly<Record<string, (snippet: Json) => unknown>> = {
  opencode: ({ mcp }) => mcp.commonplace.url,
  claude: ({ mcpServers }) => mcpServers.commonplace.args[2],
  docker: ({ mcpServers }) => mcpServers.commonplace.args.find((arg: string) => arg.startsWith('http')),
  gemini: ({ mcpServers }) => mcpServers.commonplace.httpUrl,
  'vs-code': ({ servers }) => servers.commonplace.url,
  windsurf: ({ mcpServers }) => mcpServers.commonplace.serverUrl,
  zed: ({ context_servers }) => context_servers.commonplace.url,
  codex: ({ mcp_servers }) => mcp_servers.commonplace.url,
}
const read = (cli: string, snippet: string): Json => (cli === 'codex' ? parse(snippet) : JSON.parse(snippet))
const urlOf = (cli: string, snippet: Json) =>
  (URL_OF[cli] ?? (({ mcpServers }: Json) => mcpServers.commonplace.url))(snippet)

const FILES: Readonly<Record<string, string>> = {
  opencode: '.config/opencode/opencode.json',
  claude: '.config/Claude/claude_desktop_config.json',
  'claude-code': '.claude.json',
  kimi: '.kimi/mcp.json',
  codex: '.codex/config.toml',
  gemini: '.gemini/settings.json',
  cursor: '.cursor/mcp.json',
  'vs-code': '.config/Code/User/mcp.json',
  windsurf: '.codeium/windsurf/mcp_config.json',
  zed: '.config/zed/settings.json',
  cline: '.cline/data/settings/cline_mcp_settings.json',
}

describe('context_setup', () => {
  let server: RunningServer
  let client: TestClient
  let team: Team
  beforeAll(async () => {
    server = await sharedOpen()
    client = await (CLIENTS['SDK v1'] as Connect)(server.url)
    team = await sharedTeam()
  })
  afterAll(() => client.close())
  const call = async (args: object): Promise<Json> => (await client.call('context_setup', { ...args })).data

  it('[FABRIC-134] shows a snippet for each client of the list that parses and points at this server', async () => {
    expect(SETUP_CLIENTS).toHaveLength(14)
    for (const cli of SETUP_CLIENTS) {
      const { snippet, message, ...rest } = await call({ cli, preview: 'true' })
      expect(Object.keys(rest)).toEqual(['preview', 'cli', 'useDocker', 'configFile'])
      const host = cli === 'docker' ? 'host.docker.internal' : server.url.hostname
      const address = `http://${host}:${server.url.port}/mcp/fabric`
      expect([cli, urlOf(cli, read(cli, snippet))]).toEqual([cli, address])
      expect(message).toContain(`${server.url.origin}/mcp has the tools of all families`)
    }
  })

  it('[FABRIC-134] writes nothing and names the file, snippet and command', async () => {
    expect(await call({ cli: 'gemini' })).toEqual({
      success: true,
      written: false,
      cli: 'gemini',
      configFile: '~/.gemini/settings.json',
      snippet: expect.stringContaining('httpUrl'),
      command: `npm run commonplace -- setup gemini --url ${server.url.origin}/mcp/fabric`,
      restartRequired: true,
      message: expect.stringContaining('~/.gemini/settings.json'),
    })
    const places: Record<string, readonly [string, RegExp]> = {
      opencode: ['~/.config/opencode/opencode.json', /version 2|opencode 2/],
      claude: ['claude_desktop_config.json', /./],
      'claude-code': ['~/.claude.json', /claude mcp add --transport http --scope user/],
      kimi: ['~/.kimi/mcp.json (newer: ~/.kimi-code/mcp.json)', /bearerTokenEnvVar/],
      codex: ['~/.codex/config.toml', /config\.toml/],
      cursor: ['~/.cursor/mcp.json', /mcp\.json/],
      'vs-code': ['mcp.json in ~/Library', /./],
      windsurf: ['~/.codeium/windsurf/mcp_config.json', /./],
      zed: ['~/.config/zed/settings.json', /./],
      jetbrains: ['(manual)', /As JSON/],
      cline: ['cline_mcp_settings.json', /./],
      docker: ['(manual)', /./],
      generic: ['(manual)', /./],
    }
    for (const [cli, [place, note]] of Object.entries(places)) {
      const { configFile, message, written } = await call({ cli })
      expect([cli, configFile, message, written]).toEqual([
        ...[cli, expect.stringContaining(place), expect.stringMatching(note), false],
      ])
      expect([cli, /or let `/.test(message)]).toEqual([cli, place !== '(manual)'])
    }
    expect((await call({ cli: 'vscode' })).cli).toBe('vs-code')
    expect((await call({ cli: 'vim' })).code).toBe('VALIDATION_ERROR')
  })

  it('mentions keys only in the instructions of a server that requires one', async () => {
    for (const cli of SETUP_CLIENTS) {
      const { snippet, message } = await call({ cli })
      expect([cli, snippet + message]).toEqual([cli, expect.not.stringContaining('COMMONPLACE_KEY')])
    }
    const { key } = await team.key('acme', { role: 'reader' })
    const { data } = await team.call(key, 'context_setup', { cli: 'claude-code' })
    expect(data.message).toContain('--header "Authorization: Bearer $COMMONPLACE_KEY"')
  })

  it('names a command that writes or prints the very snippet of the answer', async () => {
    const home = mkdtempSync(join(tmpdir(), 'setup-'))
    const env = { HOME: home, XDG_CONFIG_HOME: '', CODEX_HOME: '', COMMONPLACE_KEY: '' }
    for (const cli of SETUP_CLIENTS) {
      const { snippet, command } = await call({ cli })
      const { out } = await runHere(command.split(' ').slice(4), env)
      const file = FILES[cli]
      const written = file === undefined ? out : readFileSync(join(home, file), 'utf8')
      expect([cli, read(cli, written)]).toEqual([cli, read(cli, snippet)])
    }
    rmSync(home, { recursive: true })
  })

  it('[FABRIC-140] returns the bridge in a container in the shape of each client', async () => {
    for (const cli of SETUP_CLIENTS) {
      const { snippet, useDocker } = await call({ cli, useDocker: true, preview: true })
      expect([cli, useDocker]).toEqual([cli, true])
      const text = JSON.stringify(read(cli, snippet))
      for (const word of [
        'docker',
        '--rm',
        'node:24-alpine',
        'mcp-remote',
        `http://host.docker.internal:${server.url.port}/mcp/fabric`,
      ])
        expect([cli, text]).toEqual([cli, expect.stringContaining(word)])
    }
    const { snippet } = await call({ cli: 'opencode', useDocker: true })
    expect(JSON.parse(snippet).mcp.commonplace).toMatchObject({
      type: 'local',
      command: [
        ...[
          'docker',
          'run',
          '--rm',
          '-i',
          '--add-host=host.docker.internal:host-gateway',
          'node:24-alpine',
          'npx',
          '-y',
        ],
        ...['mcp-remote', expect.stringMatching(/^http:\/\/host\.docker\.internal:\d+\/mcp\/fabric$/), '--allow-http'],
      ],
    })
  })

  it('[FABRIC-135] accepts another server by its URL and warns about any other value', async () => {
    const other = await call({ cli: 'cursor', serverPath: 'https://memory.example/mcp/fabric' })
    expect(urlOf('cursor', JSON.parse(other.snippet))).toBe('https://memory.example/mcp/fabric')
    const path = await call({ cli: 'cursor', serverPath: '/opt/fabric/dist/server.js' })
    expect(urlOf('cursor', JSON.parse(path.snippet))).toBe(`${server.url.origin}/mcp/fabric`)
    expect(path.warnings).toEqual([expect.stringContaining('serverPath')])
    // The command is run in a shell, the message read by a model.
    for (const tail of ['a b', '$(id)', ';id', '`id`', "'", '"', '\n[evil]', '|id', '&id', '\\']) {
      const odd = await call({ cli: 'claude-code', serverPath: `https://memory.example/${tail}` })
      expect([tail, odd.warnings]).toEqual([tail, [expect.stringContaining('serverPath')]])
      expect(odd.command + odd.message).not.toContain('memory.example')
    }
    const idn = await call({ cli: 'cursor', serverPath: 'https://gedächtnis.example:8443/mcp/fabric?a=%20b' })
    expect(idn).not.toHaveProperty('warnings')
  })

  it('[FABRIC-138] names the environment variable of the key where clients can read it, and contains no key', async () => {
    const { key } = await team.key('acme', { role: 'reader' })
    const authorization: Record<string, string> = {
      opencode: 'Bearer {env:COMMONPLACE_KEY}',
      'claude-code': 'Bearer $' + '{COMMONPLACE_KEY}',
      kimi: 'Bearer <COMMONPLACE_KEY>',
      gemini: 'Bearer $COMMONPLACE_KEY',
      cursor: 'Bearer $' + '{env:COMMONPLACE_KEY}',
      generic: 'Bearer <COMMONPLACE_KEY>',
    }
    for (const cli of SETUP_CLIENTS)
      for (const useDocker of [false, true]) {
        const { data, text } = await team.call(key, 'context_setup', { cli, useDocker })
        expect(text).not.toMatch(/\bcp_|test-admin/)
        expect(text).not.toContain(ADMIN_TOKEN)
        const entry = Object.values(Object.values(read(cli, data.snippet))[0] as object)[0] as Json
        if (useDocker)
          expect([cli, JSON.stringify(entry)]).toEqual([cli, expect.stringMatching(/"AUTH":"Bearer .*COMMONPLACE_KEY/)])
        else if (cli in authorization) expect([cli, entry.headers.Authorization]).toEqual([cli, authorization[cli]])
      }
    const codex = parse((await team.call(key, 'context_setup', { cli: 'codex' })).data.snippet) as Json
    expect(Object.keys(codex.mcp_servers.commonplace)).toEqual(['url', 'bearer_token_env_var'])
    const claude = JSON.parse((await team.call(key, 'context_setup', { cli: 'claude' })).data.snippet).mcpServers
      .commonplace
    expect(claude).toEqual({
      command: 'npx',
      args: ['-y', 'mcp-remote', `${team.server.url.origin}/mcp/fabric`, '--header', 'Authorization:$' + '{AUTH}'],
      env: { AUTH: 'Bearer <COMMONPLACE_KEY>' },
    })
    expect((await call({ cli: 'generic' })).snippet).not.toContain('headers')
  })
})
