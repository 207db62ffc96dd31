import { compareText, trim } from '../text'

/** Tags as stored: trimmed, lower-cased, blanks dropped, unique, sorted by UTF-8 bytes (threads contract §2.3). */
export function normalizeTags(tags: readonly string[]): string[] {
  const unique = new Set(tags.map((tag) => trim(tag).toLowerCase()).filter((tag) => tag !== ''))
  return [...unique].sort(compareText)
}
