// The coding agents of npm as people run them: installed by their own commands, each in a home of its own, with a scripted model.
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { trustCodexHooks } from '../../../src/cli/capture/app-server.mjs'

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url).href).replace(/\/$/, '')
const RECORDER = fileURLToPath(new URL('record.mjs', import.meta.url).href)
/** A guard against a client that hangs; on a busy machine the first run of one in a new home takes two minutes. */
const LONGEST_MS = 400_000

/**
 * @typedef {{ home: string, folder: string, url: string, record?: string }} Desk record: the file that raw events are written to
 *
 * @typedef {object} Client
 * @property {string[][]} install its own commands (capture contract §1)
 * @property {(prompt: string, model: string) => { args: string[], env: Record<string, string> }} ask
 * @property {(command: string) => { tool: string, args: object }} shell
 * @property {(task: string) => { tool: string, args: object }} [delegates] gives a task to a subagent, whose start our hook answers
 * @property {((folder: string, file: string) => { tool: string, args: object }) | null} writes a file, by its own tool
 */

const COMMON = { TERM: 'dumb', NO_COLOR: '1', DISABLE_AUTOUPDATER: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' }

/** @type {Record<string, Client & { program: string }>} */
export const AGENTS = {
  'claude-code': {
    program: 'claude',
    install: [
      ['plugin', 'marketplace', 'add', ROOT],
      ['plugin', 'install', 'commonplace@commonplace', '--config', 'url={{url}}'],
    ],
    ask: (prompt, model) => ({
      args: ['-p', prompt, '--allowedTools', 'Bash,Write,Edit'],
      env: { ANTHROPIC_BASE_URL: model, ANTHROPIC_API_KEY: 'sk-ant-scripted', ENABLE_TOOL_SEARCH: 'false' },
    }),
    shell: (command) => ({ tool: 'Bash', args: { command, description: 'run' } }),
    delegates: (prompt) => ({
      tool: 'Agent',
      args: { description: 'look', prompt, subagent_type: 'general-purpose' },
    }),
    writes: (folder, file) => ({ tool: 'Write', args: { file_path: join(folder, file), content: 'lamp: LED\n' } }),
  },
  codex: {
    program: 'codex',
    install: [
      ['plugin', 'marketplace', 'add', ROOT],
      ['plugin', 'add', 'commonplace@commonplace'],
    ],
    ask: (prompt, model) => {
      const provider = { name: 'scripted', base_url: `${model}/v1`, wire_api: 'responses', env_key: 'SCRIPTED_KEY' }
      const settings = [
        ...['model="gpt-5"', 'model_provider="scripted"'],
        ...Object.entries(provider).map(([name, value]) => `model_providers.scripted.${name}="${value}"`),
      ].flatMap((setting) => ['-c', setting])
      return {
        args: ['exec', ...settings, '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', prompt],
        env: { SCRIPTED_KEY: 'x' },
      }
    },
    shell: (cmd) => ({ tool: 'exec_command', args: { cmd } }),
    // Codex offers its tool for patches to models that it knows; this is not one of them.
    writes: null,
  },
  copilot: {
    program: 'copilot',
    install: [
      ['plugin', 'marketplace', 'add', ROOT],
      ['plugin', 'install', 'commonplace-agent@commonplace'],
    ],
    ask: (prompt, model) => ({
      args: ['-p', prompt, '--allow-all-tools'],
      env: {
        COPILOT_OFFLINE: 'true',
        COPILOT_PROVIDER_BASE_URL: model,
        COPILOT_PROVIDER_TYPE: 'anthropic',
        COPILOT_MODEL: 'claude-sonnet-4',
        COPILOT_PROVIDER_API_KEY: 'x',
        COPILOT_AUTO_UPDATE: 'false',
      },
    }),
    shell: (command) => ({ tool: 'bash', args: { command, description: 'run' } }),
    writes: (folder, file) => ({ tool: 'create', args: { path: join(folder, file), file_text: 'lamp: LED\n' } }),
  },
  opencode: {
    program: 'opencode',
    install: [],
    ask: (prompt, model) => {
      const provider = { npm: '@ai-sdk/openai', options: { baseURL: `${model}/v1`, apiKey: 'x' }, models: { m: {} } }
      const settings = { provider: { scripted: provider }, model: 'scripted/m', autoupdate: false, share: 'disabled' }
      return {
        args: ['run', prompt],
        // It has a list of models built in; without a network it waits twenty seconds for a newer one.
        env: {
          OPENCODE_CONFIG_CONTENT: JSON.stringify(settings),
          OPENCODE_DISABLE_AUTOUPDATE: '1',
          OPENCODE_DISABLE_MODELS_FETCH: '1',
        },
      }
    },
    shell: (command) => ({ tool: 'bash', args: { command, description: 'run' } }),
    writes: (folder, file) => ({ tool: 'write', args: { filePath: join(folder, file), content: 'lamp: LED\n' } }),
  },
}

const binary = (folder, name) => join(folder, 'node_modules', '.bin', name)

/**
 * @param {string} programs the folder with the clients' packages
 * @param {readonly string[]} args
 * @param {Desk} desk
 * @returns {{ kill: () => void, done: Promise<{ code: number | null, said: string, ms: number }> }} kill: as `kill -9` does, with all it started
 */
export function start(programs, name, args, desk, env = {}) {
  const begun = Date.now()
  const recording =
    desk.record === undefined
      ? {}
      : { RECORD_EVENTS: desk.record, NODE_OPTIONS: `--import=${pathToFileURL(RECORDER).href}` }
  const child = spawn(binary(programs, AGENTS[name].program), args, {
    cwd: desk.folder,
    env: {
      PATH: `${join(programs, 'node_modules', '.bin')}:${process.env.PATH}`,
      HOME: desk.home,
      COMMONPLACE_URL: desk.url,
      ...COMMON,
      ...recording,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => (said += piece))
  const kill = () => {
    try {
      process.kill(-(child.pid ?? 0), 'SIGKILL')
    } catch {
      // It has ended.
    }
  }
  const timer = setTimeout(kill, LONGEST_MS)
  const done = new Promise((resolve) => {
    child.on('close', (code) => {
      clearTimeout(timer)
      resolve({ code, said, ms: Date.now() - begun })
    })
  })
  return { kill, done }
}

/** Installs by the client's own commands. @throws {Error} with the output */
export async function install(programs, name, at) {
  for (const command of AGENTS[name].install) {
    const args = command.map((word) => word.replace('{{url}}', at.url))
    const { code, said } = await start(programs, name, args, at).done
    if (code !== 0) throw new Error(`${name} ${args.join(' ')}: ${said}`)
  }
  if (name === 'opencode') {
    const plugins = join(at.home, '.config', 'opencode', 'plugins')
    mkdirSync(plugins, { recursive: true })
    const file = pathToFileURL(join(ROOT, 'plugins', 'commonplace', 'opencode.js')).href
    writeFileSync(join(plugins, 'commonplace.js'), `export { default } from ${JSON.stringify(file)}\n`)
  }
}

/** Trusts the hooks in Codex, as `commonplace setup codex --capture` does. @returns the hooks, with their state */
export async function trust(programs, { home }) {
  const { PATH, HOME, CODEX_HOME } = process.env
  delete process.env.CODEX_HOME
  Object.assign(process.env, { PATH: `${join(programs, 'node_modules', '.bin')}:${PATH}`, HOME: home })
  try {
    return await trustCodexHooks()
  } finally {
    Object.assign(process.env, { PATH, HOME, ...(CODEX_HOME === undefined ? {} : { CODEX_HOME }) })
  }
}
