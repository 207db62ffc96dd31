// Checks whether the port is free, and if not, which process uses it. Runs before a server starts, because the runtime reports a used
// port late and unclearly.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { TYPED } from '../../src/cli/place.mjs'
import { listeningFails } from '../ports.mjs'

/** Time to wait for our own server on a busy machine, so that it is not mistaken for another program. */
const PATIENCE_MS = 10_000

/** @param {string} ip */
const hostOf = (ip) => (ip === 'localhost' ? '127.0.0.1' : ip.replace(/^\[(.*)\]$/, '$1'))

/** @param {string} origin */
async function isCommonplace(origin) {
  try {
    const response = await fetch(`${origin}/health`, { signal: AbortSignal.timeout(PATIENCE_MS), redirect: 'manual' })
    const { status } = /** @type {{ status?: unknown }} */ (await response.json())
    const ready = await fetch(`${origin}/ready`, { signal: AbortSignal.timeout(PATIENCE_MS), redirect: 'manual' })
    const { checks, error } = /** @type {{ checks?: object, error?: object }} */ (await ready.json())
    return status === 'ok' && (checks !== undefined || error !== undefined)
  } catch {
    return false
  }
}

/**
 * Returns the process that listens on a port, on Linux: finds sockets of the port, then the processes that own them.
 *
 * @param {number} port
 * @returns {{ pid: number, command: string } | null} null if it is unknown, or belongs to another user
 */
export function listenerOf(port) {
  const hex = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const LISTEN = '0A'
  try {
    const sockets = new Set(
      ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((table) =>
        readFileSync(table, 'utf8')
          .split('\n')
          .map((line) => line.trim().split(/\s+/))
          .filter(([, local, , state]) => local?.endsWith(hex) && state === LISTEN)
          .map((columns) => `socket:[${columns[9]}]`),
      ),
    )
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      if (!filesOf(pid).some((file) => sockets.has(file))) continue
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
      return { pid: Number(pid), command: command.length > 60 ? `${command.slice(0, 59)}…` : command }
    }
  } catch {
    // Not Linux, or the process has exited.
  }
  return null
}

/** @param {string} pid */
function filesOf(pid) {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`)
      } catch {
        return ''
      }
    })
  } catch {
    return [] // another user's, or gone
  }
}

/** @param {number} port */
const another = (port) => (port === 65_535 ? 8787 : port + 1)

/** @param {number} port */
function holderOf(port) {
  const holder = listenerOf(port)
  return holder === null ? '' : ` (process ${holder.pid}: ${holder.command})`
}

/**
 * Checks the debugger port: a runtime whose debugger port is in use never serves, and reports nothing.
 *
 * @param {import('./arguments.mjs').ServeOptions} options
 * @returns {Promise<string | null>} one line for the user, or null if it is free
 */
export async function whyNoDebugger({ port, inspectorPort }) {
  if (inspectorPort === undefined) return null
  const take = `use another: ${TYPED.startWith} --inspector-port ${another(Math.max(inspectorPort, port))}`
  if (inspectorPort === port) return `--inspector-port is ${port}, which is the port of the server; ${take}`
  const code = await listeningFails(inspectorPort, '127.0.0.1')
  if (code === null) return null
  if (code !== 'EADDRINUSE') return `The debugger cannot listen on --inspector-port ${inspectorPort} (${code}); ${take}`
  return `Port ${inspectorPort} (--inspector-port) is in use${holderOf(inspectorPort) || ' by another program'}; ${take}`
}

/**
 * @param {number} port
 * @param {string} ip
 * @returns {Promise<string | null>} one line for the user, or null if the port is free
 */
export async function whyNotFree(port, ip) {
  const code = await listeningFails(port, hostOf(ip))
  if (code === null) return null
  if (code === 'EACCES')
    return `Port ${port} requires administrator rights; use one above 1023: ${TYPED.startWith} --port 8787`
  if (code !== 'EADDRINUSE') return `Cannot listen on ${ip} port ${port} (${code}).`
  const process = holderOf(port)
  const origin = `http://localhost:${port}`
  return (await isCommonplace(origin))
    ? `Port ${port} is in use by Commonplace, which already serves ${origin}/mcp${process}.`
    : `Port ${port} is in use${process || ' by another program'}; use another: ${TYPED.startWith} --port ${another(port)}`
}
