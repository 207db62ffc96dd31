import { normalizeProject } from '../identity/project'
import { redact } from '../recall/secrets'
import { firstCodePoints, unstorable } from '../text'
import { textOf } from './fields'
import type { Fields } from './happening'

/** Where an event happened (capture contract §3). */
export interface Place {
  /** Null where neither a file, nor a remote, nor a folder names one. */
  readonly project: string | null
  readonly branch: string | null
  readonly audience: 'private' | 'project'
  /** Whether anything of it is kept. */
  readonly captures: boolean
}

/** As of every project's key (platform contract §1). */
const MOST_PROJECT = 240
const MOST_BRANCH = 200

/** A remote that leads over a network; paths and `file:` are none. */
const WITH_SCHEME = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/@]*@)*([^/:]+|\[[^\]]+\])(?::\d*)?\/(.+)$/i
/** `git@github.com:acme/ferry.git`. A drive letter is no host. */
const AS_SCP = /^(?:[^/:@]+@)?([^/:]{2,}):(?!\/\/)\/?(.+)$/

/** `github.com/acme/ferry`; null where the remote is a path. */
export function projectOfRemote(remote: string): string | null {
  const given = remote.trim()
  if (/^file:/i.test(given)) return null
  const found = WITH_SCHEME.exec(given) ?? AS_SCP.exec(given)
  if (found === null) return null
  const path = (found[2] as string)
    .replace(/[?#].*$/, '')
    .replace(/\/+$/, '')
    .replace(/\.git$/i, '')
    .replace(/^\/+/, '')
  return path === '' ? null : `${found[1]}/${path}`.toLowerCase()
}

/** The folder's own name, in its case; null for none, which home and the root are. */
export function projectOfFolder(folder: string): string | null {
  const name = folder.replaceAll('\\', '/').replace(/\/+$/, '').split('/').at(-1) ?? ''
  return name === '' || name === '~' || /^[A-Za-z]:$/.test(name) ? null : name
}

function named(project: string | null): string | null {
  if (project === null || unstorable(project) !== null) return null
  const key = normalizeProject(redact(project))
  return key === null ? null : firstCodePoints(key, MOST_PROJECT)
}

/** @param place as it was sent; what is wrong in it counts as not there */
export function readPlace(place: Fields): Place {
  const [remote, folder, branch] = [textOf(place, 'remote'), textOf(place, 'folder'), textOf(place, 'branch')]
  const project =
    named(textOf(place, 'project')) ??
    named(remote === null ? null : projectOfRemote(remote)) ??
    named(folder === null ? null : projectOfFolder(folder))
  return {
    project,
    branch:
      branch === null || branch === '' || unstorable(branch) !== null
        ? null
        : firstCodePoints(redact(branch), MOST_BRANCH),
    audience: place.audience === 'project' ? 'project' : 'private',
    captures: place.capture !== false,
  }
}
