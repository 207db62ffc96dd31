// Which files of a folder belong to the index? What git knows or would add; without git, all but what tools make.
import { spawnSync } from 'node:child_process'
import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const MADE = new Set(
  'node_modules .git dist build target coverage .next .nuxt .cache .venv venv __pycache__'.split(' '),
)
/** Never sent, wherever they are and whatever git says: they hold secrets. */
const SECRET = /^(?:\.env.*|.*\.pem|.*\.key|id_rsa.*)$/i

const isAllowed = (path) => !SECRET.test(path.split('/').at(-1) ?? '')

/** Paths from git, or null where there is no work tree. */
function fromGit(folder) {
  const { status, stdout } = spawnSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', '.'],
    {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 2 ** 30,
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  )
  return status === 0 ? [...new Set(stdout.split('\0').filter((path) => path !== ''))] : null
}

function* walk(folder, inside = '') {
  for (const entry of readdirSync(join(folder, inside), { withFileTypes: true })) {
    const path = inside === '' ? entry.name : `${inside}/${entry.name}`
    if (entry.isDirectory()) {
      if (!MADE.has(entry.name)) yield* walk(folder, path)
    } else if (entry.isFile()) yield path
  }
}

/** Whether a name in a path is one of those that tools make, for a watcher that hears of everything. */
export const isMade = (path) => path.split(/[/\\]/).some((name) => MADE.has(name))

const isFile = (folder, path) => {
  try {
    return lstatSync(join(folder, path)).isFile()
  } catch {
    return false
  }
}

/**
 * @param {string} folder
 * @returns {string[]} paths relative to it, with `/`, in order
 */
export function listFiles(folder) {
  const paths = fromGit(folder) ?? [...walk(folder)]
  return paths.filter((path) => isAllowed(path) && isFile(folder, path)).sort()
}
