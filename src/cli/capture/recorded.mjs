// Recorded sessions of clients, to replay.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * @param {string} client
 * @param {{ folder: string, session: string, home: string }} of values that replace the recorded ones
 * @returns {Record<string, unknown>[]} events, as the client sends them
 */
export function recordedSession(client, of) {
  const file = fileURLToPath(new URL(`../../../plugins/recorded/${client}.json`, import.meta.url).href)
  const text = readFileSync(file, 'utf8').replace(/\{\{(folder|session|home)\}\}/g, (_, name) =>
    JSON.stringify(of[name]).slice(1, -1),
  )
  return JSON.parse(text).events
}
