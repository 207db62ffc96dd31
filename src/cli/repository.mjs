// Names the repository and the project of a folder.
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gitIn, topOf } from './git.mjs'
import { withoutCredentials } from './index/root.mjs'
import { fail } from './server.mjs'

/** Returns the project that `.commonplace.json` names. @param {string} top */
function configuredProject(top) {
  const file = join(top, '.commonplace.json')
  if (!existsSync(file)) return undefined
  // A link to a device has no end.
  if (!statSync(file).isFile()) fail(`${file} is not a file`)
  try {
    const { project } = JSON.parse(readFileSync(file, 'utf8'))
    return typeof project === 'string' && project.trim() !== '' ? project : undefined
  } catch {
    return fail(`${file} is not valid JSON`)
  }
}

/**
 * Names the repository as hooks do: `.commonplace.json`, else the remote, else the folder.
 *
 * @param {string} folder @param {Pick<typeof import('./check/library'), 'readProjectName'>} library
 */
export function namesOf(folder, { readProjectName }) {
  const top = topOf(folder) ?? realpathSync(folder)
  const remote = gitIn(folder)('config', '--get', 'remote.origin.url')
  const named = remote === null ? null : readProjectName(withoutCredentials(remote.trim()))
  const isRemote = named?.kind === 'remote'
  return { from: isRemote ? named.key : top, project: configuredProject(top) ?? (isRemote ? named.key : basename(top)) }
}
