// Finds the server and the key. Both come from the same place, so that a key is never sent to another server (capture contract §2).
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { jsonIn } from './events.mjs'

const DEFAULT_URL = 'http://localhost:8787'

/** An option that a client left as its placeholder in the plugin's file is not set. */
const given = (value) => (typeof value === 'string' && !value.includes('${') ? value.trim() : '')

/** Returns the root of the server, whether its root or an endpoint was named. */
function serverOf(text) {
  try {
    const url = new URL(text)
    if (!/^https?:$/.test(url.protocol)) return null
    return `${url.origin}${url.pathname.replace(/\/mcp(\/.*)?$/, '').replace(/\/+$/, '')}`
  } catch {
    return null
  }
}

function configured(home) {
  try {
    const config = jsonIn(readFileSync(join(home, '.commonplace', 'config.json'), 'utf8'))
    return [config?.url, config?.key]
  } catch {
    return []
  }
}

/** Names of the places, for messages. */
const CALLED = { plugin: "the plugin's url", variable: 'COMMONPLACE_URL', file: '~/.commonplace/config.json' }

/**
 * @returns {{ url: string, key: string, from: string, flaw: string | null }} url without a trailing slash; key empty for none;
 *   flaw: error of a place that was skipped
 */
export function settingsOf(env, home) {
  const places = {
    plugin: () => [env.CLAUDE_PLUGIN_OPTION_URL, env.CLAUDE_PLUGIN_OPTION_KEY],
    variable: () => [env.COMMONPLACE_URL, env.COMMONPLACE_KEY],
    file: () => configured(home),
  }
  /** @type {string | null} */
  let flaw = null
  for (const [from, place] of Object.entries(places)) {
    const [named, key] = place()
    const url = serverOf(given(named))
    if (url !== null) return { url, key: given(key).replace(/^Bearer\s*/i, ''), from, flaw }
    if (given(named) !== '') flaw ??= `${CALLED[from]} is not a URL that starts with http:// or https://`
  }
  return { url: DEFAULT_URL, key: '', from: 'default', flaw }
}
