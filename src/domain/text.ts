/**
 * Measures, compares and shortens text. Lengths and positions are Unicode code points, sizes are UTF-8 bytes, order is
 * by UTF-8 bytes (as both databases sort), and white space is one fixed list (threads contract §1, §12).
 */

// String.prototype.trim misses U+0085 and U+001C–1F.
const WHITE_SPACE =
  '[\\u0009-\\u000D\\u001C-\\u0020\\u0085\\u00A0\\u1680\\u2000-\\u200A\\u2028\\u2029\\u202F\\u205F\\u3000\\uFEFF]'
const LEADING_SPACE = new RegExp(`^${WHITE_SPACE}+`, 'u')
const IS_SPACE = new RegExp(`^${WHITE_SPACE}$`, 'u')
export const WHITE_SPACE_RUN = new RegExp(`${WHITE_SPACE}+`, 'gu')

export const isWhiteSpace = (char: string): boolean => IS_SPACE.test(char)

/** Removes white space at both ends. Linear in the length, also for long runs of blanks inside. */
export function trim(text: string): string {
  let end = text.length
  while (end > 0 && IS_SPACE.test(text[end - 1] as string)) end--
  return text.slice(0, end).replace(LEADING_SPACE, '')
}

/** Number of code points. */
export function codePointLength(text: string): number {
  let length = text.length
  for (let i = 0; i < text.length - 1; i++) {
    if ((text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) {
      length--
      i++
    }
  }
  return length
}

/** The UTF-16 offset `count` code points after another one, at most the end. */
export function offsetAfter(text: string, from: number, count: number): number {
  let index = from
  for (let taken = 0; taken < count && index < text.length; taken++)
    index += (text.codePointAt(index) as number) > 0xffff ? 2 : 1
  return Math.min(index, text.length)
}

/** The UTF-16 offset `count` code points before another one, at least 0. */
export function offsetBefore(text: string, from: number, count: number): number {
  let index = from
  for (let taken = 0; taken < count && index > 0; taken++) {
    const unit = text.charCodeAt(index - 1)
    index -= index > 1 && unit >= 0xdc00 && unit <= 0xdfff ? 2 : 1
  }
  return index
}

/** The first `count` code points. */
export const firstCodePoints = (text: string, count: number): string =>
  text.length <= count ? text : text.slice(0, offsetAfter(text, 0, count))

/** Number of UTF-8 bytes. */
export function utf8Length(text: string): number {
  let bytes = 0
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x80) bytes += 1
    else if (unit < 0x800) bytes += 2
    else if ((unit & 0xfc00) === 0xd800) {
      bytes += 4
      i++
    } else bytes += 3
  }
  return bytes
}

/** Compares by code points, the order of UTF-8 bytes. UTF-16 order differs beyond U+FFFF. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) {
      const xSurrogate = x >= 0xd800 && x <= 0xdfff
      const ySurrogate = y >= 0xd800 && y <= 0xdfff
      if (xSurrogate !== ySurrogate) return xSurrogate ? 1 : -1
      return x - y
    }
  }
  return a.length - b.length
}

/** Converts the letters A–Z to lower case and no others, like SQLite's `lower()`. Filters call this "ci". */
export const foldAscii = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())

/** Removes the characters in `ends` from the end of a text. Linear, unlike an expression that ends in `+$`. */
export function withoutTrailing(text: string, ends: string): string {
  let end = text.length
  while (end > 0 && ends.includes(text[end - 1] as string)) end--
  return text.slice(0, end)
}

/** The reason why a string cannot be stored; null when it can (platform contract §6). */
export function unstorable(text: string): string | null {
  if (text.includes('\u0000')) return 'contains the character U+0000'
  if (!text.isWellFormed()) return 'contains a lone surrogate (half of a UTF-16 pair)'
  return null
}

/**
 * Shortens a text for search results (threads contract §4): up to `limit` code points remain unchanged; a longer text
 * is cut before its last space beyond 70 % of the limit, and ends in `...`.
 * @param text the complete text, or at least its first `limit + 1` code points
 */
export function truncate(text: string, limit: number): { text: string; truncated: boolean } {
  const head = firstCodePoints(text, limit)
  if (head.length === text.length) return { text, truncated: false }
  const space = head.lastIndexOf(' ')
  const cut = space >= 0 && codePointLength(head.slice(0, space)) > 0.7 * limit ? head.slice(0, space) : head
  return { text: `${cut}...`, truncated: true }
}

/**
 * Shortens a text to at most `most` code points, cut at the end of a word, with `…` for the rest.
 * @param text the complete text, or at least its first `most + 1` code points
 */
export function cutShort(text: string, most: number): string {
  if (firstCodePoints(text, most).length === text.length) return text
  const head = firstCodePoints(text, most - 1)
  let end = head.length
  while (end > head.length / 2 && !isWhiteSpace(head[end] ?? '')) end--
  return `${(end > head.length / 2 ? head.slice(0, end) : head).trimEnd()}…`
}

/** Hexadecimal SHA-256, in lower case, of a string's UTF-8 bytes, or of bytes. */
export async function sha256Hex(content: string | Uint8Array): Promise<string> {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Compares by code points, the order in which databases sort UTF-8. */
export function compareCodePoints(a: string, b: string): number {
  const place = (unit: number) => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit)
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const difference = place(a.charCodeAt(i)) - place(b.charCodeAt(i))
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

/** 32-bit FNV-1a as eight hexadecimal digits. */
export function hash32(text: string): string {
  let value = 0x811c9dc5
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193)
  return (value >>> 0).toString(16).padStart(8, '0')
}
