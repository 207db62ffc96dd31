// Records running servers of this checkout or package on this machine. One small file per server, so that the command line finds the
// port, and no two servers write into the same folder.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { WORK } from './place.mjs'

/**
 * @typedef {object} Running
 * @property {number} pid
 * @property {string} origin
 * @property {string} state the folder of its data
 */

/** @param {string} work */
const folderOf = (work) => join(work, 'servers')

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM'
  }
}

/** @param {string} origin */
const answers = (origin) =>
  fetch(`${origin}/health`, { signal: AbortSignal.timeout(3000) }).then(
    ({ ok }) => ok,
    () => false,
  )

/**
 * Returns recorded servers that still respond; the process id alone may belong to another process by now.
 *
 * @param {string} [work] the folder of the records
 * @returns {Promise<Running[]>}
 */
export async function runningServers(work = WORK) {
  const checked = await Promise.all(
    announced(work).map(async (server) => (isAlive(server.pid) && (await answers(server.origin)) ? [server] : [])),
  )
  return checked.flat()
}

/** @param {string} work @returns {Running[]} */
function announced(work) {
  const folder = folderOf(work)
  if (!existsSync(folder)) return []
  return readdirSync(folder).flatMap((name) => {
    try {
      return [JSON.parse(readFileSync(join(folder, name), 'utf8'))]
    } catch {
      return [] // being written or deleted
    }
  })
}

/**
 * Records this process as a server; the file is deleted when it exits.
 *
 * @param {Omit<Running, 'pid'>} server
 */
export function announce(server) {
  const folder = folderOf(WORK)
  const file = join(folder, `${process.pid}.json`)
  try {
    mkdirSync(folder, { recursive: true })
    for (const name of readdirSync(folder))
      if (!isAlive(Number(name.split('.')[0]))) rmSync(join(folder, name), { force: true })
    writeFileSync(file, JSON.stringify({ pid: process.pid, ...server }))
    process.on('exit', () => rmSync(file, { force: true }))
  } catch {
    // In a read-only checkout the command line needs COMMONPLACE_URL to find the port.
  }
}
