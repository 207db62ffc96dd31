import { codePointLength, firstCodePoints, trim } from '../text'
import type { Entry } from './entry'

const MAX_TITLE = 100

/** What an entry is called in a list: its title, else the beginning of its first line that says something. */
export function titleOf({ title, text }: Pick<Entry, 'title' | 'text'>): string {
  const name = trim(title ?? '') || trim(text.split(/\r\n|\n|\r/).find((line) => trim(line) !== '') ?? '')
  return codePointLength(name) <= MAX_TITLE ? name : `${firstCodePoints(name, MAX_TITLE)}…`
}
