import { codePointLength, firstCodePoints, trim } from '../text'
import type { Entry } from './entry'
import { type Metadata, own } from './metadata'

const MAX_TITLE = 100

/** The name of an entry in a list: its title, else the start of its first line that is not blank. */
export function titleOf({ title, text }: Pick<Entry, 'title' | 'text'>): string {
  const first = trim(text.split(/\r\n|\n|\r/).find((line) => trim(line) !== '') ?? '')
  // A heading is shown without its marks.
  const name = trim(title ?? '') || first.replace(/^#{1,6}[ \t]+/, '')
  return codePointLength(name) <= MAX_TITLE ? name : `${firstCodePoints(name, MAX_TITLE)}…`
}

/** Maximum number of aliases, and code points of each. */
const MOST_ALIASES = 64
const LONGEST_NAME = 200

/**
 * Other names of an entry: `metadata.aliases`, a list of strings. They are indexed in addition to the text, and a query
 * that contains one completely names the entry.
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
