// Which servers of this checkout run on this machine? One small file for each, so that the command line finds the right port,
// and so that no two servers write into the same folder.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * @typedef {object} Running
 * @property {number} pid
 * @property {string} origin
 * @property {string} state the folder of its data
 */

/** @param {string} root */
const folderOf = (root) => join(root, '.wrangler', 'servers')

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
 * Servers that have announced themselves and still answer; a process id alone may have gone to somebody else.
 *
 * @param {string} root of the checkout
 * @returns {Promise<Running[]>}
 */
export async function runningServers(root) {
  const checked = await Promise.all(
    announced(root).map(async (server) => (isAlive(server.pid) && (await answers(server.origin)) ? [server] : [])),
  )
  return checked.flat()
}

/** @param {string} root @returns {Running[]} */
function announced(root) {
  const folder = folderOf(root)
  if (!existsSync(folder)) return []
  return readdirSync(folder).flatMap((name) => {
    try {
      return [JSON.parse(readFileSync(join(folder, name), 'utf8'))]
    } catch {
      return [] // just being written, or just gone
    }
  })
}

/**
 * Announces this process as a server; the file goes away with it.
 *
 * @param {string} root
 * @param {Omit<Running, 'pid'>} server
 */
export function announce(root, server) {
  const file = join(folderOf(root), `${process.pid}.json`)
  try {
    mkdirSync(folderOf(root), { recursive: true })
    for (const name of readdirSync(folderOf(root)))
      if (!isAlive(Number(name.split('.')[0]))) rmSync(join(folderOf(root), name), { force: true })
    writeFileSync(file, JSON.stringify({ pid: process.pid, ...server }))
    process.on('exit', () => rmSync(file, { force: true }))
  } catch {
    // A checkout that cannot be written to: the command line is then told the port by COMMONPLACE_URL.
  }
}
