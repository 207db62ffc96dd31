// Names the repository and the project of a folder.
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gitIn } from './check/tree.mjs'
import { withoutCredentials } from './index/root.mjs'
import { fail } from './server.mjs'

/** Returns the project that `.commonplace.json` names. @param {string} top */
function configuredProject(top) {
  const file = join(top, '.commonplace.json')
  if (!existsSync(file)) return undefined
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
  const found = gitIn(folder)('rev-parse', '--show-toplevel')
  const top = realpathSync(found?.trim() || folder)
  const remote = gitIn(folder)('config', '--get', 'remote.origin.url')
  const named = remote === null ? null : readProjectName(withoutCredentials(remote.trim()))
  const isRemote = named?.kind === 'remote'
  return { from: isRemote ? named.key : top, project: configuredProject(top) ?? (isRemote ? named.key : basename(top)) }
}
