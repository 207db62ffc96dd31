// How is the Worker run on this machine? `wrangler dev` with open access, a word when it answers, and the schedule. Shared by
// `npm start` and `npm run dev:postgres`.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { environment, nodePath, root } from './install.mjs'

/** Wrangler does not run schedules on this machine, so the one that finishes what requests left to be done is run here. */
function runSchedule(origin) {
  const cron = encodeURIComponent('*/5 * * * *')
  const run = () => fetch(`${origin}/cdn-cgi/local/scheduled?cron=${cron}`).catch(() => {})
  setInterval(run, 5 * 60_000).unref()
}

/** @returns whether it became ready; a server that refuses keeps running, so that it can be mended, and its reason is shown */
async function becomesReady(origin) {
  let shown = ''
  for (let tries = 0; tries < 300; tries++) {
    const response = await fetch(`${origin}/ready`).catch(() => null)
    if (response?.ok) return true
    const reason = response === null ? '' : await response.text()
    if (reason !== shown && reason !== '') console.error(`Not ready: ${reason}`)
    shown = reason
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  return false
}

/**
 * Serves until a signal ends it or wrangler ends by itself; resolves to the exit code.
 *
 * @param {object} options
 * @param {string[]} [options.args] more arguments for `wrangler dev`
 * @param {Record<string, string>} [options.env] more environment for it
 * @param {string} options.dataLine where the data are, as a sentence
 * @returns {Promise<number>}
 */
export async function serve({ args = [], env = {}, dataLine }) {
  const port = process.env.PORT ?? '8787'
  const origin = `http://localhost:${port}`
  const wrangler = join(root, 'node_modules', 'wrangler', 'bin', 'wrangler.js')
  const own = ['--port', port, '--var', 'AUTH_MODE:open', '--show-interactive-dev-session=false']
  const child = spawn(nodePath(), [wrangler, 'dev', ...own, ...args], {
    cwd: root,
    env: environment(env),
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
  const ended = new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 0)))

  if (await Promise.race([becomesReady(origin), ended.then(() => false)])) {
    const url = `${origin}/mcp`
    console.log(`
Commonplace is ready:  ${url}

  Claude Code   claude mcp add --transport http commonplace ${url}
  others        see README.md

${dataLine} Stop with Ctrl-C.
`)
    runSchedule(origin)
  }
  return ended
}
