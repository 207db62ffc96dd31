import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { ROOT } from '../support/build'
import { CLIENTS, type Connect } from '../support/clients'
import { runCommand } from '../support/command'
import { runHere } from '../support/command-here'
import { startPlace } from '../support/places'
import type { RunningServer } from '../support/server'

/** The command line, run as a person runs it. */
const commonplace = (...args: string[]) => runCommand(args)

describe('commonplace reembed', () => {
  let server: RunningServer
  beforeAll(async () => {
    server = await startPlace()
  })
  afterAll(() => server.stop())

  it('shows how far it is and ends when every entry has vectors', async () => {
    const client = await (CLIENTS['SDK v2, revision 2026-07-28'] as Connect)(server.url)
    await client.call('store_context', { thread_id: 't', source: 'user', text: 'words' })
    await client.close()
    const { code, out } = await runCommand(['reembed', '--url', server.url.origin])
    expect([code, out]).toEqual([0, expect.stringContaining('1/1 entries')])
    const asked = await commonplace('reembed', '--url', server.url.origin, '--json')
    expect(JSON.parse(asked.out)).toEqual({ made: 0, entries: 1, embedded: 1 })
  })

  it('shows every command in its help, which its page names too', async () => {
    const [{ out, code }, other] = [await commonplace('--help'), await commonplace('help')]
    expect([code, other]).toEqual([0, { code: 0, out, err: '' }])
    const named = [...out.matchAll(/^ {2}([a-z]+(?: [a-z]+)?)(?= |$)/gm)].map(([, name]) => name as string)
    expect(named.length).toBeGreaterThan(12)
    const page = readFileSync(join(ROOT, 'docs/command-line.md'), 'utf8')
    const row = (name: string): string => `\`${name.split(' ')[0]}`
    expect(named.filter((name) => !page.includes(row(name)))).toEqual([])
  })

  it('reports errors: 2 for wrong usage, 1 for a server that cannot be reached', async () => {
    expect(await runCommand([])).toMatchObject({ code: 2, err: expect.stringContaining('usage:') })
    expect(await commonplace('dance')).toMatchObject({
      code: 2,
      err: expect.stringContaining('unknown command: dance'),
    })
    expect(await commonplace('reembed', '--speed')).toMatchObject({ code: 2 })
    expect(await commonplace('reembed', '--url', 'http://127.0.0.1:9')).toMatchObject({
      code: 1,
      err: expect.stringContaining('Cannot reach'),
    })
  })

  it('shows only the usage of one command for wrong usage and for --help, so that the problem stays visible', async () => {
    const wrong = await commonplace('--url', server.url.origin, 'keys', 'create')
    expect([wrong.code, wrong.out]).toEqual([2, ''])
    expect(wrong.err).toMatch(/^keys create needs an argument.*\n\nusage: commonplace\n {2}keys create NAME/)
    expect(wrong.err).not.toMatch(/keys list|export --out/)
    expect(wrong.err).toContain('commonplace --help lists all commands')
    expect((await commonplace('keys')).err).toMatch(/keys list\n {2}keys create [\s\S]*keys revoke/)
    expect((await commonplace('verify', '/nowhere')).err.split('\n').length).toBeLessThan(10)
    expect((await commonplace('dance')).err).toMatch(/one of start, remember, .*verify.*\n/)
    const { code, out } = await commonplace('export', '--help')
    expect([code, out]).toEqual([0, expect.stringMatching(/^usage: commonplace\n {2}export --out F/)])
    expect(out).not.toContain('import F')
  })

  it('lists the subcommands of an incomplete command', async () => {
    for (const [word, further] of [
      ['keys', 'list, create, limit, rotate, revoke'],
      ['orgs', 'list, create'],
      ['audit', 'list'],
    ] as const) {
      const { code, err } = await runHere([word, '--url', server.url.origin])
      expect([code, err.split('\n')[0]]).toEqual([2, `${word} needs a subcommand: ${further}`])
    }
  })

  it('suggests the doctor or another server when the server cannot be reached', async () => {
    const { code, err } = await runHere(['orgs', 'list', '--url', 'http://127.0.0.1:9'])
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(
        /Cannot reach .*Start a server with "npm start", run "npm run -s commonplace -- doctor", or select another server with --url/,
      ),
    ])
  })

  it('refuses a URL without http, and treats an empty variable as not set', async () => {
    for (const command of [
      ['orgs', 'list'],
      ['watch'],
      ['reembed'],
      ['export', '--out', 'x'],
      ['setup', 'cursor', '--print'],
    ])
      for (const [option, environment] of [
        [['--url', 'localhost:9'], {}],
        [[], { COMMONPLACE_URL: 'localhost:9' }],
      ] as const) {
        const { code, err } = await runCommand([...command, ...option], environment)
        expect([command, code]).toEqual([command, 2])
        expect(err).toMatch(/^(--url|COMMONPLACE_URL) is "localhost:9": a URL starts with http/)
      }
    const empty = await runCommand(['reembed', '--url', server.url.origin], { COMMONPLACE_URL: '' })
    expect(empty).toMatchObject({ code: 0 })
  })

  it('repeats the words of the server when it refuses', async () => {
    const closed = await startPlace({ AUTH_MODE: 'required' })
    const { code, err } = await commonplace('reembed', '--url', closed.url.origin)
    expect([code, err]).toEqual([1, expect.stringContaining('AUTH_MODE=open')])
  })
})

describe('the command line helps with slips', () => {
  it('suggests the command, the option, the client and the shell that were probably meant', async () => {
    for (const [typed, meant] of [
      [['serch', 'x'], 'search'],
      [['keys', 'creat', 'x'], 'keys create'],
      [['exprot', '--out', 'x'], 'export'],
      [['search', 'x', '--projekt', 'y'], '--project'],
      [['setup', 'cursr'], 'cursor'],
      [['setup', 'claude-cod', '--capture'], 'claude-code'],
      [['doctor', 'codx'], 'codex'],
      [['model', 'pull', 'all-MiniLM-L6'], 'all-MiniLM-L6-v2'],
      [['completion', 'bsh'], 'bash'],
      [['import', join(ROOT, 'README.md'), '--from', 'chatgtp'], 'chatgpt'],
    ] as const) {
      const { code, err } = await runHere(typed)
      expect([typed, code, err]).toEqual([typed, 2, expect.stringContaining(`Did you mean "${meant}"?`)])
    }
    expect((await runHere(['dance'])).err).not.toContain('Did you mean')
  })

  it('shows usage for wrong usage only: a file that is not there is a failure', async () => {
    const { code, err } = await runHere(['verify', '/nowhere/at.all'])
    expect([code, err]).toEqual([1, '/nowhere/at.all does not exist\n'])
  })

  it('names the option that was typed, not the field of the API', async () => {
    const server = await startPlace()
    const run = async (...args: string[]) => (await runHere([...args, '--url', server.url.origin])).err.split('\n')[0]
    expect(await run('keys', 'create', 'x', '--expires', 'soon')).toMatch(/^--expires must be an ISO 8601 date/)
    expect(await run('keys', 'create', 'x', '--role', 'boss')).toMatch(/^--role must be one of/)
    expect(await run('audit', 'list', '--limit', 'few')).toMatch(/^--limit must be a whole number/)
    expect(await run('projects', 'rename', 'x')).toMatch(/^--name must be/)
    expect(await run('export', '--out', '/tmp/none', '--since', 'zzz')).toMatch(/^The cursor in --since has expired/)
    expect(await run('search', 'x', '--mode', 'loud')).toMatch(/^--mode must be one of/)
    expect(await run('search', 'x', '--limit', 'few')).toBe('--limit is "few"; it must be a number')
    await server.stop()
  })

  it('prints its version, for people and for programs', async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    for (const args of [['--version'], ['-v'], ['version']])
      expect(await runHere(args)).toEqual({ code: 0, out: `${version}\n`, err: '' })
    expect(JSON.parse((await runHere(['version', '--json'])).out)).toMatchObject({ name: 'commonplace-mcp', version })
  })

  it('completes commands, clients and options in bash, and prints scripts for zsh and fish', async () => {
    const { out } = await runHere(['completion', 'bash'])
    const complete = (...words: string[]) =>
      execFileSync(
        'bash',
        [
          '-c',
          `${out}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _commonplace; echo "\${COMPREPLY[@]}"`,
          '-',
          ...words,
        ],
        { encoding: 'utf8' },
      ).trim()
    expect(complete('commonplace', 'rem')).toBe('remember')
    expect(complete('commonplace', 'keys', '')).toBe('list create limit rotate revoke')
    expect(complete('commonplace', 'setup', 'cu')).toBe('cursor')
    expect(complete('commonplace', 'keys', 'create', 'ci', '--ro')).toBe('--role')
    expect((await runHere(['completion', 'zsh'])).out).toMatch(/^#compdef commonplace commonplace-mcp\n[\s\S]*compadd/)
    expect((await runHere(['completion', 'fish'])).out).toContain(
      "complete -c commonplace -n __fish_use_subcommand -f -a 'start ",
    )
  })
})

describe('the server of a command', () => {
  it('is the same for every command: --url, COMMONPLACE_URL, the configuration, the running server, the default', async () => {
    const home = mkdtempSync(join(tmpdir(), 'commonplace-home-'))
    const asked = async (args: string[], environment: Record<string, string>) => {
      const { url, from } = JSON.parse(
        (await runHere(['status', '--json', ...args], { HOME: home, ...environment })).out,
      )
      const { err } = await runHere(['search', 'x', ...args], { HOME: home, ...environment })
      return [url, from, err.split(' ')[2]?.slice(0, -1)]
    }
    const [typed, variable, file] = ['http://127.0.0.1:9', 'http://127.0.0.1:19', 'http://127.0.0.1:29']
    mkdirSync(join(home, '.commonplace'))
    const config = join(home, '.commonplace', 'config.json')
    writeFileSync(config, JSON.stringify({ url: file, key: 'cp_file' }))
    expect(await asked(['--url', typed], { COMMONPLACE_URL: variable })).toEqual([typed, '--url', typed])
    expect(await asked([], { COMMONPLACE_URL: variable })).toEqual([variable, 'COMMONPLACE_URL', variable])
    expect(await asked([], {})).toEqual([file, config, file])
    rmSync(home, { recursive: true })
  })

  it('is compared with the server of the hooks only where a hook was set up', async () => {
    const home = mkdtempSync(join(tmpdir(), 'commonplace-home-'))
    const status = async () => (await runHere(['status', '--url', 'http://localhost:29'], { HOME: home })).out
    expect(await status()).not.toContain('hooks')
    mkdirSync(join(home, '.commonplace'))
    writeFileSync(join(home, '.commonplace', 'config.json'), '{"url": "http://localhost:39"}')
    expect(await status()).toContain('hooks    send to http://localhost:39, not to this server')
    rmSync(home, { recursive: true })
  })

  it('gets the key of the configuration, and no other server does', async () => {
    const home = mkdtempSync(join(tmpdir(), 'commonplace-home-'))
    vi.stubEnv('HOME', home)
    mkdirSync(join(home, '.commonplace'))
    writeFileSync(join(home, '.commonplace', 'config.json'), '{"url": "http://localhost:29", "key": "cp_file"}')
    const { resolveServer } = await import('../../src/cli/resolve-server.mjs')
    expect(await resolveServer(undefined, {})).toMatchObject({ url: 'http://localhost:29', key: 'cp_file' })
    expect(await resolveServer('http://localhost:29/mcp', {})).toMatchObject({ key: 'cp_file', from: '--url' })
    expect(await resolveServer('http://localhost:9', {})).toMatchObject({ key: '' })
    expect(await resolveServer(undefined, { COMMONPLACE_KEY: 'cp_own' })).toMatchObject({ key: 'cp_own' })
    vi.unstubAllEnvs()
    rmSync(home, { recursive: true })
  })
})
