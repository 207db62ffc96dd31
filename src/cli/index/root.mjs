// Finds the root that paths of a folder's files start from: the top of its git work tree, named by its origin; else the folder.
import { realpathSync } from 'node:fs'
import { basename, relative, resolve, sep } from 'node:path'
import { gitIn, topOf } from '../git.mjs'

/** Removes user and password from a git URL: `https://u:p@host/a.git` and `git@host:a.git` alike. */
export const withoutCredentials = (url) =>
  /^[a-z][a-z\d+.-]*:\/\//i.test(url)
    ? url.replace(/^([a-z][a-z\d+.-]*:\/\/)[^/]*@/i, '$1')
    : url.replace(/^[^/@]*@(?=[^/]*:)/, '')

/**
 * @param {string} folder an existing one
 * @param {string | undefined} given `--root`
 * @returns {{ root: string, inside: string }} the name of the root, and the path of the folder in it, with a trailing slash, or empty
 */
export function rootOf(folder, given) {
  const top = topOf(folder)
  if (top === null) return { root: given ?? basename(resolve(folder)), inside: '' }
  const place = relative(top, realpathSync(folder)).split(sep).join('/')
  const origin = gitIn(folder)('config', '--get', 'remote.origin.url')?.trim() || null
  return {
    root: given ?? (origin === null ? basename(top) : withoutCredentials(origin)),
    inside: place === '' ? '' : `${place}/`,
  }
}
