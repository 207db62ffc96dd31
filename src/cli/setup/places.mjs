// Returns where each client stores its file on this machine.
import { existsSync } from 'node:fs'
import { homedir, platform } from 'node:os'
import { join } from 'node:path'

/** Returns the settings folder of a desktop program. @param {string} name */
const applicationData = (name) => {
  if (platform() === 'darwin') return join(homedir(), 'Library', 'Application Support', name)
  if (platform() === 'win32') return join(process.env.APPDATA ?? join(homedir(), 'AppData', 'Roaming'), name)
  return join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), name)
}

/** Returns the file with comments if only that one exists: the program reads both. */
const openCode = () => {
  const folder = join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'opencode')
  const [plain, commented] = ['opencode.json', 'opencode.jsonc'].map((name) => join(folder, name))
  return existsSync(commented) && !existsSync(plain) ? commented : plain
}

/** @type {Readonly<Record<string, () => string>>} */
const PLACES = {
  opencode: openCode,
  claude: () => join(applicationData('Claude'), 'claude_desktop_config.json'),
  'claude-code': () => join(homedir(), '.claude.json'),
  kimi: () => join(homedir(), existsSync(join(homedir(), '.kimi-code')) ? '.kimi-code' : '.kimi', 'mcp.json'),
  codex: () => join(process.env.CODEX_HOME || join(homedir(), '.codex'), 'config.toml'),
  gemini: () => join(homedir(), '.gemini', 'settings.json'),
  cursor: () => join(homedir(), '.cursor', 'mcp.json'),
  'vs-code': () => join(applicationData('Code'), 'User', 'mcp.json'),
  windsurf: () => join(homedir(), '.codeium', 'windsurf', 'mcp_config.json'),
  zed: () =>
    platform() === 'win32'
      ? join(applicationData('Zed'), 'settings.json')
      : join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'zed', 'settings.json'),
  cline: () => join(homedir(), '.cline', 'data', 'settings', 'cline_mcp_settings.json'),
}

/** Clients whose files are known. */
export const PLACED_CLIENTS = Object.keys(PLACES)

/**
 * @param {string} client
 * @returns {string | null} null for clients whose file is unknown
 */
export const placeOf = (client) => PLACES[client]?.() ?? null
