import { codePointLength, firstCodePoints, trim } from '../text'
import type { Entry } from './entry'

const MAX_TITLE = 100

/** What an entry is called in a list: its title, else the beginning of its first line that says something. */
export function titleOf({ title, text }: Pick<Entry, 'title' | 'text'>): string {
  const first = trim(text.split(/\r\n|\n|\r/).find((line) => trim(line) !== '') ?? '')
  // A heading is called by its words.
  const name = trim(title ?? '') || first.replace(/^#{1,6}[ \t]+/, '')
  return codePointLength(name) <= MAX_TITLE ? name : `${firstCodePoints(name, MAX_TITLE)}…`
}
