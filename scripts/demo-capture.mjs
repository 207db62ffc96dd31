// `npm run demo:capture`: shows memory going from one client to another, on a separate server. Clients are replayed from recorded events;
// with `--clients FOLDER` the real programs run (test/clients/README.md describes that folder), against scripted models.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { recordedPlayer } from './demo-capture/recorded.mjs'
import { startOwnServer } from './demo-capture/server.mjs'
import { DECIDED, tellStory } from './demo-capture/story.mjs'

/** Runs the real programs on request. */
const PLAYER = new URL('../test/clients/capture/player.mjs', import.meta.url).href

const { values } = parseArgs({ options: { clients: { type: 'string' } } })
const folder = mkdtempSync(join(tmpdir(), 'commonplace-demo-'))
const server = await startOwnServer()
let told = ''
try {
  const player =
    values.clients === undefined
      ? recordedPlayer(server.url, folder)
      : (await import(PLAYER)).realPlayer(resolve(values.clients), server.url, folder)
  told = await tellStory(server, player, console.log)
} finally {
  await server.stop()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
const isTold = told.includes('Where we left off') && told.includes(DECIDED.split('.')[0])
if (!isTold) console.error('Codex did not receive the decision and the state of the work.')
process.exit(isTold ? 0 : 1)
