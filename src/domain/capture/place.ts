import { normalizeProject } from '../identity/project'
import { redact } from '../secrets/redact'
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

/** Longer remotes are none. */
const LONGEST_REMOTE = 1_000

/** Host and path of a remote with a scheme; null for a file. */
function ofUrl(remote: string): readonly [host: string, path: string] | null {
  const url = URL.parse(remote)
  return url === null || url.protocol === 'file:' || url.hostname === '' ? null : [url.hostname, url.pathname]
}

/** The same of `git@github.com:acme/ferry.git`; null for a path. The letter of a drive is no host. */
function ofScp(remote: string): readonly [host: string, path: string] | null {
  const colon = remote.indexOf(':')
  const host = remote.slice(remote.lastIndexOf('@', colon) + 1, colon)
  return colon < 0 || host.length < 2 || host.includes('/') ? null : [host, remote.slice(colon + 1)]
}

/** `github.com/acme/ferry`; null where the remote is a path. */
export function projectOfRemote(remote: string): string | null {
  const given = remote.trim()
  const found = given.length > LONGEST_REMOTE ? null : given.includes('://') ? ofUrl(given) : ofScp(given)
  if (found === null) return null
  const parts = found[1].split('/').filter((part) => part !== '')
  const path = parts.join('/').replace(/\.git$/i, '')
  return path === '' ? null : `${found[0]}/${path}`.toLowerCase()
}

/** The folder's own name, in its case; null for none, which home and the root are. */
export function projectOfFolder(folder: string): string | null {
  const name =
    folder
      .replaceAll('\\', '/')
      .split('/')
      .findLast((part) => part !== '') ?? ''
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
