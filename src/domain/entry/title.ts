import { codePointLength, firstCodePoints, trim } from '../text'
import type { Entry } from './entry'
import { type Metadata, own } from './metadata'

const MAX_TITLE = 100

/** What an entry is called in a list: its title, else the beginning of its first line that says something. */
export function titleOf({ title, text }: Pick<Entry, 'title' | 'text'>): string {
  const first = trim(text.split(/\r\n|\n|\r/).find((line) => trim(line) !== '') ?? '')
  // A heading is called by its words.
  const name = trim(title ?? '') || first.replace(/^#{1,6}[ \t]+/, '')
  return codePointLength(name) <= MAX_TITLE ? name : `${firstCodePoints(name, MAX_TITLE)}…`
}

/** Other names that are read of an entry, and code points of one: names are short, what is longer says something. */
const MOST_ALIASES = 64
const LONGEST_NAME = 200

/**
 * What else an entry is called: `metadata.aliases`, a list of strings. They are found as its code and the path of its file are, beside its
 * text, and a goal or a query that holds one whole names the entry.
 */
export function aliasesOf(metadata: Metadata | null): readonly string[] {
  const value = own(metadata, 'aliases')
  if (!Array.isArray(value)) return []
  return value
    .filter((alias) => typeof alias === 'string')
    .map((alias) => trim(firstCodePoints(alias, LONGEST_NAME)))
    .filter((alias) => alias !== '')
    .slice(0, MOST_ALIASES)
}
