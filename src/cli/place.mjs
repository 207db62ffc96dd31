// Detects whether this program runs from a checkout or from an installed npm package. That decides where data is stored, the command's
// name, and whether the Worker must be built first or was built when the package was packed (scripts/package.mjs).
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Root of the checkout or the package, without a trailing separator. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url).href).replace(/[\\/]$/, '')

/** A package does not contain the sources of the Worker. */
export const isPackaged = !existsSync(join(ROOT, 'src', 'index.ts'))

/** Built files of the package. */
export const BUILT = join(ROOT, 'dist')

const MANIFEST = join(ROOT, 'package.json')

/** Name and version in npm. The extension of Claude Desktop is one file without a package. @type {{ name: string, version: string }} */
export const { name: PACKAGE, version: VERSION } = existsSync(MANIFEST)
  ? JSON.parse(readFileSync(MANIFEST, 'utf8'))
  : { name: 'commonplace', version: '' }

/**
 * Returns where programs of a user store data: by the XDG Base Directory Specification, Apple's File System Programming Guide and Microsoft's
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

/** Folder of servers' data, and of the records of running servers. In a checkout, one that git ignores. */
export const WORK = isPackaged ? userDataFolder() : join(ROOT, '.wrangler')

/** Data of the server that is started without --persist-to. */
export const STATE = join(WORK, 'state')

/**
 * Returns the commands a person types, in the form in which this program was started.
 *
 * @param {{ env?: Record<string, string | undefined>, program?: string | undefined, packaged?: boolean }} started program: the path that
 *   was run, before links are resolved
 * @returns {{ start: string, startWith: string, command: string }} the server, the server with arguments, a command
 */
export function typedAs({ env = process.env, program = process.argv[1], packaged = isPackaged } = {}) {
  // A server process repeats the form of the program that started it.
  if (env.COMMONPLACE_TYPED) return JSON.parse(env.COMMONPLACE_TYPED)
  const [name = ''] = (program ?? '').split(/[\\/]/).slice(-1)
  const viaNpx = packaged && (/[\\/]_npx[\\/]/.test(program ?? '') || env.npm_command === 'exec')
  const own = viaNpx ? undefined : /^(commonplace(?:-mcp)?)(\.cmd|\.ps1)?$/.exec(name)?.[1]
  if (own !== undefined) return { start: `${own} start`, startWith: `${own} start`, command: own }
  const npx = `npx ${PACKAGE}`
  return packaged
    ? { start: npx, startWith: npx, command: npx }
    : { start: 'npm start', startWith: 'npm start --', command: 'npm run -s commonplace --' }
}

export const TYPED = typedAs()
