// `wrangler dev`: what a developer runs, with wrangler's proxy in front of the worker.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { environment, nodePath } from '../../scripts/install.mjs'
import { publishLine } from './log-lines.mjs'
import { wranglerCli } from './workspace.mjs'

/** @type {(options: import('./server.mjs').ServerOptions) => Promise<import('./server.mjs').Server>} */
export async function startWrangler({ workspace, state, vars, port }) {
  const child = spawn(
    nodePath(),
    [
      ...[wranglerCli, 'dev', '--ip', '127.0.0.1', '--port', String(port), '--inspector-port', String(port + 2)],
      ...['--persist-to', state, '--show-interactive-dev-session=false'],
      ...Object.entries(vars).flatMap(([name, value]) => ['--var', `${name}:${value}`]),
    ],
    {
      cwd: workspace.sources,
      env: environment({ WRANGLER_REGISTRY_PATH: workspace.folder('registry'), WRANGLER_LOG_PATH: state }),
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own, because wrangler starts workerd and esbuild, which must end with it.
      detached: true,
    },
  )
  const listeners = new Set()
  createInterface({ input: child.stdout }).on('line', (line) => publishLine(listeners, line))
  child.stderr.resume()
  const ended = once(child, 'exit')
  return {
    origin: `http://127.0.0.1:${port}`,
    onLog: (listener) => listeners.add(listener),
    async stop() {
      signalGroup(child.pid, 'SIGTERM')
      const late = setTimeout(() => signalGroup(child.pid, 'SIGKILL'), 5000)
      await ended
      clearTimeout(late)
      signalGroup(child.pid, 'SIGKILL')
    },
  }
}

/** The group may have exited already. */
function signalGroup(pid, signal) {
  try {
    process.kill(-pid, signal)
  } catch {}
}
