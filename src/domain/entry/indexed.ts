import { limitExceeded } from '../errors'
import { jsonText } from '../json/write'
import { codePointLength } from '../text'
import type { Metadata } from './metadata'

/**
 * Maximum length of the JSON of a list or object under an indexed key, because databases limit the width of an index
 * row.
 */
const MAX_INDEXED = 512

/**
 * Checks the size of lists and objects under indexed keys.
 * @param indexed keys of METADATA_INDEXED_FIELDS that are not declared as lists or objects
 * @param name name of the argument, for errors
 * @throws Problem limit_exceeded
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
