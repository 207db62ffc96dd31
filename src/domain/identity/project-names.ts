import { normalizeProject } from './project'
import type { ProjectName } from './project-attachment'

/** Longer remotes are ignored. */
const MOST_REMOTE = 1_000

/** Hosts that serve the repositories of another host on a different port. */
const SAME_HOST: Readonly<Record<string, string>> = {
  'ssh.github.com': 'github.com',
  'altssh.gitlab.com': 'gitlab.com',
  'altssh.bitbucket.org': 'bitbucket.org',
}

function decoded(path: string): string {
  try {
    const text = decodeURIComponent(path)
    // Characters with a meaning in URLs stay encoded, so that decoding twice gives the same result.
    return /[?#%\\\s]/.test(text) ? path : text
  } catch {
    return path
  }
}

/** `github.com/acme/ferry` from a host and a path; null for an empty path. */
function remoteForm(host: string, path: string): string | null {
  // A query may contain a token.
  const parts = path
    .slice(0, path.search(/[?#]/) < 0 ? path.length : path.search(/[?#]/))
    .split('/')
    .filter((part) => part !== '')
  const repository = parts.join('/').replace(/\.git$/i, '')
  if (repository === '') return null
  const name = host.toLowerCase().replace(/^www\./, '')
  return `${SAME_HOST[name] ?? name}/${repository}`.normalize('NFC').toLowerCase()
}

/** Host and path of a remote with a scheme; null for a file. */
function ofUrl(remote: string): string | null {
  const url = URL.parse(remote)
  if (url === null || url.protocol === 'file:' || url.hostname === '') return null
  return remoteForm(url.hostname, decoded(url.pathname))
}

/** `git@github.com:acme/ferry.git`; null for a path. A drive letter is not a host. */
function ofScp(remote: string): string | null {
  const colon = remote.indexOf(':')
  const host = remote.slice(remote.lastIndexOf('@', colon) + 1, colon)
  return colon < 0 || host.length < 2 || host.includes('/') ? null : remoteForm(host, remote.slice(colon + 1))
}

/** The normal form of a git remote; null for a path. */
export function remoteOf(remote: string): string | null {
  const given = remote.trim()
  if (given.length > MOST_REMOTE) return null
  return given.includes('://') ? ofUrl(given) : ofScp(given)
}

const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i
/** Requires a user, or a host with a dot: other names may contain a colon too. */
const SCP = /^(?:[^\s@/:\\]+@[a-z0-9._-]+|[a-z0-9-]+(?:\.[a-z0-9-]+)+):(?!\d+\/)[^\s:]*\S$/i
const BARE = /^(?:[^\s@/]*@)?([a-z0-9-]+(?:\.[a-z0-9-]+)+)(?::\d{1,5})?\/([^?#]+)/i

/** A name that has the form of a remote. Stricter than `remoteOf`, because the name may be something else. */
function remoteNamed(name: string): string | null {
  if (name.length > MOST_REMOTE) return null
  if (SCHEME.test(name)) return ofUrl(name)
  if (SCP.test(name)) return ofScp(name)
  const [, host, path] = BARE.exec(name) ?? []
  return host === undefined || path === undefined ? null : remoteForm(host, path)
}

/** `/home/ada/src/ferry`, `~/ferry`, `C:\src\ferry`, `\\server\src\ferry`, `file:///home/ada/ferry`. */
const ABSOLUTE = /^(?:\/|~(?:\/|$)|[a-z]:(?:\/|$))/i

/** An absolute folder with `/` between its parts; null for a name that is not one. */
function folderForm(name: string): string | null {
  const url = /^file:/i.test(name) ? URL.parse(name) : null
  const path = (url === null ? name : decoded(url.pathname).replace(/^\/(?=[a-z]:)/i, '')).replaceAll('\\', '/')
  if (!ABSOLUTE.test(path)) return null
  const isShare = path.startsWith('//')
  const parts: string[] = []
  for (const part of path.split('/').filter((one) => one !== '' && one !== '.'))
    if (part !== '..') parts.push(part)
    else if (parts.length > 0) parts.pop()
  const joined = parts.join('/')
  const start = isShare ? '//' : path.startsWith('/') ? '/' : ''
  return `${start}${joined}`.normalize('NFC').toLowerCase()
}

const lastOf = (normal: string): string => {
  const last = normal.slice(normal.lastIndexOf('/') + 1)
  return last === '~' || /^[a-z]:$/.test(last) ? '' : last
}

/**
 * Parses a project name as a caller sent it.
 * @returns null for a blank name
 * @example readProjectName('git@github.com:acme/ferry.git')?.normal // 'github.com/acme/ferry'
 */
export function readProjectName(given: string): ProjectName | null {
  const name = normalizeProject(given)
  const read = name === null ? null : readNormalized(name)
  if (read === null) return null
  // Removing a part can leave white space or a slash at the end, so this repeats until nothing changes.
  for (let last = read; ; ) {
    const normal = normalizeProject(last.normal) ?? last.normal
    if (normal === last.normal) return { ...last, key: read.key }
    last = readNormalized(normal)
  }
}

/** A user with a password at the start of an address. Other forms of remotes lose credentials when they are parsed. */
const CREDENTIALS = /^([a-z][a-z0-9+.-]{0,20}:)?\/\/[^/@:]*:[^/]*@|^[^\s/@:]+:[^\s/]+@(?=[^/]+\/)/i

function readNormalized(given: string): ProjectName {
  const name = given.replace(CREDENTIALS, (found, scheme = '') => (found.includes('//') ? `${scheme}//` : ''))
  const remote = remoteNamed(name)
  if (remote !== null) return { kind: 'remote', normal: remote, segment: lastOf(remote), key: remote }
  const folder = folderForm(name)
  if (folder !== null) return { kind: 'folder', normal: folder, segment: lastOf(folder), key: name }
  const normal = name.replaceAll('\\', '/').normalize('NFC').toLowerCase()
  return { kind: normal.includes('/') ? 'other' : 'short', normal, segment: lastOf(normal), key: name }
}

/**
 * The last segment of a folder, in its case: the key of a project that a hook names by folder. Null for home and root.
 */
export function folderName(folder: string): string | null {
  const name =
    folder
      .replaceAll('\\', '/')
      .split('/')
      .findLast((part) => part !== '') ?? ''
  return name === '' || name === '~' || /^[A-Za-z]:$/.test(name) ? null : name
}
