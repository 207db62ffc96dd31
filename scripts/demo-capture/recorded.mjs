// Replays the recorded events of the clients' hooks through the hook program of the plugin.
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { recordedSession } from '../../src/cli/capture/recorded.mjs'
import { root } from '../install.mjs'
import { SECOND } from './story.mjs'

const HOOK = join(root, 'plugins', 'commonplace', 'hook.mjs')

/** Creates a home with a clone of one repository, of which hooks read `.git`. */
export function makeDesk(parent, name) {
  const home = join(parent, name)
  const folder = join(home, 'ferry')
  for (const part of ['objects', 'refs']) mkdirSync(join(folder, '.git', part), { recursive: true })
  writeFileSync(join(folder, '.git', 'HEAD'), 'ref: refs/heads/main\n')
  const config = '[core]\n\trepositoryformatversion = 0\n[remote "origin"]\n\turl = git@github.com:acme/ferry.git\n'
  writeFileSync(join(folder, '.git', 'config'), config)
  return { home, folder }
}

/** @returns {Promise<any>} the output of the hook, parsed */
const fire = (url, { home, folder }, client, event) =>
  new Promise((resolve, reject) => {
    const env = { PATH: process.env.PATH, HOME: home, USERPROFILE: home, COMMONPLACE_URL: url }
    const child = spawn(process.execPath, [HOOK, client], { env, cwd: folder })
    let out = ''
    child.stdout.on('data', (piece) => {
      out += piece
    })
    child.once('error', reject)
    child.once('close', () => resolve(out.trim() === '' ? null : JSON.parse(out)))
    child.stdin.end(JSON.stringify(event))
  })

/** @param {string} url of the server @param {string} parent a folder for the homes @returns {import('./story.mjs').Player} */
export function recordedPlayer(url, parent) {
  const sessionOf = (client, { home, folder }) => recordedSession(client, { folder, home, session: `demo-${client}` })
  return {
    by: 'its recorded events',
    desk: async (name) => makeDesk(parent, name),
    async work(desk) {
      const events = sessionOf('claude-code', desk).filter(({ hook_event_name: name }) => name !== 'SessionEnd')
      for (const event of events) await fire(url, desk, 'claude-code', event)
      const prompt = events.find(({ hook_event_name: name }) => name === 'UserPromptSubmit')
      const tool = events.find(({ hook_event_name: name }) => name === 'PostToolUse')
      await fire(url, desk, 'claude-code', { ...prompt, prompt: SECOND, prompt_id: 'second' })
      await fire(url, desk, 'claude-code', { ...tool, prompt_id: 'second', tool_use_id: 'second' })
    },
    async begin(desk) {
      const [start] = sessionOf('codex', desk)
      return (await fire(url, desk, 'codex', start))?.hookSpecificOutput?.additionalContext ?? ''
    },
  }
}
