import { firstCodePoints, trim } from '../text'
import { type Metadata, own } from './metadata'

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
