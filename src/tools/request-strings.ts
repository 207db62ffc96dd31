import { MAX_TEXT_BYTES } from '../domain/entry/draft'
import { MAX_STRING } from '../domain/json/parser'

/**
 * Reports whether a string of a request is the base64 of an image, by its path: `images[].data` of a call or of an item of a
 * batch.
 *
 * The same names inside metadata are metadata.
 */
export function isImageData(path: readonly (string | number)[]): boolean {
  // Requests of revision 2025-03-26 may be in a list.
  const [params, args, ...rest] = typeof path[0] === 'number' ? path.slice(1) : path
  if (params !== 'params' || args !== 'arguments') return false
  const [images, index, data, ...more] = rest[0] === 'entries' || rest[0] === 'updates' ? rest.slice(2) : rest
  return images === 'images' && typeof index === 'number' && data === 'data' && more.length === 0
}

/** Maximum members and items of the arguments of one request, at every depth (platform contract §6). */
export const MAX_MEMBERS = 50_000

/** Reports whether an object or list is the arguments of a call, by its path in the request. */
export function isArguments(path: readonly (string | number)[]): boolean {
  const [params, args, ...more] = typeof path[0] === 'number' ? path.slice(1) : path
  return params === 'params' && args === 'arguments' && more.length === 0
}

/** Members that contain the text of an entry, in all families. */
const TEXTS: ReadonlySet<string> = new Set(['text', 'content'])

export const isText = (name: string): boolean => TEXTS.has(name)

/**
 * Maximum length of a member's string while a request is read, in UTF-16 units.
 *
 * It is twice the longest text, because white space around a text does not count.
 */
export const longestString = (name: string): number => (isText(name) ? 2 * MAX_TEXT_BYTES : MAX_STRING)
