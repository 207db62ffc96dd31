// Lists the files of a folder that belong in the index: files that git tracks or would add; without git, all but generated ones.
import { lstatSync, readdirSync, realpathSync } from 'node:fs'
import { join, sep } from 'node:path'
import { gitIn } from '../git.mjs'

const MADE = new Set(
  'node_modules .git dist build target coverage .next .nuxt .cache .venv venv __pycache__'.split(' '),
)
/** Never sent, even if git tracks them: they may contain secrets (fabric contract §11). */
const SECRET_FILE =
  /^(?:\.env.*|.*\.(?:pem|key|p12|pfx|jks|kdbx)|id_(?:rsa|dsa|ecdsa|ed25519).*|\.(?:netrc|npmrc|pypirc|pgpass|git-credentials)|credentials.*)$/i
const SECRET_FOLDER = /^\.(?:ssh|aws|gnupg)$/i

const isSecretFolder = (names) => names.some((name) => SECRET_FOLDER.test(name))

/** Returns whether a folder is, or lies in, one with secrets, also through links. */
const holdsSecrets = (folder) => isSecretFolder(realpathSync(folder).split(sep))

const isSecret = (path) => {
  const names = path.split('/')
  return SECRET_FILE.test(names.at(-1)) || isSecretFolder(names.slice(0, -1))
}

const SECRET = 'may contain secrets'

/** @typedef {{ path: string, reason: string }} Skipped */

/** Returns paths from git, relative to the folder, or null without a work tree. */
function fromGit(folder) {
  const listed = gitIn(folder)('ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', '.')
  return listed === null ? null : [...new Set(listed.split('\0').filter((path) => path !== ''))]
}

const codeOf = (error) => (error instanceof Error && 'code' in error ? String(error.code) : String(error))

/** Returns paths below a folder; an unreadable folder is reported with a trailing slash. */
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

/** Returns whether a path contains a generated folder, for the watcher. */
export const isMade = (path) => path.split(/[/\\]/).some((name) => MADE.has(name))

/** Returns why a path is not sent; null if it is, undefined if it does not exist. */
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
 * @returns {{ files: string[], skipped: Skipped[] }} sorted paths relative to it, with `/`
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
