import { limitExceeded } from '../errors'
import { jsonText } from '../json/write'
import { codePointLength } from '../text'
import type { Metadata } from './metadata'

/** Characters of JSON that a list or object may have under a key with an index, in which no row may be wider on every database. */
const MAX_INDEXED = 512

/**
 * @param indexed keys of METADATA_INDEXED_FIELDS that are not declared as lists or objects
 * @param name of the argument, for messages
 * @throws Problem limit_exceeded when a list or object under one of them is too large
 */
export function checkIndexed(metadata: Metadata, indexed: ReadonlySet<string>, name = 'metadata'): void {
  for (const [key, value] of Object.entries(metadata)) {
    if (!indexed.has(key) || typeof value !== 'object' || value === null) continue
    const characters = codePointLength(jsonText(value))
    if (characters > MAX_INDEXED)
      throw limitExceeded(
        `${name}.${key} is indexed and too long: a list or object of ${characters} characters as JSON; at most ${MAX_INDEXED} are allowed`,
      )
  }
}
