import { MAX_TEXT_BYTES } from '../domain/entry/draft'
import { MAX_STRING } from '../domain/json/parser'

/**
 * Whether a string of a request is the base64 of an image, by where it stands: `images[].data` of a call, or of an item of
 * a batch. The same names inside metadata are metadata.
 */
export function isImageData(path: readonly (string | number)[]): boolean {
  // Requests of revision 2025-03-26 may stand in a list.
  const [params, args, ...rest] = typeof path[0] === 'number' ? path.slice(1) : path
  if (params !== 'params' || args !== 'arguments') return false
  const [images, index, data, ...more] = rest[0] === 'entries' || rest[0] === 'updates' ? rest.slice(2) : rest
  return images === 'images' && typeof index === 'number' && data === 'data' && more.length === 0
}

/** Members and items that the arguments of one request may have, at every depth (platform contract §6). */
export const MAX_MEMBERS = 50_000

/** Whether an object or list is the arguments of a call, by its place in the request. */
export function isArguments(path: readonly (string | number)[]): boolean {
  const [params, args, ...more] = typeof path[0] === 'number' ? path.slice(1) : path
  return params === 'params' && args === 'arguments' && more.length === 0
}

/** Members that hold the text of an entry, in all families. */
const TEXTS: ReadonlySet<string> = new Set(['text', 'content'])

/** Whether a member of this name holds the text of an entry. */
export const isText = (name: string): boolean => TEXTS.has(name)

/**
 * How long the string of a member may be to be held while a request is read, in UTF-16 units: twice the longest text, since
 * white space around it does not count; what else a string may be is shorter than a list that is sent as one.
 */
export const longestString = (name: string): number => (isText(name) ? 2 * MAX_TEXT_BYTES : MAX_STRING)
