// The demonstration with the programs themselves (scripts/demo-capture).
import { makeDesk } from '../../../scripts/demo-capture/recorded.mjs'
import { DECIDED, FIRST, SECOND } from '../../../scripts/demo-capture/story.mjs'
import { startModel } from '../model.mjs'
import { AGENTS, install, start, trust } from './clients.mjs'
import { requestsOf, startsIn } from './seen.mjs'

/** @param {string} programs the folder with the clients' packages @returns {import('../../../scripts/demo-capture/story.mjs').Player} */
export function realPlayer(programs, url, parent) {
  const begin = async (name, desk, prompt, script, more = []) => {
    const model = await startModel(0, script)
    const { args, env } = AGENTS[name].ask(prompt, `http://127.0.0.1:${model.port}`)
    return { model, run: start(programs, name, [...more, ...args], desk, env) }
  }
  return {
    by: 'the program itself',
    desk: async (name) => ({ ...makeDesk(parent, name), url }),
    async work(desk) {
      const { shell, writes } = AGENTS['claude-code']
      await install(programs, 'claude-code', desk)
      const steps = [
        shell('cat light.txt'),
        writes?.(desk.folder, 'light.txt'),
        shell('cat light.txt'),
        { answer: DECIDED },
      ]
      const first = await begin('claude-code', desk, FIRST, (results) => steps[Math.min(results.length, 3)])
      await first.run.done
      first.model.stop()
      // Its model is silent once a command has run, and then the program is killed.
      let isSilent = () => {}
      const silence = new Promise((resolve) => {
        isSilent = () => resolve(undefined)
      })
      let asked = 0
      const second = await begin(
        'claude-code',
        desk,
        SECOND,
        () => {
          if (asked++ === 0) return shell('ls')
          isSilent()
          return null
        },
        ['--continue'],
      )
      await silence
      second.run.kill()
      await second.run.done
      second.model.stop()
    },
    async begin(desk) {
      await install(programs, 'codex', desk)
      await trust(programs, desk)
      const { model, run } = await begin('codex', desk, 'Go on where we stopped', () => ({
        answer: 'The fog horn is next.',
      }))
      await run.done
      model.stop()
      return startsIn(requestsOf(model)[0])[0] ?? ''
    },
  }
}
