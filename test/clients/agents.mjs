// Coding agents, each run in a home of its own against a scripted model on loopback.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startModel } from './model.mjs'
import { runClient } from './program.mjs'
import { namesOfTools, URL_OF_SERVER } from './server.mjs'

const MODEL_PORT = Number(process.env.MODEL_PORT ?? 8861)
const MODEL = `http://127.0.0.1:${MODEL_PORT}`

const AGENTS = {
  'Claude Code': (home, prompt, tools) => {
    const servers = { mcpServers: { commonplace: { type: 'http', url: URL_OF_SERVER } } }
    const names = tools.map((tool) => `mcp__commonplace__${tool}`).join(',')
    const allowed = ['--strict-mcp-config', '--allowedTools', names]
    return runClient(
      'claude',
      ['-p', prompt, '--mcp-config', JSON.stringify(servers), ...allowed],
      {
        ANTHROPIC_BASE_URL: MODEL,
        ANTHROPIC_API_KEY: 'sk-ant-scripted',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
        ENABLE_TOOL_SEARCH: 'false',
      },
      home,
    )
  },
  Codex: (home, prompt) => {
    mkdirSync(join(home, '.codex'))
    writeFileSync(
      join(home, '.codex/config.toml'),
      `model = "gpt-5"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "${MODEL}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
[mcp_servers.commonplace]
url = "${URL_OF_SERVER}"
`,
    )
    const args = ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', prompt]
    return runClient('codex', args, { SCRIPTED_KEY: 'x' }, home)
  },
  'Gemini CLI': (home, prompt) => {
    mkdirSync(join(home, '.gemini'))
    const settings = {
      mcpServers: { commonplace: { httpUrl: URL_OF_SERVER, trust: true } },
      security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
      privacy: { usageStatisticsEnabled: false },
      general: { disableAutoUpdate: true, disableUpdateNag: true },
    }
    writeFileSync(join(home, '.gemini/settings.json'), JSON.stringify(settings))
    return runClient(
      'gemini',
      ['-p', prompt, '--model', 'gemini-2.5-flash', '--approval-mode', 'yolo', '--skip-trust'],
      { GEMINI_API_KEY: 'x', GOOGLE_GEMINI_BASE_URL: MODEL },
      home,
    )
  },
}

/**
 * Asks every agent, or those named on the command line, the same.
 *
 * @param {{ prompt: string, tools: string[], script: import('./model.mjs').Script }} question
 * @param {(received: unknown[], output: string) => string} tell formats the results that its model received
 */
export async function askAgents({ prompt, tools, script }, tell) {
  const offered = await namesOfTools(URL_OF_SERVER)
  const wanted = process.argv.slice(2)
  for (const [name, start] of Object.entries(AGENTS)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    const model = await startModel(MODEL_PORT, script)
    const output = await start(mkdtempSync(join(tmpdir(), 'commonplace-client-')), prompt, tools)
    model.stop()
    const ours = offered.filter((name) => model.seen.tools.some((tool) => tool.endsWith(name)))
    const { received } = model.seen
    console.log(
      `${name.padEnd(34)} ${ours.length} tools; ${received.length === 0 ? 'no result' : tell(received, output)}`,
    )
    if (process.env.VERBOSE)
      console.log(JSON.stringify({ ...model.seen, output: output.slice(-2000) }, null, 1).slice(0, 6000))
    if (received.length === 0) process.exitCode = 1
  }
}
