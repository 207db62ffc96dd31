import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sharedOpen, sharedTeam } from '../contracts/endpoint/session'
import { ADMIN_TOKEN, type Team } from '../support/access'
import { ROOT } from '../support/build'
import type { Outcome } from '../support/command'
import { runHere } from '../support/command-here'
import type { RunningServer } from '../support/server'

/** `commonplace setup --capture`, `doctor` and `status`, in a home of its own (capture contract §1, §2). Clients whose own commands install are in test/clients. */
describe('capture by command', () => {
  let server: RunningServer
  let team: Team
  let home: string
  beforeAll(async () => {
    server = await sharedOpen()
    team = await sharedTeam()
  })
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'capture-command-'))
    return () => rmSync(home, { recursive: true, force: true })
  })
  /** An address without a server: a client is installed, and no session is replayed. */
  const NOBODY = 'http://127.0.0.1:9'
  // None of the clients that this machine may have.
  const run = (args: readonly string[], env: Record<string, string> = {}): Promise<Outcome> =>
    runHere(args, { HOME: home, XDG_CONFIG_HOME: '', PATH: '/usr/bin:/bin', ...env })
  const captured = async () => {
    const response = await fetch(new URL('/api/v1/orgs/local/captured', server.url))
    return ((await response.json()) as { items: unknown[] }).items
  }

  it('installs a client, keeps URL and key for programs without a shell, and plays a recorded session to its end', async () => {
    for (const [client, file] of [
      ['cursor', '.cursor/plugins/local/commonplace/.cursor-plugin/plugin.json'],
      ['vscode', '.config/Code/User/settings.json'],
      ['opencode', '.config/opencode/plugins/commonplace.js'],
    ] as const) {
      const { code, out, err } = await run(['setup', client, '--capture', '--url', `${server.url.origin}/mcp/core`])
      expect([client, code, err]).toEqual([client, 0, ''])
      expect(existsSync(join(home, file))).toBe(true)
      expect(out).toMatch(
        new RegExp(`^ok {2}${client} +a replayed session became entry \\d+, now erased: .*cat light\\.txt`, 'm'),
      )
    }
    expect(await captured()).toEqual([])
    const config = join(home, '.commonplace', 'config.json')
    expect(JSON.parse(readFileSync(config, 'utf8'))).toEqual({ url: server.url.origin })
    expect(statSync(config).mode & 0o777).toBe(0o600)
    expect((await run(['status'])).out).toContain(`server   ${server.url.origin} (${config})\nrole     admin of local`)
  })

  it('preserves existing settings of VS Code, which it also knows by its name in setup', async () => {
    const file = join(home, '.config/Code/User/settings.json')
    mkdirSync(join(file, '..'), { recursive: true })
    writeFileSync(file, '{\n  // mine\n  "editor.tabSize": 3,\n  "chat.pluginLocations": {"/other": true},\n}\n')
    await run(['setup', 'vs-code', '--capture', '--url', NOBODY])
    const text = readFileSync(file, 'utf8')
    for (const part of [
      '// mine',
      '"editor.tabSize": 3',
      '"/other": true',
      JSON.stringify(join(ROOT, 'plugins', 'agent-plugin')),
    ])
      expect(text).toContain(part)
  })

  it('checks VS Code by both of its names', async () => {
    for (const name of ['vscode', 'vs-code'])
      expect((await run(['doctor', name, '--url', server.url.origin])).out).toContain(
        'chat.pluginLocations does not name the plugin',
      )
  })

  it('preserves the key of a server that is set up again without one, and removes it if COMMONPLACE_KEY is empty', async () => {
    // A reader's key, which captures nothing: the doctor checks the key and replays no session.
    const { key } = await team.key('acme', { role: 'reader' })
    const config = join(home, '.commonplace', 'config.json')
    const setUp = async (client: string, env = {}, url = team.server.url.origin) => {
      const { out } = await run(['setup', client, '--capture', '--url', url], env)
      return [JSON.parse(readFileSync(config, 'utf8')).key, /^ok {2}key/m.test(out)]
    }
    expect(await setUp('cursor', { COMMONPLACE_KEY: key })).toEqual([key, true])
    const named = readFileSync(config)
    expect(await setUp('opencode')).toEqual([key, true])
    expect(await setUp('opencode', { COMMONPLACE_KEY: '' })).toEqual([undefined, false])
    writeFileSync(config, named)
    expect(await setUp('opencode', {}, server.url.origin)).toEqual([undefined, true])
  })

  it('names the file that it leaves alone, and refuses options with which hooks would be installed all the same', async () => {
    const file = join(home, '.config/Code/User/settings.json')
    mkdirSync(join(file, '..'), { recursive: true })
    writeFileSync(file, '{"a": ')
    const left = await run(['setup', 'vscode', '--capture', '--url', server.url.origin])
    expect([left.code, left.err]).toEqual([1, `${file} was not changed: it is not a JSON object\n`])
    for (const option of ['--print', '--docker']) {
      const { code, err } = await run(['setup', 'cursor', '--capture', option, '--url', server.url.origin])
      expect([code, err.split('\n')[0]]).toEqual([2, `${option} cannot be combined with --capture`])
    }
    expect(existsSync(join(home, '.cursor'))).toBe(false)
  })

  it('shows in its status which place sets the server, also if a file sets none', async () => {
    const config = join(home, '.commonplace', 'config.json')
    mkdirSync(join(config, '..'))
    const said = async (env: Record<string, string> = {}) => {
      const { url, from } = JSON.parse((await run(['status', '--json'], env)).out)
      return [url, from]
    }
    const { origin } = server.url
    writeFileSync(config, '{"url": ')
    // Another test may run a server in this checkout.
    expect(await said()).toEqual([
      expect.stringMatching(/^http:\/\/localhost:\d+$/),
      expect.stringMatching(/^the (default|running server)$/),
    ])
    expect(await said({ COMMONPLACE_URL: origin })).toEqual([origin, 'COMMONPLACE_URL'])
    writeFileSync(config, JSON.stringify({ url: origin }))
    expect(await said()).toEqual([origin, config])
  })

  it('prints one line each for the server, the key, the model and the files of clients', async () => {
    mkdirSync(join(home, '.codex'))
    mkdirSync(join(home, '.cursor'))
    mkdirSync(join(home, '.gemini'))
    writeFileSync(join(home, '.codex/config.toml'), 'model = "gpt-5"\n')
    writeFileSync(join(home, '.gemini/settings.json'), '{"mcpServers": ')
    await run(['setup', 'cursor', '--url', server.url.origin])
    const { code, out } = await run(['doctor', '--url', server.url.origin])
    expect(out.split('\n').slice(0, 4)).toEqual([
      `ok  server      ${server.url.origin} (--url) is ready, on sqlite`,
      'ok  key         no key needed; admin of local, all projects',
      'ok  capture     sessions are captured',
      expect.stringMatching(/^(ok|--) {2}model {7}local: [\w-]+, \d+ numbers, answers/),
    ])
    expect(out).toContain(`ok  cursor      ${home}/.cursor/mcp.json names ${server.url.origin}/mcp/core\n`)
    expect(out).toMatch(/^-- {2}codex .*config\.toml does not name .*\n +→ commonplace setup codex --url/m)
    expect(out).toMatch(/^!! {2}gemini .*settings\.json: it is not JSON\n +→ /m)
    expect(code).toBe(1)
  })

  it('advises to remove an invalid key if the server needs none, and otherwise to make one', async () => {
    const todo = async (url: string, key: string) => {
      const env = { COMMONPLACE_URL: url, COMMONPLACE_KEY: key }
      const [told, doctor] = [await run(['status'], env), await run(['doctor', '--json'], env)]
      expect([told.code, doctor.code]).toEqual([1, 1])
      const { told: detail, todo } = JSON.parse(doctor.out).at(-1)
      expect(told.out.split('\n').slice(1, 5)).toEqual([
        'role     none',
        `problem  ${detail}`,
        `         → ${todo}`,
        'waiting  0 events',
      ])
      return [detail, todo]
    }
    expect(await todo(server.url.origin, 'cp_old')).toEqual([
      expect.stringMatching(/^the server refuses the key: .*open mode/),
      'remove the key from COMMONPLACE_KEY or ~/.commonplace/config.json',
    ])
    expect(await todo(team.server.url.origin, 'cp_old')).toEqual([
      expect.stringMatching(/^the server refuses the key: /),
      expect.stringMatching(/^create one with ADMIN_TOKEN or /),
    ])
    expect(await todo(team.server.url.origin, ADMIN_TOKEN)).toEqual([
      'the key is the ADMIN_TOKEN of the server, which belongs to no organization',
      expect.stringMatching(/^create one with /),
    ])
    expect(await todo(team.server.url.origin, '')).toEqual([
      'the server requires a key, but none is set',
      expect.stringMatching(/^create one with /),
    ])
  })

  it('reports problems with remedies: no server, no key, a reader, a client that is not set up, one of another version', async () => {
    const away = await run(['doctor', '--url', NOBODY])
    expect([away.code, away.out]).toEqual([
      1,
      expect.stringMatching(/^!! {2}server +cannot reach http:\/\/127\.0\.0\.1:9 [\s\S]*→ npm start/),
    ])
    const none = await run(['doctor', '--url', team.server.url.origin])
    expect([none.code, none.out]).toEqual([
      1,
      expect.stringMatching(/^!! {2}key +the server requires a key[\s\S]*→ create one/m),
    ])
    const { key: reader } = await team.key('acme', { role: 'reader' })
    const env = { COMMONPLACE_KEY: reader }
    expect((await run(['doctor', '--url', team.server.url.origin], env)).out).toMatch(
      /^-- {2}capture +events sent with a reader key are not captured/m,
    )
    const alone = await run(['doctor', 'cursor', '--url', server.url.origin])
    expect([alone.code, alone.out]).toEqual([1, expect.stringContaining('→ commonplace setup cursor --capture')])
    await run(['setup', 'cursor', '--capture', '--url', NOBODY])
    writeFileSync(join(home, '.cursor/plugins/local/commonplace/hook.mjs'), 'process.exit(1)')
    const old = await run(['doctor', 'cursor', '--json', '--url', server.url.origin])
    expect(JSON.parse(old.out)).toContainEqual({
      ...{ name: 'cursor', ok: false, todo: 'commonplace setup cursor --capture' },
      told: expect.stringContaining('is of another version'),
    })
    expect((await run(['setup', 'kimi', '--capture'])).code).toBe(2)
    const copilot = await run(['setup', 'copilot', '--capture', '--url', server.url.origin])
    expect([copilot.code, copilot.err]).toEqual([1, 'copilot is not on the PATH: install it first\n'])
  })
})
