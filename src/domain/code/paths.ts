import { invalidInput } from '../errors'
import { normalizeProject } from '../identity/project'
import { codePointLength, unstorable, utf8Length } from '../text'

/** Which files the index takes, and how it names them (fabric contract §9). */
export const MAX_FILE_BYTES = 1_048_576
export const MAX_FILES = 200
export const MAX_CALL_BYTES = 20 * 1_048_576
export const MAX_PROJECT_FILES = 10_000
const MAX_PATH = 1024
/** UTF-8 bytes of a root, which stands in an index. */
const MAX_ROOT = 500
/** A NUL in the first bytes tells a binary file. */
const BINARY_BYTES = 8192

/** Where paths of a call count from; empty for none. @throws Problem invalid_input */
export function checkRoot(given: string): string {
  const root = given.trim()
  const flaw = unstorable(root)
  if (flaw !== null) throw invalidInput(`root ${flaw}`)
  if (utf8Length(root) > MAX_ROOT) throw invalidInput(`root has more than ${MAX_ROOT} bytes`)
  return root
}

type NormalPath = { readonly path: string } | { readonly reason: string }

const slashed = (path: string): string => path.replaceAll('\\', '/')

/**
 * A path as the index knows it: relative, with `/`.
 *
 * @param project its key; where it is a path itself, it is cut off
 */
export function normalizePath(given: string, project: string): NormalPath {
  const flaw = unstorable(given)
  if (flaw !== null) return { reason: `the path ${flaw}` }
  let path = slashed(given.trim().replace(/^file:\/\//, ''))
  // A key that is nothing but a slash keeps it.
  const key = slashed(normalizeProject(project) ?? project)
  const root = key.endsWith('/') ? key : `${key}/`
  if (root !== '/' && path.startsWith(root)) path = path.slice(root.length)
  if (path.startsWith('/') || /^[A-Za-z]:\//.test(path))
    return { reason: 'the path is not inside the project; send it relative to its root' }
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.includes('..')) return { reason: 'the path holds ".."' }
  if (parts.length === 0) return { reason: 'the path is empty' }
  path = parts.join('/')
  if (codePointLength(path) > MAX_PATH) return { reason: `the path has more than ${MAX_PATH} characters` }
  return { path }
}

/** Why a content is not indexed, or null. */
export function contentFlaw(content: string): string | null {
  const nul = content.indexOf('\u0000')
  if (nul >= 0 && utf8Length(content.slice(0, nul)) < BINARY_BYTES) return 'binary'
  if (utf8Length(content) > MAX_FILE_BYTES) return `larger than ${MAX_FILE_BYTES} bytes`
  const flaw = unstorable(content)
  return flaw === null ? null : `the content ${flaw}`
}
