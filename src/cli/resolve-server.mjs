// Finds the server for a command, in the same way for every command.
import { homedir } from 'node:os'
import { join } from 'node:path'
import { settingsOf } from '../../plugins/source/settings.mjs'
import { STATE } from './place.mjs'
import { runningServers } from './running.mjs'

export const DEFAULT_URL = 'http://localhost:8787'

/** The settings that programs and hooks share: the URL and the key of one server. */
export const configFile = () => join(homedir(), '.commonplace', 'config.json')

/** @param {string} text */
export const isServerUrl = (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)

/**
 * @typedef {object} Resolved
 * @property {string} url
 * @property {string} key from the same place as the URL; empty for none
 * @property {string} from the place that sets the URL, for messages
 * @property {string | null} flaw error of a place that was skipped
 * @property {boolean} isNamed true where the URL comes from an option, a variable or the file
 */

/** Returns the server of this checkout or package, else of another folder. @returns {Promise<string | undefined>} */
async function runningOrigin() {
  const servers = await runningServers()
  const found = servers.find(({ state }) => state === STATE) ?? servers[0]
  if (servers.length > 1)
    console.error(`Several servers run here. This command uses ${found?.origin}; --url selects another.`)
  return found?.origin
}

/**
 * Resolves the server in this order: `--url`, `COMMONPLACE_URL`, `~/.commonplace/config.json`, the running server of this
 * folder, the default address.
 *
 * @param {string | undefined} typed the value of `--url`
 * @returns {Promise<Resolved>}
 */
export async function resolveServer(typed, env = process.env) {
  const ownKey = env.COMMONPLACE_KEY ?? ''
  const settings = settingsOf({ COMMONPLACE_URL: env.COMMONPLACE_URL, COMMONPLACE_KEY: env.COMMONPLACE_KEY }, homedir())
  if (typed !== undefined) {
    // A key of the configuration is sent to its own server only.
    const isKnown =
      settings.from === 'file' && isServerUrl(typed) && new URL(typed).origin === new URL(settings.url).origin
    return { url: typed, key: ownKey || (isKnown ? settings.key : ''), from: '--url', flaw: null, isNamed: true }
  }
  const { flaw } = settings
  // An endpoint in the variable, such as /mcp/threads, is used as written.
  if (settings.from === 'variable')
    return { url: String(env.COMMONPLACE_URL).trim(), key: ownKey, from: 'COMMONPLACE_URL', flaw, isNamed: true }
  if (settings.from === 'file')
    return { url: settings.url, key: ownKey || settings.key, from: configFile(), flaw, isNamed: true }
  const running = await runningOrigin()
  const from = running === undefined ? 'the default' : 'the running server'
  return { url: running ?? DEFAULT_URL, key: ownKey, from, flaw, isNamed: false }
}
