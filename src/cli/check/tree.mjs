// The files that citations are compared with: a folder and its git history.
import { readFileSync, realpathSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { gitIn } from '../git.mjs'

/** Larger files are generated, or hold no text. */
const MOST_BYTES = 4_000_000
/** Commits of a path that are read to find where its lines went. */
const COMMITS_OF_PATH = 5
/** Files of these commits that are compared. */
const MOST_FILES = 30

/**
 * A file that may hold lines of another one.
 *
 * @typedef {{ path: string, before: string | null }} Successor before: a commit whose version of the file did not have the lines if they
 *   were moved there; null for a renamed file
 */

/**
 * Files of one state of a repository.
 *
 * @typedef {{
 *   textOf: (path: string) => string | null,
 *   textAt: (commit: string, path: string) => string | null,
 *   successors: (path: string) => Successor[],
 *   changedAt: (path: string) => string,
 * }} Tree
 *   textOf: null unless the path is a text file; textAt: the file as it was in a commit; successors: files that may hold lines which
 *   this path had, the most probable first; changedAt: the date of the last change of a path
 */

const isText = (text) => !text.slice(0, 8_000).includes('\0')

/**
 * Finds where lines of a path may have gone: renames of it, then files of the same type that the same commits changed.
 *
 * @param {(...args: string[]) => string | null} git @param {string} path @param {string} at the commit to look back from
 * @returns {Successor[]} the most probable first
 */
export function successorsOf(git, path, at) {
  const log = git(
    ...['log', '--full-diff', '--find-renames', '--name-status', '--format=%H', '-m', '--first-parent'],
    ...[`-${COMMITS_OF_PATH}`, at, '--', path],
  )
  const commits = (log ?? '').split(/^([0-9a-f]{40,64})$/m).slice(1)
  const renamed = []
  const others = new Map()
  for (let i = 0; i < commits.length; i += 2)
    for (const [kind = '', from = '', to = from] of (commits[i + 1] ?? '').split('\n').map((row) => row.split('\t'))) {
      if (kind.startsWith('R') && from === path) renamed.push(to)
      else if (/^[AMRC]/.test(kind) && to !== path && extensionOf(to) === extensionOf(path) && !others.has(to))
        others.set(to, `${commits[i]}^`)
    }
  return [
    ...renamed.map((to) => ({ path: to, before: null })),
    ...[...others].map(([to, before]) => ({ path: to, before })),
  ].slice(0, MOST_FILES)
}

const extensionOf = (path) => /\.[^./]+$/.exec(path)?.[0] ?? ''

const today = () => new Date().toISOString().slice(0, 10)

/**
 * The working tree of a folder, without files that a link outside of it leads to. Without git it has no history, so that only moves inside a file are found.
 *
 * @param {string} root
 * @returns {Tree}
 */
export function workingTree(root) {
  const git = gitIn(root)
  const inside = realpathSync(root).replace(/[/\\]?$/, sep)
  /** @type {Set<string> | undefined} */
  let paths
  const changed = () => {
    paths ??= new Set(
      (git('status', '--porcelain', '-z', '--untracked-files=all', '--no-renames', '--ignore-submodules=all') ?? '')
        .split('\0')
        .map((row) => row.slice(3)),
    )
    return paths
  }
  return {
    textOf(path) {
      try {
        const file = realpathSync(join(root, path))
        // A link of the repository must not lead to a file that is not in it.
        if (!file.startsWith(inside) || !statSync(file).isFile() || statSync(file).size > MOST_BYTES) return null
        const text = readFileSync(file, 'utf8')
        return isText(text) ? text : null
      } catch {
        return null
      }
    },
    textAt: (commit, path) => git('show', `${commit}:${path}`),
    successors(path) {
      const others = [...changed()].filter((other) => other !== path && extensionOf(other) === extensionOf(path))
      const uncommitted = others.slice(0, MOST_FILES).map((other) => ({ path: other, before: 'HEAD' }))
      return [...uncommitted, ...successorsOf(git, path, 'HEAD')]
    },
    changedAt(path) {
      if (changed().has(path)) return today()
      return git('log', '-1', '--format=%cs', '--', path)?.trim() || today()
    },
  }
}

/**
 * The files of the last commit of a repository.
 *
 * @param {string} root the top of its work tree
 * @returns {Tree}
 */
export function committedTree(root) {
  const git = gitIn(root)
  return {
    textOf(path) {
      const text = git('show', `HEAD:${path}`)
      return text !== null && text.length <= MOST_BYTES && isText(text) ? text : null
    },
    textAt: (commit, path) => git('show', `${commit}:${path}`),
    successors: (path) => successorsOf(git, path, 'HEAD'),
    changedAt: (path) => git('log', '-1', '--format=%cs', 'HEAD', '--', path)?.trim() || today(),
  }
}
