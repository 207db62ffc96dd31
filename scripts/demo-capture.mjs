// `npm run demo:capture`: memory from one client to another, on a server of its own. Clients are played by their recorded events; with
// `--clients FOLDER` by the programs themselves (test/clients/README.md says how that folder is made), against scripted models.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { recordedPlayer } from './demo-capture/recorded.mjs'
import { startOwnServer } from './demo-capture/server.mjs'
import { DECIDED, tellStory } from './demo-capture/story.mjs'

/** With the programs themselves, where they are asked for. */
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
if (!isTold) console.error('Codex was not told what was decided and where it was left off.')
process.exit(isTold ? 0 : 1)
