// Lists the processes of a cluster. The process id in a lock file may belong to a crashed process, a zombie or another program
// by now; the working folder of a PostgreSQL process is its cluster, which Linux reports.
import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { join } from 'node:path'

const ZOMBIE = 'Z'

/** Returns whether a process runs in this folder. @param {number | string} pid @param {string} folder */
function runsIn(pid, folder) {
  try {
    const state = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.[0]
    return state !== ZOMBIE && readlinkSync(`/proc/${pid}/cwd`) === folder
  } catch {
    return false // exited, or another user's
  }
}

/**
 * @param {string} data the folder of a cluster
 * @returns {number[]} processes whose working folder it is: the server and its backends; none where the system does not report it
 */
export function inhabitants(data) {
  if (process.platform !== 'linux' || !existsSync(data)) return []
  const folder = realpathSync(data)
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.filter((pid) => runsIn(pid, folder)).map(Number)
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM'
  }
}

/**
 * @param {string} data the folder of a cluster
 * @returns {{ pid: number, port: number } | null} the server that its lock file names, if it still runs
 */
export function postmasterOf(data) {
  const file = join(data, 'postmaster.pid')
  if (!existsSync(file)) return null
  const [pid, , , port] = readFileSync(file, 'utf8').split('\n').map(Number)
  if (!pid || !port) return null
  const runs = process.platform === 'linux' ? runsIn(pid, realpathSync(data)) : isAlive(pid)
  return runs ? { pid, port } : null
}
