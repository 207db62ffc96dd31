// Settings and state of the hooks on this machine: their server, and the events that wait (capture contract §2).
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { jsonIn } from '../../../plugins/source/events.mjs'
import { settingsOf } from '../../../plugins/source/settings.mjs'
import { configFile } from '../resolve-server.mjs'
import { write } from '../setup/write.mjs'

const folder = () => join(homedir(), '.commonplace')

const jsonOf = (file) => {
  try {
    return jsonIn(readFileSync(file, 'utf8'))
  } catch {
    return {}
  }
}

/** Returns the URL that hooks use unless an option of a plugin names another. @returns {string} */
export const hookUrl = () => settingsOf({ COMMONPLACE_URL: process.env.COMMONPLACE_URL }, homedir()).url

/** Returns the stored key of a server, so that setup without a key preserves it; empty for none. */
export function keptKeyOf(url) {
  const kept = jsonOf(configFile())
  return kept?.url === url && typeof kept.key === 'string' ? kept.key : ''
}

/** Stores both for programs that start without the environment of a shell; only the user can read the file. */
export function keepSettings({ url, key }) {
  mkdirSync(folder(), { recursive: true, mode: 0o700 })
  const before = existsSync(configFile()) ? readFileSync(configFile(), 'utf8') : ''
  const after = `${JSON.stringify(key === '' ? { url } : { url, key }, null, 2)}\n`
  if (before !== after) write(configFile(), after, true)
  return configFile()
}

/** @returns {{ waiting: number, lost: number, answeredAt: number | null, failedSince: number | null, status: number | null }} */
export function spoolState() {
  const spool = join(folder(), 'spool')
  const names = existsSync(spool) ? readdirSync(spool).filter((name) => name.endsWith('.json')) : []
  const lost = existsSync(join(folder(), 'lost'))
    ? new Set(readFileSync(join(folder(), 'lost'), 'utf8').split('\n').filter(Boolean)).size
    : 0
  const { answeredAt = null, failedSince = null, status = null } = jsonOf(join(folder(), 'state.json'))
  return { waiting: names.length, lost, answeredAt, failedSince, status }
}
