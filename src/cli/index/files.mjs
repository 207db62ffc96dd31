// Which files of a folder belong to the index? What git knows or would add; without git, all but what tools make.
import { spawnSync } from 'node:child_process'
import { lstatSync, readdirSync, realpathSync } from 'node:fs'
import { join, sep } from 'node:path'

const MADE = new Set(
  'node_modules .git dist build target coverage .next .nuxt .cache .venv venv __pycache__'.split(' '),
)
/** Never sent, wherever they are and whatever git says: they hold secrets (fabric contract §11). */
const SECRET_FILE =
  /^(?:\.env.*|.*\.(?:pem|key|p12|pfx|jks|kdbx)|id_(?:rsa|dsa|ecdsa|ed25519).*|\.(?:netrc|npmrc|pypirc|pgpass|git-credentials)|credentials.*)$/i
const SECRET_FOLDER = /^\.(?:ssh|aws|gnupg)$/i

const isSecretFolder = (names) => names.some((name) => SECRET_FOLDER.test(name))

/** Whether a folder is, or lies in, one that holds secrets, whatever link leads there. */
const holdsSecrets = (folder) => isSecretFolder(realpathSync(folder).split(sep))

const isSecret = (path) => {
  const names = path.split('/')
  return SECRET_FILE.test(names.at(-1)) || isSecretFolder(names.slice(0, -1))
}

const SECRET = 'may hold secrets'

/** @typedef {{ path: string, reason: string }} Skipped */

/** Paths from git, relative to the folder, or null where there is no work tree. */
function fromGit(folder) {
  const { status, stdout } = spawnSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', '.'],
    { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 30, stdio: ['ignore', 'pipe', 'ignore'] },
  )
  return status === 0 ? [...new Set(stdout.split('\0').filter((path) => path !== ''))] : null
}

const codeOf = (error) => (error instanceof Error && 'code' in error ? String(error.code) : String(error))

/** Paths below a folder; one that cannot be read is told, with a slash behind it. */
function* walk(folder, skipped, inside = '') {
  let entries
  try {
    entries = readdirSync(join(folder, inside), { withFileTypes: true })
  } catch (error) {
    skipped.push({ path: `${inside}/`, reason: `cannot be read (${codeOf(error)})` })
    return
  }
  for (const entry of entries) {
    const path = inside === '' ? entry.name : `${inside}/${entry.name}`
    if (!entry.isDirectory()) yield path
    else if (!MADE.has(entry.name)) yield* walk(folder, skipped, path)
  }
}

/** Whether a name in a path is one of those that tools make, for a watcher that hears of everything. */
export const isMade = (path) => path.split(/[/\\]/).some((name) => MADE.has(name))

/** Why a path is no file that is sent; null when it is one, undefined when there is nothing. */
function flawOf(folder, path) {
  if (isSecret(path)) return SECRET
  try {
    const stat = lstatSync(join(folder, path))
    if (stat.isSymbolicLink()) return 'a link'
    return stat.isFile() ? null : 'no file'
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? undefined : `cannot be read (${codeOf(error)})`
  }
}

/**
 * @param {string} folder
 * @returns {{ files: string[], skipped: Skipped[] }} paths relative to it, with `/`, in order
 */
export function listFiles(folder) {
  /** @type {Skipped[]} */
  const skipped = []
  const files = []
  const areAllSecret = holdsSecrets(folder)
  for (const path of fromGit(folder) ?? walk(folder, skipped)) {
    const flaw = areAllSecret ? SECRET : flawOf(folder, path)
    if (flaw === null) files.push(path)
    else if (flaw !== undefined) skipped.push({ path, reason: flaw })
  }
  return { files: files.sort(), skipped }
}
