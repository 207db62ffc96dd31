// Does this program stand in a checkout, or in a package that npm installed? That decides where it keeps things, what it is called, and
// whether what the Worker is made of has to be built first or was built when the package was packed (scripts/package.mjs).
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Of the checkout or the package, without a separator at its end. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url).href).replace(/[\\/]$/, '')

/** A package holds no sources of the Worker. */
export const isPackaged = !existsSync(join(ROOT, 'src', 'index.ts'))

/** What was built for the package. */
export const BUILT = join(ROOT, 'dist')

/** What npm knows the package by. @type {{ name: string, version: string }} */
export const { name: PACKAGE, version: VERSION } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

/**
 * Where programs of a user keep data: by the XDG Base Directory Specification, Apple's File System Programming Guide and Microsoft's
 * known folders.
 *
 * @param {Record<string, string | undefined>} env
 * @param {NodeJS.Platform} platform
 * @param {string} home
 */
export function userDataFolder(env = process.env, platform = process.platform, home = homedir()) {
  if (env.COMMONPLACE_DATA) return env.COMMONPLACE_DATA
  if (platform === 'win32') return join(env.LOCALAPPDATA || join(home, 'AppData', 'Local'), 'commonplace')
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'commonplace')
  return join(env.XDG_DATA_HOME || join(home, '.local', 'share'), 'commonplace')
}

/** What servers leave behind: their data, and which of them run. In a checkout, where git does not look. */
export const WORK = isPackaged ? userDataFolder() : join(ROOT, '.wrangler')

/** The data of the server that is started without --persist-to. */
export const STATE = join(WORK, 'state')

/** What a person types: the server, the server with arguments, a command. */
export const TYPED = isPackaged
  ? { start: `npx ${PACKAGE}`, startWith: `npx ${PACKAGE}`, command: `npx ${PACKAGE}` }
  : { start: 'npm start', startWith: 'npm start --', command: 'npm run commonplace --' }
