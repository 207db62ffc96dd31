// Installs capture into each client, and checks the installation. One object per client (capture contract §1).
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { homedir, platform } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isPackaged, ROOT as OWN_ROOT, VERSION, WORK } from '../place.mjs'
import { mergeJson, Unreadable } from '../setup/merge.mjs'
import { write } from '../setup/write.mjs'
import { codexHooks, trustCodexHooks } from './app-server.mjs'
import { programOf, run } from './program.mjs'

/** The marketplace folder of plugins: the checkout, or a copy of the package, because clients read it later and npx clears its cache. */
export const ROOT = isPackaged ? join(WORK, 'marketplace') : OWN_ROOT

/** Replaces that copy with one of this version. */
export function keepMarketplace() {
  if (!isPackaged) return
  rmSync(ROOT, { recursive: true, force: true })
  for (const name of ['.claude-plugin', 'plugins']) cpSync(join(OWN_ROOT, name), join(ROOT, name), { recursive: true })
}

const PLUGIN = join(ROOT, 'plugins', 'commonplace')
const AGENT_PLUGIN = join(ROOT, 'plugins', 'agent-plugin')

/** A client that could not be set up; the message is the reason. */
export class NotInstalled extends Error {}

/** Runs a client's own command. @param {RegExp} [fine] output that means the step was already done */
async function own(program, args, fine) {
  const file = programOf(program)
  if (file === null) throw new NotInstalled(`${program} is not on the PATH: install it first`)
  const { code, out, err } = await run(file, args)
  if (code === 0 || fine?.test(out + err)) return
  const shown = args.map((arg) => (arg.startsWith('key=') ? 'key=…' : arg)).join(' ')
  throw new NotInstalled(`${program} ${shown}: ${(err || out).trim().split('\n').at(-1) ?? 'failed'}`)
}

/** Writes a user's file, unless it has this content. @param {(before: string) => string} made changes the content */
function fill(file, made) {
  try {
    const before = read(file)
    const after = made(before)
    if (after !== before) write(file, after, false)
  } catch (error) {
    throw error instanceof Unreadable ? new NotInstalled(`${file} was not changed: ${error.message}`) : error
  }
}

const read = (file) => (existsSync(file) ? readFileSync(file, 'utf8') : '')
const inHome = (...names) => join(homedir(), ...names)

/** Returns whether a copy of the hook program is that of this version. */
const isCurrent = (file) => read(file) === read(join(PLUGIN, 'hook.mjs'))

/** Checks a copied plugin. */
const copied = (file, again) => {
  if (!existsSync(file)) return { hook: null, problems: [`not installed: ${again}`] }
  return { hook: file, problems: isCurrent(file) ? [] : [`${file} is of another version: ${again}`] }
}

const again = (client) => `commonplace setup ${client} --capture`

const claudeSettings = () => join(process.env.CLAUDE_CONFIG_DIR || inHome('.claude'), 'settings.json')

/** Sets the status line in the person's settings, unless another one is set: a plugin of Claude Code cannot. @returns {string} */
function addStatusLine() {
  const file = claudeSettings()
  const statusLine = { type: 'command', command: `node "${join(PLUGIN, 'hook.mjs')}" statusline` }
  const has = (text) => /"statusLine"\s*:/.test(text)
  const isOther = has(read(file)) && !read(file).includes('hook.mjs')
  if (isOther) return `${file} has another status line: add the output of commonplace statusline to it.`
  fill(file, (before) => mergeJson(before, ['statusLine'], statusLine))
  return `${file} shows memory in the status line.`
}

const CODE = {
  darwin: () => inHome('Library', 'Application Support', 'Code', 'User'),
  win32: () => join(process.env.APPDATA ?? inHome('AppData', 'Roaming'), 'Code', 'User'),
}
const codeSettings = () =>
  join(
    (CODE[platform()] ?? (() => join(process.env.XDG_CONFIG_HOME || inHome('.config'), 'Code', 'User')))(),
    'settings.json',
  )

const openCodePlugin = () =>
  join(process.env.XDG_CONFIG_HOME || inHome('.config'), 'opencode', 'plugins', 'commonplace.js')

const codexHome = () => process.env.CODEX_HOME || inHome('.codex')

/**
 * @typedef {object} CaptureClient
 * @property {string} program name of its command
 * @property {string} [least] the first version that supports the plugin
 * @property {(to: { url: string, key: string }) => Promise<string[]>} install returns lines that report what was done
 * @property {() => Promise<{ hook: string | null, problems: string[] }>} look returns the hook program that it runs, and problems
 */

/** @type {Readonly<Record<string, CaptureClient>>} */
export const CAPTURE_CLIENTS = {
  'claude-code': {
    program: 'claude',
    async install({ url, key }) {
      const options = [`url=${url}`, ...(key === '' ? [] : [`key=${key}`])].flatMap((option) => ['--config', option])
      await own('claude', ['plugin', 'marketplace', 'add', ROOT], /already/i)
      await own('claude', ['plugin', 'install', 'commonplace@commonplace', ...options])
      const line = addStatusLine()
      return ['Claude Code has the plugin commonplace; it begins with the next session.', line]
    },
    async look() {
      const file = programOf('claude')
      const { out } = file === null ? { out: '' } : await run(file, ['plugin', 'list', '--json'])
      const plugin = listOf(out).find(({ id }) => id === 'commonplace@commonplace')
      if (plugin === undefined)
        return { hook: null, problems: [`its plugin is not installed: ${again('claude-code')}`] }
      const found = copied(join(plugin.readFromFolder ?? plugin.installPath, 'hook.mjs'), again('claude-code'))
      const off =
        plugin.enabled === false ? ['its plugin is switched off: claude plugin enable commonplace@commonplace'] : []
      return { ...found, problems: [...found.problems, ...off] }
    },
  },
  codex: {
    program: 'codex',
    async install() {
      await own('codex', ['plugin', 'marketplace', 'add', ROOT], /already/i)
      await own('codex', ['plugin', 'add', 'commonplace@commonplace'])
      const hooks = await trustCodexHooks()
      return [`Installed the plugin commonplace in Codex, which now trusts its ${hooks.length} hooks.`]
    },
    async look() {
      const hooks = programOf('codex') === null ? [] : await codexHooks()
      if (hooks.length === 0) return { hook: null, problems: [`its plugin is not installed: ${again('codex')}`] }
      const file = join(codexHome(), 'plugins', 'cache', 'commonplace', 'commonplace', VERSION, 'hook.mjs')
      const found = copied(/"([^"]+hook\.mjs)"/.exec(hooks[0].command)?.[1] ?? file, again('codex'))
      const skipped = hooks.filter(({ trustStatus, enabled }) => trustStatus !== 'trusted' || !enabled)
      const names = skipped.map(({ eventName, trustStatus }) => `${eventName} (${trustStatus})`).join(', ')
      const trust =
        skipped.length === 0
          ? []
          : [`Codex skips hooks that are not trusted: ${names}; ${again('codex')}, or /hooks there`]
      return { ...found, problems: [...found.problems, ...trust] }
    },
  },
  cursor: {
    program: 'cursor',
    async install() {
      const folder = inHome('.cursor', 'plugins', 'local', 'commonplace')
      rmSync(folder, { recursive: true, force: true })
      mkdirSync(folder, { recursive: true })
      cpSync(PLUGIN, folder, { recursive: true })
      return [`Installed the plugin in ${folder}. Restart Cursor.`]
    },
    look: async () => copied(inHome('.cursor', 'plugins', 'local', 'commonplace', 'hook.mjs'), again('cursor')),
  },
  copilot: {
    program: 'copilot',
    async install() {
      await own('copilot', ['plugin', 'marketplace', 'add', ROOT], /already/i)
      await own('copilot', ['plugin', 'install', 'commonplace-agent@commonplace'], /already/i)
      return ['Installed the plugin commonplace-agent in Copilot. It is active from the next session on.']
    },
    async look() {
      const settings = read(inHome('.copilot', 'settings.json'))
      const held = settings === '' ? {} : JSON.parse(settings)
      if (held.enabledPlugins?.['commonplace-agent@commonplace'] !== true)
        return { hook: null, problems: [`its plugin is not installed: ${again('copilot')}`] }
      const live = held.extraKnownMarketplaces?.commonplace?.source?.path
      const folder =
        typeof live === 'string'
          ? join(live, 'plugins', 'agent-plugin')
          : inHome('.copilot', 'installed-plugins', 'commonplace', 'commonplace-agent')
      return copied(join(folder, 'hook.mjs'), again('copilot'))
    },
  },
  vscode: {
    program: 'code',
    async install() {
      const file = codeSettings()
      fill(file, (before) => mergeJson(before, ['chat.pluginLocations', AGENT_PLUGIN], true))
      return [`Added the plugin to chat.pluginLocations in ${file}. Reload VS Code.`]
    },
    async look() {
      if (!read(codeSettings()).includes(JSON.stringify(AGENT_PLUGIN)))
        return { hook: null, problems: [`chat.pluginLocations does not name the plugin: ${again('vscode')}`] }
      return copied(join(AGENT_PLUGIN, 'hook.mjs'), again('vscode'))
    },
  },
  opencode: {
    program: 'opencode',
    least: '1.18.29',
    async install() {
      const file = openCodePlugin()
      fill(file, openCodeText)
      return [`Installed the plugin in ${file}. Restart OpenCode.`]
    },
    async look() {
      const text = read(openCodePlugin())
      if (text === '') return { hook: null, problems: [`${openCodePlugin()} does not exist: ${again('opencode')}`] }
      if (text !== openCodeText())
        return { hook: null, problems: [`${openCodePlugin()} loads another plugin: ${again('opencode')}`] }
      return copied(join(PLUGIN, 'hook.mjs'), again('opencode'))
    },
  },
}

const openCodeText = () =>
  `export { default } from ${JSON.stringify(pathToFileURL(join(PLUGIN, 'opencode.js')).href)}\n`

function listOf(text) {
  try {
    const list = JSON.parse(text)
    return Array.isArray(list) ? list : []
  } catch {
    return []
  }
}
