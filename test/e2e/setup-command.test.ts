import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parse as parseJson } from 'jsonc-parser'
import { parse as parseToml } from 'smol-toml'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runHere } from '../support/command-here'

/** `commonplace setup`, on files such as people have them, in a home of its own. */
const URL = 'https://memory.example'
const ENDPOINT = `${URL}/mcp/core`

// biome-ignore lint/suspicious/noExplicitAny: files are untyped
type Json = any

/** Content of users' files: comments, other servers, tabs, an older local entry, trailing commas. */
const SAMPLES: Readonly<Record<string, readonly [file: string, text: string, keeps: readonly string[]]>> = {
  opencode: [
    '.config/opencode/opencode.json',
    '{\n\t"$schema": "https://opencode.ai/config.json",\n\t// the model of the team\n\t"model": "x/y",\n\t"mcp": {\n\t\t"weather": { "type": "local", "command": ["w"] },\n\t},\n}\n',
    ['// the model of the team', '"weather"', '\t"model": "x/y"'],
  ],
  claude: [
    '.config/Claude/claude_desktop_config.json',
    '{\n  "globalShortcut": "Alt+Space",\n  "mcpServers": {\n    "context-fabric": { "command": "node", "args": ["/old/dist/server.js"] }\n  }\n}',
    ['"globalShortcut": "Alt+Space"'],
  ],
  'claude-code': [
    '.claude.json',
    '{\n  "numStartups": 12,\n  "projects": {"/home/ada/app": {"mcpServers": {"other": {}}}},\n  "mcpServers": {"github": {"type": "http", "url": "https://x"}}\n}\n',
    ['"numStartups": 12', '"projects": {"/home/ada/app": {"mcpServers": {"other": {}}}}', '"github"'],
  ],
  kimi: ['.kimi/mcp.json', '{"mcpServers": {}}', []],
  codex: [
    '.codex/config.toml',
    '# my settings\nmodel = "o5" # fast\n\n[mcp_servers.docs]\ncommand = "docs"\n\n[mcp_servers.context-fabric]\ncommand = "node"\nargs = ["/old.js"]\n\n[mcp_servers.context-fabric.env]\n# its own\nA = "1"\n\n# keep: ask Ann\n\n# tools\n[tools]\nweb_search = true\n# the end\n',
    [
      '# keep: ask Ann\n\n# tools\n[tools]\nweb_search = true\n# the end\n\n[mcp_servers.commonplace]\n',
      '# my settings',
      'model = "o5" # fast',
      '[mcp_servers.docs]',
      '[tools]',
      'web_search = true',
    ],
  ],
  gemini: ['.gemini/settings.json', '{\r\n  "theme": "GitHub" // dark\r\n}\r\n', ['"theme": "GitHub"', '// dark']],
  cursor: ['.cursor/mcp.json', '', []],
}

describe('commonplace setup', () => {
  let home: string
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'setup-'))
  })
  afterEach(() => rmSync(home, { recursive: true, force: true }))
  const run = (...args: string[]) =>
    runHere(['setup', ...args], { HOME: home, XDG_CONFIG_HOME: '', CODEX_HOME: '', COMMONPLACE_KEY: 'cp_test' })
  const entryOf = (file: string, text: string): Json => {
    const tree: Json = file.endsWith('.toml') ? parseToml(text) : parseJson(text, [], { allowTrailingComma: true })
    return (tree.mcpServers ?? tree.mcp ?? tree.mcp_servers).commonplace
  }

  it("[FABRIC-143] writes the entry into each client's own file, keeps the rest and a copy, and changes nothing the second time", async () => {
    for (const [client, [name, before, keeps]] of Object.entries(SAMPLES)) {
      const file = join(home, name)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, before)
      expect(await run(client, '--url', URL)).toMatchObject({ code: 0, out: expect.stringContaining(ENDPOINT) })
      const after = readFileSync(file, 'utf8')
      expect(JSON.stringify(entryOf(file, after))).toContain(ENDPOINT)
      expect(JSON.stringify(entryOf(file, after))).not.toMatch(/old|"command":"node"/)
      for (const part of keeps) expect(after).toContain(part)
      expect(readFileSync(`${file}.bak`, 'utf8')).toBe(before)
      expect(await run(client, '--url', URL)).toMatchObject({
        code: 0,
        out: expect.stringContaining('is already up to date'),
      })
      expect([readFileSync(file, 'utf8'), readFileSync(`${file}.bak`, 'utf8')]).toEqual([after, before])
      expect(readdirSync(dirname(file)).filter((one) => one.endsWith('.new'))).toEqual([])
    }
  })

  it('accepts both names of VS Code', async () => {
    const outputs = await Promise.all(['vs-code', 'vscode'].map((name) => run(name, '--print', '--url', URL)))
    expect(outputs.map(({ code }) => code)).toEqual([0, 0])
    expect(outputs[1]?.out).toBe(outputs[0]?.out)
  })

  it('keeps the mark of its bytes at the beginning of a file, as editors of Windows write it', async () => {
    const file = join(home, '.cursor/mcp.json')
    mkdirSync(dirname(file))
    writeFileSync(file, '\ufeff{\r\n  "a": 1\r\n}\r\n')
    for (const said of [ENDPOINT, 'is already up to date'])
      expect(await run('cursor', '--url', URL)).toMatchObject({ code: 0, out: expect.stringContaining(said) })
    const text = readFileSync(file, 'utf8')
    expect(text.startsWith('\ufeff{\r\n  "a": 1,\r\n')).toBe(true)
    expect(entryOf(file, text.slice(1)).url).toBe(ENDPOINT)
  })

  it('[FABRIC-143] replaces the entry in any TOML form, in a table, on one line or dotted, and keeps the rest', async () => {
    const file = join(home, '.codex/config.toml')
    mkdirSync(dirname(file), { recursive: true })
    for (const [before, keeps] of [
      [
        'mcp_servers = { docs = { command = "d", args = ["a"] } } # mine\nmodel = "o5"\n',
        ['docs = {', '# mine', 'model = "o5"'],
      ],
      [
        'mcp_servers = { context-fabric = { command = "old" }, docs = { command = "d" } }\n',
        ['docs = { command = "d" }'],
      ],
      [
        'mcp_servers = { docs = { command = "d" }, "context-fabric" = { command = "old", env = { A = "1" } } }\n',
        ['docs'],
      ],
      ['mcp_servers = {}\n', []],
      [
        '[mcp_servers]\ncontext-fabric = { command = "old" }\ndocs = { command = "d" } # kept\n',
        ['docs = { command = "d" } # kept'],
      ],
      [
        '[mcp_servers.context-fabric]\r\nurl = "old"\r\n\r\n# keep: ask Ann\r\n[mcp_servers.z]\r\ncommand = "z"\r\n',
        ['# keep: ask Ann\r\n[mcp_servers.z]\r\ncommand = "z"'],
      ],
      ['[mcp_servers.context-fabric]\nurl = "old"\n# the last line', ['# the last line\n']],
      ['mcp_servers.context-fabric.command = "old"\nmodel = "o5"\n', ['model = "o5"']],
    ] as const) {
      writeFileSync(file, before)
      expect([before, await run('codex', '--url', URL)]).toEqual([before, expect.objectContaining({ code: 0 })])
      const after = readFileSync(file, 'utf8')
      expect(entryOf(file, after)).toEqual({ url: ENDPOINT, bearer_token_env_var: 'COMMONPLACE_KEY' })
      for (const part of keeps) expect(after).toContain(part)
      expect(await run('codex', '--url', URL)).toMatchObject({ out: expect.stringContaining('is already up to date') })
    }
  })

  it('recognizes an entry of the same server by its address, whatever it is called, and leaves others alone', async () => {
    const others = '"notes": { "url": "https://notes.example/mcp" }, "api": { "url": "https://memory.example/api" }'
    for (const [client, name, before] of [
      [
        'cursor',
        '.cursor/mcp.json',
        `{"mcpServers": { "memory": { "url": "https://memory.example/mcp/" }, ${others} }}\n`,
      ],
      [
        'cursor',
        '.cursor/mcp.json',
        `{"mcpServers": { ${others}, "m": { "command": "npx", "args": ["-y", "mcp-remote", "${URL}/mcp"] } }}\n`,
      ],
      [
        'codex',
        '.codex/config.toml',
        `[mcp_servers.memory]\nurl = "${URL}/mcp"\n\n[mcp_servers.notes]\nurl = "https://notes.example/mcp"\n`,
      ],
      [
        'codex',
        '.codex/config.toml',
        `mcp_servers = { memory = { url = "${URL}/mcp" }, notes = { url = "https://notes.example/mcp" } }\n`,
      ],
    ] as const) {
      const file = join(home, name)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, before)
      const { code, out } = await run(client, '--url', URL)
      expect([code, out]).toEqual([
        0,
        expect.stringMatching(/Replaced the entries that name the same server: m(emory)?$/m),
      ])
      const text = readFileSync(file, 'utf8')
      const tree: Json = name.endsWith('.toml') ? parseToml(text) : parseJson(text)
      const names = Object.keys(tree.mcpServers ?? tree.mcp_servers)
      expect(names.sort()).toEqual(name.endsWith('.toml') ? ['commonplace', 'notes'] : ['api', 'commonplace', 'notes'])
      expect(await run(client, '--url', URL)).toMatchObject({ out: expect.stringContaining('is already up to date') })
    }
    const file = join(home, '.cursor/mcp.json')
    writeFileSync(
      file,
      '{"mcpServers": {"local": {"url": "http://127.0.0.1:8787/mcp"}, "port": {"url": "http://localhost:8788/mcp"}}}',
    )
    await run('cursor', '--url', 'http://localhost:8787')
    expect(Object.keys(parseJson(readFileSync(file, 'utf8')).mcpServers).sort()).toEqual(['commonplace', 'port'])
  })

  it('reports a key that is twice on the way to the entry, and leaves such a file alone', async () => {
    for (const [text, doubled] of [
      ['{"mcpServers": {}, "mcpServers": {"a": {}}}', 'mcpServers'],
      ['{"mcpServers": {"commonplace": {}, "commonplace": {}}}', 'mcpServers.commonplace'],
    ] as const) {
      const file = join(home, '.cursor/mcp.json')
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
      const { code, err } = await run('cursor', '--url', URL)
      expect([code, err]).toEqual([1, expect.stringContaining(`"${doubled}" is in it twice`)])
      expect(readFileSync(file, 'utf8')).toBe(text)
    }
    const file = join(home, '.gemini/settings.json')
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, '{"a": {"x": 1, "x": 2}, "b": {"mcpServers": 1}}')
    expect(await run('gemini', '--url', URL)).toMatchObject({ code: 0 })
  })

  it('[FABRIC-144] follows links, also to missing files, keeps modes, protects files that hold a key, and uses opencode.jsonc', async () => {
    // People keep such files in a repository of their own; the link may be there before the file.
    const kept = join(home, 'dotfiles')
    for (const [name, text] of [
      ['gemini.json', '{"theme": "x"}'],
      ['missing/gemini.json', null],
    ] as const) {
      const link = join(home, '.gemini/settings.json')
      mkdirSync(dirname(link), { recursive: true })
      mkdirSync(kept, { recursive: true })
      rmSync(link, { force: true })
      symlinkSync(join('..', 'dotfiles', name), link)
      if (text !== null) writeFileSync(join(kept, name), text, { mode: 0o640 })
      expect(await run('gemini', '--url', URL)).toMatchObject({ code: 0 })
      expect(lstatSync(link).isSymbolicLink()).toBe(true)
      expect(readFileSync(join(kept, name), 'utf8')).toContain(ENDPOINT)
    }
    expect(statSync(join(kept, 'gemini.json')).mode & 0o777).toBe(0o640)
    // A file that holds a key is its owner's alone.
    const kimi = join(home, '.kimi/mcp.json')
    mkdirSync(dirname(kimi))
    writeFileSync(kimi, '{}', { mode: 0o644 })
    await run('kimi', '--url', URL)
    expect(statSync(kimi).mode & 0o777).toBe(0o600)
    const commented = join(home, '.config/opencode/opencode.jsonc')
    mkdirSync(dirname(commented), { recursive: true })
    writeFileSync(commented, '{\n  // ours\n  "model": "x/y"\n}\n')
    await run('opencode', '--url', URL)
    expect(readFileSync(commented, 'utf8')).toMatch(/\/\/ ours[\s\S]*commonplace/)
    expect(readdirSync(dirname(commented)).sort()).toEqual(['opencode.jsonc', 'opencode.jsonc.bak'])
  })

  it('[FABRIC-144] fills in the key where a client cannot read its environment, and in no other place', async () => {
    await run('kimi', '--url', URL)
    await run('cursor', '--url', URL)
    expect(readFileSync(join(home, '.kimi/mcp.json'), 'utf8')).toContain('Bearer cp_test')
    expect(readFileSync(join(home, '.cursor/mcp.json'), 'utf8')).not.toContain('cp_test')
  })

  it('[FABRIC-145] does not change a file that it cannot read, and reports it', async () => {
    for (const [client, name, text] of [
      ['gemini', '.gemini/settings.json', '{"a": '],
      ['cursor', '.cursor/mcp.json', '{"mcpServers": []}'],
      ['codex', '.codex/config.toml', 'model = '],
      ['codex', '.codex/config.toml', 'mcp_servers = [1]\n'],
    ] as const) {
      mkdirSync(dirname(join(home, name)), { recursive: true })
      writeFileSync(join(home, name), text)
      const { code, err } = await run(client, '--url', URL)
      expect([client, code, err]).toEqual([client, 1, expect.stringContaining('was not changed')])
      expect(readFileSync(join(home, name), 'utf8')).toBe(text)
    }
  })

  it('[FABRIC-146] only shows the entry with --print, and for clients without a file', async () => {
    const { out } = await run('docker', '--url', URL)
    expect(JSON.parse(out).mcpServers.commonplace.command).toBe('docker')
    const shown = await run('gemini', '--url', `${URL}/mcp`, '--print', '--json')
    expect(JSON.parse(JSON.parse(shown.out).snippet).mcpServers.commonplace.httpUrl).toBe(`${URL}/mcp`)
    expect(readdirSync(home)).not.toContain('.gemini')
    expect(await run('vim')).toMatchObject({ code: 2, err: expect.stringContaining('unknown client: vim') })
    expect(await run()).toMatchObject({ code: 2 })
  })
})
