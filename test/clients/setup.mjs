// Checks that the coding agents of npm find the server with only the file that `commonplace setup <client>` wrote. Each is started
// in a home with that file alone, against a scripted model that gets every tool and calls one. With COMMONPLACE_KEY the server
// asks for keys, and the clients have to put it where the file names it.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startModel } from './model.mjs'
import { runClient } from './program.mjs'
import { namesOfTools, URL_OF_SERVER } from './server.mjs'

const COMMAND = fileURLToPath(new URL('../../src/cli/commonplace.mjs', import.meta.url).href)
const MODEL_PORT = Number(process.env.MODEL_PORT ?? 8861)
const MODEL = `http://127.0.0.1:${MODEL_PORT}`
const PROMPT = 'Report what has changed.'
const { COMMONPLACE_KEY } = process.env
const key = COMMONPLACE_KEY ? { COMMONPLACE_KEY } : {}

/** Settings of each client's model; its settings for our server are in its file alone. */
const CLIENTS = {
  'claude-code': (home) =>
    runClient(
      'claude',
      ['-p', PROMPT, '--allowedTools', 'mcp__commonplace__changes'],
      {
        ...key,
        ANTHROPIC_BASE_URL: MODEL,
        ANTHROPIC_API_KEY: 'sk-ant-scripted',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
        ENABLE_TOOL_SEARCH: 'false',
      },
      home,
    ),
  codex: (home) => {
    const provider = { name: 'scripted', base_url: `${MODEL}/v1`, wire_api: 'responses', env_key: 'SCRIPTED_KEY' }
    const settings = [
      ...['model="gpt-5"', 'model_provider="scripted"'],
      ...Object.entries(provider).map(([name, value]) => `model_providers.scripted.${name}="${value}"`),
    ].flatMap((setting) => ['-c', setting])
    const args = ['exec', ...settings, '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', PROMPT]
    return runClient('codex', args, { ...key, SCRIPTED_KEY: 'x' }, home)
  },
  gemini: (home) =>
    runClient(
      'gemini',
      ['-p', PROMPT, '--model', 'gemini-2.5-flash', '--approval-mode', 'yolo', '--skip-trust'],
      { ...key, GEMINI_API_KEY: 'x', GOOGLE_GEMINI_BASE_URL: MODEL },
      home,
    ),
  opencode: (home) => {
    const provider = { npm: '@ai-sdk/openai', options: { baseURL: `${MODEL}/v1`, apiKey: 'x' }, models: { m: {} } }
    const settings = { provider: { scripted: provider }, model: 'scripted/m', autoupdate: false, share: 'disabled' }
    return runClient(
      'opencode',
      ['run', PROMPT],
      { ...key, OPENCODE_CONFIG_CONTENT: JSON.stringify(settings), OPENCODE_DISABLE_AUTOUPDATE: '1' },
      home,
    )
  },
}

/** Prior content of a user's file: the account of Gemini CLI. */
const BEFORE = {
  gemini: [
    '.gemini/settings.json',
    { security: { auth: { selectedType: 'gemini-api-key' } }, privacy: { usageStatisticsEnabled: false } },
  ],
}

/** Tools of the address that the command writes. */
const OFFERED = await namesOfTools(`${URL_OF_SERVER}/core`, COMMONPLACE_KEY)
const wanted = process.argv.slice(2)
for (const [name, start] of Object.entries(CLIENTS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  const home = mkdtempSync(join(tmpdir(), 'commonplace-setup-'))
  const [file, settings] = BEFORE[name] ?? []
  if (file !== undefined) {
    mkdirSync(dirname(join(home, file)), { recursive: true })
    writeFileSync(join(home, file), JSON.stringify(settings))
  }
  const { HOME: _, XDG_CONFIG_HOME: __, ...env } = process.env
  const written = spawnSync(
    process.execPath,
    [COMMAND, 'setup', name, '--url', new URL(URL_OF_SERVER).origin, '--json'],
    { env: { ...env, HOME: home, ...key }, encoding: 'utf8' },
  )
  if (written.status !== 0) throw new Error(written.stderr)
  const model = await startModel(MODEL_PORT, (results) =>
    results.length === 0 ? { tool: 'changes', args: {} } : { answer: 'done' },
  )
  const output = await start(home)
  model.stop()
  const tools = OFFERED.filter((name) => model.seen.tools.some((tool) => tool.endsWith(name)))
  const isCalled = JSON.stringify(model.seen.received).includes('since')
  console.log(
    `${name.padEnd(12)} ${tools.length} of ${OFFERED.length} tools by ${JSON.parse(written.stdout).configFile.replace(home, '~')}; ${isCalled ? 'called one' : 'called none'}`,
  )
  if (process.env.VERBOSE)
    console.log(JSON.stringify({ ...model.seen, output: output.slice(-3000) }, null, 1).slice(0, 8000))
  if (tools.length < OFFERED.length || !isCalled) process.exitCode = 1
  rmSync(home, { recursive: true, force: true })
}
