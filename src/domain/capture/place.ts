import { normalizeProject } from '../identity/project'
import { folderName, readProjectName, remoteOf } from '../identity/project-names'
import type { NamedPlace } from '../identity/project-resolution'
import { redact } from '../secrets/redact'
import { firstCodePoints, unstorable } from '../text'
import { textOf } from './fields'
import type { Fields } from './happening'

/** Where an event happened (capture contract §3). */
export interface Place {
  /** Null where neither a file, nor a remote, nor a folder names one. */
  readonly project: string | null
  /** Every name of the place; absent once its project is known. */
  readonly named?: NamedPlace
  readonly branch: string | null
  readonly audience: 'private' | 'project'
  /** Whether anything of it is kept. */
  readonly captures: boolean
}

/** As of every project's key (platform contract §1). */
const MOST_PROJECT = 240
const MOST_BRANCH = 200

function named(project: string | null): string | null {
  if (project === null || unstorable(project) !== null) return null
  const key = normalizeProject(redact(project))
  return key === null ? null : firstCodePoints(key, MOST_PROJECT)
}

/** An absolute folder that may be a name of a project; null for home, the root, and what holds a secret. */
function absolute(folder: string | null): string | null {
  const name = folder === null ? null : named(folder)
  const read = name === null || name !== normalizeProject(folder ?? '') ? null : readProjectName(name)
  return read?.kind === 'folder' && read.segment !== '' ? name : null
}

/** @param place as it was sent; what is wrong in it counts as not there */
export function readPlace(place: Fields): Place {
  const [given, folder, branch] = [textOf(place, 'remote'), textOf(place, 'folder'), textOf(place, 'branch')]
  const called = named(textOf(place, 'project'))
  const remote = named(given === null ? null : remoteOf(given))
  const last = named(folder === null ? null : folderName(folder))
  const path = absolute(folder)
  return {
    project: called ?? remote ?? last,
    // A folder that is not absolute is a name by its last part alone.
    named: { project: called ?? (remote === null && path === null ? last : null), remote, folder: path },
    branch:
      branch === null || branch === '' || unstorable(branch) !== null
        ? null
        : firstCodePoints(redact(branch), MOST_BRANCH),
    audience: place.audience === 'project' ? 'project' : 'private',
    captures: place.capture !== false,
  }
}
