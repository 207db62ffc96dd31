// Runs git in a repository that a stranger may have made: neither its configuration nor its files make git run another program.
import { spawnSync } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

const OUTPUT_BYTES = 2 ** 30

/** Settings that beat those of the repository. Each of them names a program there, or lets git find a repository that is a folder of files. */
const SETTINGS = {
  'core.fsmonitor': 'false',
  'core.hooksPath': '/dev/null',
  'core.quotepath': 'off',
  'log.showSignature': 'false',
  'safe.bareRepository': 'explicit',
}

/** Lets git neither fetch missing objects nor ask for a password: a remote may name a program too. */
const ENVIRONMENT = { GIT_ALLOW_PROTOCOL: 'none', GIT_NO_LAZY_FETCH: '1', GIT_TERMINAL_PROMPT: '0' }

/**
 * Returns the top of a work tree: the closest folder with `.git`. Git itself would accept any folder that the repository's `core.worktree`
 * names, such as the home folder of the user.
 *
 * @param {string} folder an existing one @returns {string | null} null without a repository
 */
export function topOf(folder) {
  for (let at = realpathSync(folder); ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at
    if (dirname(at) === at) return null
  }
}

/** @param {string} folder @param {readonly string[]} args @param {Record<string, string>} settings */
function run(folder, args, settings) {
  const top = topOf(folder)
  const given = Object.entries(settings).flatMap(([name, value], i) => [
    [`GIT_CONFIG_KEY_${i}`, name],
    [`GIT_CONFIG_VALUE_${i}`, value],
  ])
  const env = {
    ...process.env,
    ...ENVIRONMENT,
    ...(top === null ? {} : { GIT_WORK_TREE: top }),
    ...{ GIT_CONFIG_COUNT: String(given.length / 2), ...Object.fromEntries(given) },
  }
  return spawnSync('git', ['--no-pager', '--no-optional-locks', '--literal-pathspecs', ...args], {
    ...{ cwd: folder, encoding: 'utf8', maxBuffer: OUTPUT_BYTES, env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** Settings of each folder that switch its filters off: programs that git runs to compare a file with its object. @type {Map<string, Record<string, string>>} */
const filters = new Map()

/** @param {string} folder */
function withoutFilters(folder) {
  const known = filters.get(folder)
  if (known !== undefined) return known
  const { stdout } = run(folder, ['config', '-z', '--name-only', '--get-regexp', '^filter\\.'], SETTINGS)
  const names = new Set((stdout ?? '').split('\0').flatMap((key) => /^(filter\..*)\.[^.]+$/s.exec(key)?.[1] ?? []))
  const settings = Object.fromEntries(
    [...names].flatMap((name) => [
      [`${name}.clean`, ''],
      [`${name}.process`, ''],
      [`${name}.required`, 'false'],
    ]),
  )
  filters.set(folder, settings)
  return settings
}

/**
 * Runs git in a folder.
 *
 * @param {string} folder @param {readonly string[]} args
 * @returns {{ text: string } | { problem: string }} its output, or what it reports
 */
export function runGit(folder, args) {
  const { status, stdout, stderr, error } = run(folder, args, { ...SETTINGS, ...withoutFilters(folder) })
  return status === 0 ? { text: stdout } : { problem: (stderr || error?.message || '').trim() }
}

/** @param {string} folder @returns {(...args: string[]) => string | null} git's output; null where it fails */
export const gitIn =
  (folder) =>
  (...args) => {
    const result = runGit(folder, args)
    return 'text' in result ? result.text : null
  }
