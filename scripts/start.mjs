// `npm start`: everything a newcomer needs. Installs what is missing, then serves MCP on this machine, with D1 and R2
// simulated under .wrangler/state. The worker applies its own migrations on the first request.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { environment, installMissing, nodePath, root } from './install.mjs'

installMissing()

const port = process.env.PORT ?? '8787'
const url = `http://localhost:${port}/mcp`
const wrangler = join(root, 'node_modules', 'wrangler', 'bin', 'wrangler.js')
const own = process.argv.slice(2)
const child = spawn(
  nodePath(),
  [wrangler, 'dev', '--port', port, '--var', 'AUTH_MODE:open', '--show-interactive-dev-session=false', ...own],
  { cwd: root, env: environment(), stdio: ['ignore', 'inherit', 'inherit'] },
)

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
child.on('exit', (code) => process.exit(code ?? 0))

for (let tries = 0; tries < 300; tries++) {
  const ready = await fetch(`http://localhost:${port}/ready`).then(
    (response) => response.ok,
    () => false,
  )
  if (ready) {
    console.log(`
Commonplace is ready:  ${url}

  Claude Code   claude mcp add --transport http commonplace ${url}
  others        see README.md

Data lives in .wrangler/state and survives a restart. Stop with Ctrl-C.
`)
    break
  }
  await new Promise((resolve) => setTimeout(resolve, 200))
}

// Wrangler does not run schedules on this machine, so the one that finishes what requests left to be done is run here.
const cron = encodeURIComponent('*/5 * * * *')
setInterval(
  () => fetch(`http://localhost:${port}/cdn-cgi/local/scheduled?cron=${cron}`).catch(() => {}),
  5 * 60_000,
).unref()
