// Runs the Worker on this machine as a child in its own process group, so that no process survives when this one ends, even by
// SIGKILL. Used by `npm start` and `npm run dev:postgres`.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isPackaged, ROOT, TYPED, WORK } from '../src/cli/place.mjs'
import { environment, nodePath } from './install.mjs'

const PROGRAM = fileURLToPath(new URL('serve/worker.mjs', import.meta.url).href)
const GRACE_MS = 7000

/** @param {number | undefined} group @param {NodeJS.Signals} signal */
function signalGroup(group, signal) {
  try {
    if (group !== undefined) process.kill(process.platform === 'win32' ? group : -group, signal)
  } catch {
    // The process group is empty.
  }
}

/** A killed npm does not stop its scripts, so a missing parent stops the server too. */
function whenNpmEnds(/** @type {() => void} */ then) {
  if (process.env.npm_lifecycle_event === undefined || process.platform === 'win32') return
  const parentOf = (/** @type {number} */ pid) =>
    Number(spawnSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' }).stdout)
  const shell = process.ppid
  const npm = parentOf(shell)
  if (!(npm > 1)) return
  setInterval(() => {
    try {
      process.kill(npm, 0)
      if (process.ppid !== shell) then()
    } catch {
      then()
    }
  }, 1000).unref()
}

/**
 * Serves until a signal arrives or the server exits; resolves to the exit code.
 *
 * @param {import('./serve/worker.mjs').Task} task
 * @returns {Promise<number>}
 */
export function serve(task) {
  mkdirSync(WORK, { recursive: true })
  const output = task.options.log === undefined ? 'inherit' : 'pipe'
  const child = spawn(nodePath(), [PROGRAM], {
    cwd: isPackaged ? WORK : ROOT,
    // Passed in the environment: every process of the machine can read arguments, and a variable may be a secret.
    env: environment({
      COMMONPLACE_TASK: JSON.stringify(task),
      COMMONPLACE_TYPED: JSON.stringify(TYPED),
      WRANGLER_LOG: 'error',
    }),
    stdio: ['ignore', output, output, 'ipc'],
    detached: true,
    windowsHide: true,
  })
  child.stdout?.pipe(process.stdout, { end: false })
  child.stderr?.pipe(process.stderr, { end: false })
  let asked = false
  const stop = () => {
    if (asked) return signalGroup(child.pid, 'SIGKILL')
    asked = true
    child.kill('SIGTERM')
    setTimeout(() => signalGroup(child.pid, 'SIGKILL'), GRACE_MS).unref()
  }
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) process.on(signal, stop)
  whenNpmEnds(stop)
  return new Promise((resolve) => {
    child.once('error', (error) => {
      console.error(error.message)
      resolve(1)
    })
    child.once('exit', (code, signal) => {
      // Child processes must not outlive it.
      signalGroup(child.pid, 'SIGKILL')
      if (!asked && code === null) console.error(`The server was ended by ${signal}.`)
      resolve(code ?? (asked ? 0 : 1))
    })
  })
}
