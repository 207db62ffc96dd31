// Checks that a session becomes a memory: the installed hook replays a recorded session, and its entry is shown and erased. Then shows the last capture.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CAPTURE_CLIENTS } from '../capture/clients.mjs'
import { run } from '../capture/program.mjs'
import { recordedSession } from '../capture/recorded.mjs'
import { ask, callTool } from './ask.mjs'

const PROJECT = 'commonplace-doctor'

/** On a busy machine a hook may time out; the event waits, and the next hook sends it. */
const MOST_TRIES = 3

/** Reads the hook program's record of the server; null if it never reached one. */
function rememberedIn(folder) {
  const file = join(folder, '.commonplace', 'state.json')
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null
}

/** Replays the session through the hook as the client does, in a separate home. @returns {Promise<string | null>} the error */
async function play(client, hook, { url, key }, folder, session) {
  const env = { PATH: process.env.PATH, HOME: folder, USERPROFILE: folder, COMMONPLACE_URL: url, COMMONPLACE_KEY: key }
  const fire = (event) => {
    const input = JSON.stringify(event)
    return run(process.execPath, [hook, client], { input, env, cwd: folder, longestMs: 10_000 })
  }
  const events = recordedSession(client, { folder, session, home: folder })
  for (const event of events) {
    const { code, err } = await fire(event)
    if (code !== 0 || err !== '') return err.trim() || `the hook ended with ${code}`
  }
  let state = rememberedIn(folder)
  // Sent again under the same id it changes nothing, and waiting events are sent with it.
  for (let tries = 1; tries < MOST_TRIES && state?.failedSince !== undefined; tries++) {
    await fire(events.at(-1))
    state = rememberedIn(folder)
  }
  if (state === null) return 'its hook did not contact a server'
  return state.failedSince === undefined
    ? null
    : `the server did not respond to the hook${state.status ? ` (${state.status})` : ''}`
}

async function checkSession(around, name, hook) {
  const [project = PROJECT] = around.known?.projects ?? []
  const session = `doctor-${Date.now().toString(36)}`
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-doctor-'))
  try {
    mkdirSync(join(folder, '.git'))
    writeFileSync(join(folder, '.git', 'HEAD'), 'ref: refs/heads/main\n')
    writeFileSync(join(folder, '.commonplace.json'), JSON.stringify({ project }))
    const wrong = await play(name, hook, around, folder, session)
    const thread = `session:${name}:${session}`
    const { json } = await callTool(around, 'search_context', { thread_id: thread })
    const [entry] = json?.result?.structuredContent?.results ?? []
    if (entry !== undefined) await callTool(around, 'delete_context', { context_ids: [entry.id], erase: true })
    if (wrong !== null) return { name, ok: false, detail: `a replayed session was not captured: ${wrong}` }
    if (entry === undefined)
      return {
        name,
        ok: false,
        detail: 'a replayed session did not become an entry',
        todo: 'check the log of the server',
      }
    const text = String(entry.text_content).replace(/\s+/g, ' ').slice(0, 160)
    return { name, ok: true, detail: `a replayed session became entry ${entry.id}, now erased: ${text}` }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function lastOf(around, name) {
  const { status, json } = await ask(around, `/api/v1/orgs/-/captured?client=${name}&limit=1`)
  const [last] = status === 200 ? json.items : []
  if (last === undefined) return { name, ok: null, detail: 'no session of this client was captured yet' }
  return { name, ok: true, detail: `last captured ${last.updated_at.slice(0, 16)}Z: ${last.title}` }
}

/** @param {import('./command.mjs').Around} around @returns {Promise<import('./command.mjs').Finding[]>} */
export async function checkCapture(around) {
  if (!around.known?.capture) return []
  const findings = []
  const names = around.client === null ? Object.keys(CAPTURE_CLIENTS) : [around.client]
  for (const name of names) {
    const { hook } = await CAPTURE_CLIENTS[name].look().catch(() => ({ hook: null }))
    if (hook === null) continue
    findings.push(await checkSession(around, name, hook), await lastOf(around, name))
  }
  return findings
}
