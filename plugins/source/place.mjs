// Finds the project of an event by reading `.git`, since starting git would take most of the time (capture contract §2).
import { statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { isFields, jsonIn, textOf } from './events.mjs'
import { readText } from './files.mjs'

const read = (file) => {
  try {
    return readText(file)
  } catch {
    return null
  }
}
const isFolder = (path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** @returns {{ root: string, own: string, git: string, common: string } | null} root: of a worktree the main one's */
function repositoryOf(folder) {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const git = join(at, '.git')
    if (isFolder(git)) return { root: at, own: at, git, common: git }
    const linked = /^gitdir: *(.+)$/m.exec(read(git) ?? '')?.[1]
    if (linked !== undefined) {
      const own = resolve(at, linked.trim())
      const shared = read(join(own, 'commondir'))
      const common = shared === null ? own : resolve(own, shared.trim())
      const root =
        shared === null ? at : basename(common).startsWith('.') ? dirname(common) : common.replace(/\.git$/, '')
      return { root, own: at, git: own, common }
    }
    if (dirname(at) === at) return null
  }
}

const unquoted = (text) =>
  text
    .trim()
    .replace(/^"(.*)"$/, '$1')
    .replace(/\\(["\\])/g, '$1')

/** Returns git's URL without user and password, and without anything after the path that may be a token. */
export function withoutUser(remote) {
  if (!remote.includes('://')) return remote.replace(/^[^/:]*@(?=[^/]*:)/, '')
  return remote.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, '$1').replace(/[?#].*$/s, '')
}

/** Returns `origin`, else the first remote. */
export function remoteOf(config) {
  const found = new Map()
  let name = null
  for (const line of config.split(/\r?\n/)) {
    const header = /^\s*\[\s*([\w.-]+)(?:\s+"(.*)")?\s*\]/.exec(line)
    if (header !== null) name = header[1].toLowerCase() === 'remote' ? (header[2] ?? null) : null
    const url = /^\s*url\s*=\s*(.+)$/i.exec(line)?.[1]
    if (name !== null && url !== undefined && !found.has(name)) found.set(name, withoutUser(unquoted(url)))
  }
  return found.get('origin') ?? [...found.values()][0]
}

/** The server accepts 240 characters; a longer name must not fill a request. */
const LONGEST_NAME = 999

const RECALLS = ['all', 'start', 'off']

/** Returns the content of a settings file; `{}` if there is none, undefined if it cannot be read. */
function wishesIn(folder) {
  try {
    return readText(join(folder, '.commonplace.json'))
  } catch (error) {
    return ['ENOENT', 'ENOTDIR'].includes(error.code) ? null : ''
  }
}

/** Reads `.commonplace.json`; an unreadable file turns capture off, since it may be meant to. */
function wishesOf(folders) {
  const text = folders.map(wishesIn).find((found) => found !== null)
  if (text === undefined) return {}
  try {
    const wishes = jsonIn(text)
    if (isFields(wishes)) return wishes
  } catch {
    // Not JSON, or unreadable.
  }
  return { capture: false, isUnreadable: true }
}

/**
 * @param {Record<string, any>} event
 * @returns {{ place: Record<string, unknown>, recall: string, isUnreadable: boolean }} place as sent to the server
 */
export function placeOf(event, env, home) {
  const given =
    textOf(event, 'cwd') ??
    event.workspace_roots?.find?.((root) => typeof root === 'string') ??
    textOf(event.session, 'directory')
  const started = env.CLAUDE_PROJECT_DIR || process.cwd()
  const repository = repositoryOf(given ?? started)
  const folder = repository?.root ?? resolve(env.CLAUDE_PROJECT_DIR || given || started)
  const wishes = wishesOf(repository === null ? [folder] : [repository.own, repository.root])
  const remote = repository === null ? undefined : remoteOf(read(join(repository.common, 'config')) ?? '')
  const branch =
    repository === null ? undefined : /^ref: refs\/heads\/(.+)$/m.exec(read(join(repository.git, 'HEAD')) ?? '')?.[1]
  const place = {
    folder: folder === resolve(home) ? '/' : folder,
    ...(remote === undefined ? {} : { remote }),
    ...(branch === undefined ? {} : { branch: branch.trim() }),
    ...(textOf(wishes, 'project') === undefined ? {} : { project: wishes.project.slice(0, LONGEST_NAME) }),
    ...(wishes.audience === 'project' ? { audience: 'project' } : {}),
    ...(wishes.capture === false ? { capture: false } : {}),
  }
  return {
    place,
    own: repository?.own ?? folder,
    recall: RECALLS.includes(wishes.recall) ? wishes.recall : 'all',
    isUnreadable: wishes.isUnreadable === true,
  }
}
